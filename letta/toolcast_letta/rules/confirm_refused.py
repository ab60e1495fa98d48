"""`letta/confirm-refused`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from ..config import settings_of
from . import facts_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    client = toolset.client(settings_of(toolset).server.client or "")
    if client is not None and client.approves:
        return
    for tool in toolset.tools:
        if tool.confirm is not None and facts_of(tool).get("attached"):
            yield RULE.at(
                tool,
                ("letta", "attached"),
                f"a person approves `{tool.name}` in Letta, and the server refuses the call",
                "the client that Letta is takes `approves: true`; else `attached: false`",
            )


RULE = Rule(
    id="letta/confirm-refused",
    severity=Severity.WARNING,
    purpose="Checks that what a person approves in Letta is not refused by the server.",
    why=(
        "Letta cannot show a server's question to a person. The server takes its own"
        " approvals for an answer only from a client that is said to ask."
    ),
    bad="""\
confirm: {message: Send it?}
letta: {attached: true}
""",
    good="""\
confirm: {message: Send it?}
letta: {attached: false, reason: Letta cannot show the question.}
""",
    check=check,
)
