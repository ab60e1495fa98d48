"""The definitions that the tools of a toolset share, and what refers to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from ..json_schema.graph import JsonSchema, Reference
from ..reading.tree import SHARED, Source

__all__ = ["PREFIX", "Definitions", "shared_name"]

PREFIX = f"#/{'/'.join(map(str, SHARED))}/"
"""What a reference to a definition begins with; its name follows."""


def shared_name(reference: str) -> str | None:
    """The definition that the text of a reference names, there or not."""
    pointer = unquote(reference)
    return pointer[len(PREFIX) :].split("/")[0] if pointer.startswith(PREFIX) else None


@dataclass(frozen=True, eq=False)
class Definitions:
    """The definitions of one toolset.

    Attributes:
        schemas: each by its name.
        source: `definitions.yaml`.
    """

    schemas: Mapping[str, dict[str, Any]]
    source: Source

    @cached_property
    def references(self) -> Mapping[str, tuple[Reference, ...]]:
        """The references in each definition; their targets mean nothing there."""
        return {name: JsonSchema(s).references for name, s in self.schemas.items()}

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many values each definition has."""
        return {name: _values(schema) for name, schema in self.schemas.items()}

    def used_by(self, references: Iterable[Reference]) -> list[str]:
        """The names of the definitions that references lead to, in their order."""
        used: set[str] = set()
        waiting = list(references)
        while waiting:
            name = shared_name(waiting.pop().text)
            if name is not None and name in self.schemas and name not in used:
                used.add(name)
                waiting += self.references[name]
        return sorted(used)


def _values(value: Any) -> int:
    number, waiting = 0, [value]
    while waiting:
        here = waiting.pop()
        number += 1
        if isinstance(here, dict):
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
    return number
