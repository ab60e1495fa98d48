"""`spec/deprecated-replacement`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    leaving = {tool.name: tool.deprecated for tool in toolset.tools if tool.deprecated}
    for tool in toolset.tools:
        name = (tool.deprecated or {}).get("replacement")
        if name is None or name == tool.name or name not in leaving:
            continue
        message = f"the replacement `{name}` is deprecated itself"
        further = leaving[name].get("replacement")
        named = further is not None and further not in (name, tool.name)
        help_ = f"name `{further}`" if named else "name a tool that stays"
        path = ("deprecated", "replacement")
        yield RULE.at(tool, path, message, help_)


RULE = Rule(
    id="spec/deprecated-replacement",
    severity=Severity.WARNING,
    purpose="Checks that no deprecated tool is replaced by another deprecated one.",
    why="Who follows the advice has to move twice, or in a circle.",
    bad="""\
deprecated: {since: "2030-06-01", replacement: save_note}
# save_note.yaml
summary: Saves a note.
deprecated: {since: "2030-07-01", replacement: keep_note}
# keep_note.yaml
summary: Keeps a note.
""",
    good="""\
deprecated: {since: "2030-06-01", replacement: keep_note}
# save_note.yaml
summary: Saves a note.
deprecated: {since: "2030-07-01", replacement: keep_note}
# keep_note.yaml
summary: Keeps a note.
""",
    check=check,
)
