"""`prompt/usage-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

_DECISION = "`when_to_use: {text: null, reason: ...}`"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "prompts" not in toolset.targets:
        return
    for tool in toolset.tools_in("prompts"):
        texts = (tool.when_to_use, tool.guidance)
        if any(text and text.strip() for text in texts) or tool.no_usage_reason:
            continue
        is_null = "when_to_use" in tool.fields and tool.when_to_use is None
        yield RULE.at(
            tool,
            ("when_to_use",) if is_null else (),
            (
                "`when_to_use` is null, and no reason is given"
                if is_null
                else f"the prompt docs say nowhere when to use `{tool.name}`"
            ),
            f"write `when_to_use` or `guidance`, or decide against it: {_DECISION}",
        )


RULE = Rule(
    id="prompt/usage-missing",
    severity=Severity.WARNING,
    purpose="Checks that the prompt docs say when or how to use each of their tools.",
    why=(
        "Agents once had a tool that reached the user, and no word about its use. They saw"
        " it and did not call it, and nobody noticed for weeks."
    ),
    bad="""\
# list_peers.yaml
summary: List the workspaces that can be reached.
# toolset.yaml
targets: {registry: {}, prompts: {}}
""",
    good="""\
# list_peers.yaml
summary: List the workspaces that can be reached.
when_to_use: Before the first delegation, to choose whom to ask.
# toolset.yaml
targets: {registry: {}, prompts: {}}
""",
    check=check,
)
