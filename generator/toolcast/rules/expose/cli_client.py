"""`expose/cli-client`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...model.spec_schema import did_you_mean, quoted_list
from ..rule import Rule, at_toolset

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds a target without a client, or with one that does not exist."""
    if "cli" not in toolset.targets:
        return
    names = [client.name for client in toolset.clients]
    chosen = toolset.targets["cli"].get("client")
    if chosen is None and names:
        yield at_toolset(
            RULE,
            toolset,
            ("targets", "cli"),
            "the toolset has clients, and `cli` does not say which one it serves",
            f"add `client:`, one of {quoted_list(names)}",
        )
    elif chosen is not None and chosen not in names:
        yield at_toolset(
            RULE,
            toolset,
            ("targets", "cli", "client"),
            f"the toolset has no client `{chosen}`",
            did_you_mean(str(chosen), names) or "add it to `clients`",
        )


RULE = Rule(
    id="expose/cli-client",
    severity=Severity.ERROR,
    purpose="Checks that it is said which client the command line acts as.",
    why="Access is closed by default: without a client the command line may call nothing.",
    bad="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {cli: {}}
# note.yaml
cli: {keyword: note}
""",
    good="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {cli: {client: internal}}
# note.yaml
cli: {keyword: note}
""",
    check=check,
)
