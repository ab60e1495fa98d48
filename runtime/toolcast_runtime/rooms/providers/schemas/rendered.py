"""A schema as a provider takes it, and what its adapter takes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..loss import Loss


@dataclass(frozen=True)
class RenderedSchema:
    """A schema as a provider takes it.

    Attributes:
        schema: JSON Schema in the provider's dialect.
        losses: what it does not say any more.
        absent: the properties whose null means that they are absent, by the `id` of the
            rendered `properties` of an object, which stand beside them so that no other has
            that id.
        names: the provider's names of properties by the spec's, where they differ.
    """

    schema: dict[str, Any]
    losses: tuple[Loss, ...] = ()
    absent: Mapping[int, tuple[frozenset[str], Mapping[str, Any]]] = field(
        default_factory=dict
    )
    names: Mapping[str, str] = field(default_factory=dict)

    def absent_of(self, rendered: Mapping[str, Any]) -> frozenset[str]:
        """The properties of a rendered object whose null means that they are absent."""
        found = self.absent.get(id(rendered.get("properties")))
        return frozenset() if found is None else found[0]
