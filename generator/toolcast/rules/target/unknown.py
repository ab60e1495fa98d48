"""`target/unknown`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...targets.table import target_names
from ...wording import did_you_mean, quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    known = target_names(workspace.extensions)
    own = toolset.targets if "targets" in toolset.fields else ()
    for name in own:
        if name not in known:
            path = ("targets", name)
            yield RULE.at(toolset, path, *_worded(name, known), at_key=True)
    for index, name in enumerate(workspace.targets):
        if name not in known:
            yield workspace.source.finding(
                RULE.id, RULE.severity, ("targets", index), *_worded(name, known)
            )


def _worded(name: str, known: list[str]) -> tuple[str, str]:
    meant = did_you_mean(name, known) or f"the targets are {quoted_list(known)}"
    return f"there is no target `{name}`", meant


RULE = Rule(
    id="target/unknown",
    severity=Severity.ERROR,
    purpose="Checks that every target that is asked for exists.",
    why="A misspelled target is an output that nobody gets, and nobody misses it at once.",
    bad="""\
# toolset.yaml
targets: {mcpp: {}}
""",
    good="""\
# toolset.yaml
targets: {mcp: {}}
""",
    check=check,
)
