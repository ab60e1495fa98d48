"""What decides whether a rule must run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["Scope"]

Fields = frozenset[str] | None


class Scope(NamedTuple):
    """What the findings of a rule depend on, which is known without loading the rule.

    Attributes:
        rule: its id.
        each_tool: see `Rule`.
        across: the fields of other tools, and of each when it is not `each_tool`; None for
            all of them.
        looks_at: the fields of the tool itself; None for all of them.
        reads_code: see `Rule`.
    """

    rule: str
    each_tool: bool
    across: Fields
    looks_at: Fields
    reads_code: bool

    def packed(self) -> list[Any]:
        """The scope as JSON."""
        fields = (
            None if f is None else sorted(f) for f in (self.across, self.looks_at)
        )
        return [self.rule, self.each_tool, *fields, self.reads_code]

    @classmethod
    def unpacked(cls, values: Sequence[Any]) -> Scope:
        """The scope of what `packed` gave.

        Raises:
            ValueError: it is something else.
            TypeError: the same.
        """
        rule, each_tool, across, looks_at, reads_code = values
        return cls(
            str(rule),
            bool(each_tool),
            None if across is None else frozenset(across),
            None if looks_at is None else frozenset(looks_at),
            bool(reads_code),
        )
