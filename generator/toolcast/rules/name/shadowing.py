"""`name/shadowing`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for other in workspace.toolsets:
        if other.name == toolset.name:
            break
        for tool in other.tools:
            first.setdefault(tool.name, other.name)
    for tool in toolset.tools:
        if tool.name in first:
            yield RULE.at(
                tool,
                ("name",),
                f"the toolset `{first[tool.name]}` has a tool `{tool.name}`, too",
                "an agent that gets both toolsets can call only one of the two",
            )


RULE = Rule(
    id="name/shadowing",
    severity=Severity.NOTE,
    purpose="Checks that no two toolsets of the workspace have a tool of the same name.",
    why=(
        "An agent that is given both has one name for two tools: which of them answers"
        " depends on the order, so one can take over the other's calls. Toolsets that never"
        " meet in one agent may share names."
    ),
    bad="""\
# toolcast.yaml
toolsets: [specs/mail, specs/chat]
# specs/mail/toolset.yaml
# specs/chat/toolset.yaml
# specs/mail/send.yaml
name: send
# specs/chat/send.yaml
name: send
""",
    good="""\
# toolcast.yaml
toolsets: [specs/mail, specs/chat]
# specs/mail/toolset.yaml
# specs/chat/toolset.yaml
# specs/mail/send_mail.yaml
name: send_mail
# specs/chat/send_chat.yaml
name: send_chat
""",
    check=check,
)
