"""`expose/tool-count`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_kinds import Limited, callers, crossed, limits_of
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for client in callers(toolset):
        count = sum(
            client is None or toolset.is_offered(tool, client) for tool in toolset.tools
        )
        for limit in crossed(limits_of(toolset, client, Limited.TOOLS), 0, count):
            own = client is not None and client.kind is not None
            yield RULE.at(
                toolset,
                (
                    ("clients", client.name, "kind")
                    if client and own
                    else ("client_kind",)
                ),
                f"{f'`{client.name}`' if client else 'the caller'} has {count} tools;"
                f" {limit.client} takes {limit.most} in a request"
                f" ({limit.source})",
                "offer it fewer: `allow`, `restrict`, or a toolset of their own",
            )


RULE = Rule(
    id="expose/tool-count",
    severity=Severity.WARNING,
    purpose="Checks that no client has more tools than its program or provider takes.",
    why=(
        "Tools beyond the limit are left out, or the request is refused. Which limit counts"
        " says `kind` of a client."
    ),
    bad="",
    good="""\
# toolset.yaml
client_kind: vscode
""",
    check=check,
)
