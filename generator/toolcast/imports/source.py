"""A list of tools that is imported, in one form whatever it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..servers.server_listing import ServerListing

__all__ = ["MEMBERS", "Source", "source_of_server"]

MEMBERS: Mapping[str, str] = {
    "title": "title",
    "description": "description",
    "inputSchema": "parameters",
    "outputSchema": "returns",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
    "execution": "execution",
}
"""The members of an MCP tool beside its name, and the fields of specs that say them."""


@dataclass(frozen=True, slots=True)
class Source:
    """A list of tools.

    Attributes:
        name: as the person gave it.
        forms: what it is written in, as messages say it: `OpenAI's chat form`.
        listing: its tools, as MCP lists them.
        cannot_say: members of an MCP tool that the form of a tool has no place for, by the
            tool's name. That they are absent says nothing.
        fields: what the form says of a tool that MCP does not, by the tool's name: fields
            of a spec.
        notes: what is not taken, a line each, escaped; the listing has notes of its own.
    """

    name: str
    forms: tuple[str, ...]
    listing: ServerListing
    cannot_say: Mapping[str, frozenset[str]] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def tool(self, name: str) -> Mapping[str, Any] | None:
        """A tool as MCP lists it."""
        return next((t for t in self.listing.tools if t["name"] == name), None)

    def can_say(self, name: str, member: str) -> bool:
        """Whether the form of a tool has a place for a member of an MCP tool."""
        return member not in self.cannot_say.get(name, frozenset())


def source_of_server(listing: ServerListing) -> Source:
    """The source of what a live server lists; raises nothing, and changes nothing."""
    return Source(listing.source, ("MCP's form",), listing)
