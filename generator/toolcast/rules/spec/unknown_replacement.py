"""`spec/unknown-replacement`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds replacements that nobody can call.

    One may be a tool of another toolset, or of an external server.
    """
    former = {old: tool.name for tool in toolset.tools for old in tool.renamed_from}
    known = {tool.name for one in workspace.toolsets for tool in one.tools}
    for tool in toolset.tools:
        name = (tool.deprecated or {}).get("replacement")
        if name is None:
            continue
        if name == tool.name:
            message, help_ = (
                f"`{name}` is to be replaced by itself",
                "name another tool",
            )
        elif name in known or any(s.is_named(name) for s in toolset.mcp_servers):
            continue
        elif name in former:
            message = f"the replacement `{name}` has another name now"
            help_ = f"it is called `{former[name]}`"
        else:
            message = f"there is no tool `{name}`, the replacement"
            help_ = did_you_mean(name, sorted(known - {tool.name}))
        yield RULE.at(tool, ("deprecated", "replacement"), message, help_)


RULE = Rule(
    id="spec/unknown-replacement",
    severity=Severity.ERROR,
    purpose="Checks that the replacement of a deprecated tool is a tool.",
    why="Who follows the advice, a person or a model, calls a tool that is not there.",
    bad="""\
deprecated: {since: "2030-06-01", replacement: store_note}
# save_note.yaml
summary: Saves a note.
""",
    good="""\
deprecated: {since: "2030-06-01", replacement: save_note}
# save_note.yaml
summary: Saves a note.
""",
    check=check,
)
