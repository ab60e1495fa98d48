"""`handler/ledger-sink`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...handler_code.handler import is_below
from ...model.model import HandlerReference, Toolset, Workspace
from ..rule import Rule
from . import missing_function

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "sink" not in toolset.ledger:
        return
    problem = _problem(toolset, workspace)
    if problem is not None:
        yield RULE.at(toolset, ("ledger", "sink"), *problem)
    elif "path" in toolset.ledger:
        yield RULE.at(
            toolset,
            ("ledger", "path"),
            "records go to `sink`, and nothing is written to `path`",
            "remove one of the two",
        )


def _problem(toolset: Toolset, workspace: Workspace) -> tuple[str, str] | None:
    reference = HandlerReference.parse(toolset.ledger["sink"])
    if toolset.handlers is None:
        package = reference.module.split(".")[0]
        return (
            "the toolset does not say which package its functions come from",
            f"add `handlers: {package}` to toolset.yaml",
        )
    if not is_below(reference.module, toolset.handlers):
        return (
            f"`{reference.module}` is not below `{toolset.handlers}`",
            "the toolset's `handlers` is the only package that specs may name",
        )
    return missing_function(workspace, toolset, reference)


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
