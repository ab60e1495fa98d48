"""`expose/mcp-client`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...model.spec_schema import did_you_mean, quoted_list
from ..rule import Rule, at_toolset

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds a target without a client, or with one that does not exist."""
    if "mcp" not in toolset.targets:
        return
    names = [client.name for client in toolset.clients]
    chosen = toolset.targets["mcp"].get("client")
    if chosen is None and names:
        yield at_toolset(
            RULE,
            toolset,
            ("targets", "mcp"),
            "the toolset has clients, and `mcp` does not say which one it serves",
            f"add `client:`, one of {quoted_list(names)}",
        )
    elif chosen is not None and chosen not in names:
        yield at_toolset(
            RULE,
            toolset,
            ("targets", "mcp", "client"),
            f"the toolset has no client `{chosen}`",
            did_you_mean(str(chosen), names) or "add it to `clients`",
        )


RULE = Rule(
    id="expose/mcp-client",
    severity=Severity.ERROR,
    purpose="Checks that it is said which client stdio and the default HTTP path serve.",
    why="Access is closed by default: without a client the server's list is empty.",
    bad="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {mcp: {}}
# note.yaml
cli: {keyword: note}
""",
    good="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {mcp: {client: internal}}
# note.yaml
cli: {keyword: note}
""",
    check=check,
)
