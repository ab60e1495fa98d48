"""`data/unnamed-ledger`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "registry" not in toolset.targets or toolset.ledger:
        return
    recorded = [tool.name for tool in toolset.tools if tool.persistent]
    recorded += [
        f"{server.name} (server)" for server in toolset.mcp_servers if server.persistent
    ]
    what = "calls" if recorded else "questions about calls"
    recorded += [t.name for t in toolset.tools if t.confirm and not t.persistent]
    if recorded:
        yield RULE.at(
            toolset,
            ("name",),
            f"{what} of {', '.join(recorded[:3])}{' and others' * (len(recorded) > 3)}"
            " are recorded in the state folder of the user who runs the toolset",
            "say `ledger: {path: FILE}`, or `ledger: {sink: ...}`",
        )


RULE = Rule(
    id="data/unnamed-ledger",
    severity=Severity.NOTE,
    purpose="Checks that a toolset says where calls of persistent tools are recorded.",
    why=(
        "Arguments and results lay in a home folder where nobody expected them, and were"
        " gone with the container. The default is a file for each place from which a"
        " toolset is run, so a toolset that moves begins a new one."
    ),
    bad="""\
persistent: true
# toolset.yaml
targets: {registry: {}}
""",
    good="""\
persistent: true
# toolset.yaml
ledger: {path: state/ledger.sqlite3}
targets: {registry: {}}
""",
    check=check,
)
