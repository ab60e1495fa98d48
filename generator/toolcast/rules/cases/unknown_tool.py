"""`cases/unknown-tool`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ...selection.trial import DeclaredCase, cases_of
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds names in cases that are no tool's, of external servers neither."""
    known = sorted(tool.name for tool in toolset.tools)
    former = {old: tool.name for tool in toolset.tools for old in tool.renamed_from}
    for declared in cases_of(toolset):
        for path, name in _named(declared):
            if name in known or any(s.is_named(name) for s in toolset.listed_servers):
                continue
            if name in former:
                help_ = f"it is called `{former[name]}`"
            else:
                help_ = did_you_mean(name, known)
            message = f"there is no tool `{name}`"
            yield RULE.at(declared.owner, path, message, help_)


def _named(declared: DeclaredCase) -> Iterator[tuple[Path, str]]:
    case = declared.case
    if case.tool is not None and isinstance(declared.owner, Toolset):
        yield (*declared.path, "tool"), case.tool
    for index, name in enumerate(case.never):
        yield (*declared.path, "never", index), name


RULE = Rule(
    id="cases/unknown-tool",
    severity=Severity.ERROR,
    purpose="Checks that the tools that selection cases name are tools of the toolset.",
    why="A case about a tool that is not there passes, or fails, whatever the specs say.",
    bad="""\
cases: [{message: Remember the milk., never: [delete_note]}]
""",
    good="""\
cases: [{message: Remember the milk., never: [remove_note]}]
# remove_note.yaml
summary: Removes a note.
""",
    check=check,
)
