"""A schema as a provider takes it, and what its adapter takes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..loss import Loss

__all__ = ["RenderedSchema", "Undo"]


class Undo(NamedTuple):
    """What the adapter takes back in the values of a rendered object.

    Attributes:
        absent: the properties, by the provider's names, whose null means that they are absent.
        names: the spec's names of properties by the provider's, where they differ.
    """

    absent: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}


@dataclass(frozen=True)
class RenderedSchema:
    """A schema as a provider takes it.

    Attributes:
        schema: JSON Schema in the provider's dialect.
        losses: what it does not say any more.
        undo: what the adapter takes back of the values of an object, by the `id` of its
            rendered `properties`, which stand beside it so that no other has that id.
    """

    schema: dict[str, Any]
    losses: tuple[Loss, ...] = ()
    undo: Mapping[int, tuple[Undo, Mapping[str, Any]]] = field(default_factory=dict)

    def undo_of(self, rendered: Mapping[str, Any]) -> Undo:
        """What the adapter takes back of the values of a rendered object."""
        found = self.undo.get(id(rendered.get("properties")))
        return Undo() if found is None else found[0]
