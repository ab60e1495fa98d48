"""`target/provider-limit`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.provider_lists import provider_lists
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for name, listed in provider_lists(toolset):
        for budget in listed.provider.budgets:
            for what, count in budget.counts(listed.rendered).items():
                if count > budget.most:
                    verb = "takes" if budget.is_refused else "advises"
                    yield RULE.at(
                        toolset,
                        ("targets", "providers", name),
                        f"there are {count:,} {what}; {listed.provider.title} {verb} at"
                        f" most {budget.most:,} ({budget.source})",
                        "split the toolset or its section, or ask for fewer tools at once",
                        at_key=True,
                    )


RULE = Rule(
    id="target/provider-limit",
    severity=Severity.WARNING,
    purpose="Checks that a provider takes all tools of the toolset in one request.",
    why=(
        "Tools of one request share limits: how many there may be, and how large their"
        " strict schemas are together. A namespace that is searched as a whole is to have"
        " fewer than ten functions."
    ),
    bad="",
    good="",
    check=check,
)
