"""`name/unknown-tool`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.texts import prose_of
from ...facts.tool_names import tool_names
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = tool_names(toolset, workspace)
    for owner, path, text in prose_of(toolset):
        for word, help_ in names.unknown_in(text):
            message = f"the text says `{word}`, and there is no such tool"
            yield RULE.at(owner, path, message, help_)


RULE = Rule(
    id="name/unknown-tool",
    severity=Severity.WARNING,
    purpose="Checks that names of tools in texts are those of tools.",
    why=(
        "A tool was removed, and another's text went on telling models to use it. Each of"
        " their calls failed."
    ),
    bad="""\
# desktop_type.yaml
guidance: For single keys use desktop_key.
# toolset.yaml
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    good="""\
# desktop_type.yaml
guidance: For single keys use desktop_press.
# desktop_press.yaml
guidance: One key or chord, as in ctrl+s.
# toolset.yaml
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)
