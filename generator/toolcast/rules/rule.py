"""A rule: data and one function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..findings import Finding, Severity
from ..model.definitions import Definitions
from ..model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.tree import Path

__all__ = ["Check", "Rule", "limit"]

Check = Callable[[Toolset, Workspace], Iterator[Finding]]


class Rule(NamedTuple):
    """One rule.

    Attributes:
        id: `family/kebab-name`.
        severity: an error only where an output would be wrong, unsafe or impossible.
        purpose: one sentence that starts "Checks that".
        why: what goes wrong without it.
        bad: a spec, or the part of one, that it finds.
        good: the same, right.
        check: gives the findings of a toolset; None for what reading itself finds.
        can_be_suppressed: false where nobody may decide that the finding does not matter:
            without it a spec would decide what code runs.
    """

    id: str
    severity: Severity
    purpose: str
    why: str
    bad: str
    good: str
    check: Check | None = None
    can_be_suppressed: bool = True

    def at(
        self,
        owner: ToolSpec | ResourceSpec | PromptSpec | Toolset | Definitions,
        path: Path,
        message: str,
        help: str = "",
        *,
        at_key: bool = False,
    ) -> Finding:
        """A finding at a path of a spec, of `toolset.yaml` or the definitions."""
        return owner.source.finding(
            self.id, self.severity, path, message, help, at_key=at_key
        )


def limit(rule: Rule) -> str:
    """What pages say of a rule behind its severity."""
    return "" if rule.can_be_suppressed else ", cannot be suppressed"
