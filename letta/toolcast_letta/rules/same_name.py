"""`letta/same-name`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import attaches, registered

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not attaches(toolset):
        return
    first: dict[str, str] = {}
    for other in workspace.toolsets:
        if other.name == toolset.name:
            break
        if attaches(other):
            for tool in registered(other):
                first.setdefault(tool.name, other.name)
    for tool in registered(toolset):
        if tool.name in first:
            yield RULE.at(
                tool,
                ("name",),
                f"`{first[tool.name]}` brings a tool `{tool.name}` to Letta, too, and its"
                " registry has one tool a name",
                "rename one of the two; a prefix keeps toolsets apart",
            )


RULE = Rule(
    id="letta/same-name",
    severity=Severity.ERROR,
    purpose="Checks that no two toolsets bring tools of one name to Letta.",
    why=(
        "The second server takes over the first one's tool, with all of its attachments;"
        " deleting the second server deletes the tool from every agent."
    ),
    bad="""\
# toolcast.yaml
toolsets: [specs/mail, specs/chat]
# specs/mail/toolset.yaml
# specs/chat/toolset.yaml
# specs/mail/send.yaml
letta: {attached: true}
# specs/chat/send.yaml
letta: {attached: true}
""",
    good="""\
# toolcast.yaml
toolsets: [specs/mail, specs/chat]
# specs/mail/toolset.yaml
# specs/chat/toolset.yaml
# specs/mail/send_mail.yaml
letta: {attached: true}
# specs/chat/send_chat.yaml
letta: {attached: true}
""",
    check=check,
)
