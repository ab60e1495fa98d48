"""`handler/ledger-sink`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import HandlerReference, Toolset, Workspace
from ..rule import Rule
from . import outside_or_missing

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "sink" not in toolset.ledger:
        return
    sink = HandlerReference.parse(toolset.ledger["sink"])
    problem = outside_or_missing(workspace, toolset, sink)
    if problem is not None:
        yield RULE.at(toolset, ("ledger", "sink"), *problem)
    elif "path" in toolset.ledger:
        yield RULE.at(
            toolset,
            ("ledger", "path"),
            "records go to `sink`, and nothing is written to `path`",
            "remove one of the two",
        )


RULE = Rule(
    id="handler/ledger-sink",
    severity=Severity.ERROR,
    purpose="Checks that a ledger's function is there, below the package of handlers.",
    why=(
        "Calls that cannot be recorded are refused, so a misspelled function would switch"
        " off every persistent tool; one from anywhere would let a spec run any code."
    ),
    bad="""\
persistent: true
# toolset.yaml
handlers: handlers
ledger: {sink: "os:system"}
targets: {registry: {}}
""",
    good="""\
persistent: true
# toolset.yaml
handlers: handlers
ledger: {sink: "handlers.audit:record"}
targets: {registry: {}}
# handlers/audit.py
def record(entry): ...
""",
    check=check,
    can_be_suppressed=False,
)
