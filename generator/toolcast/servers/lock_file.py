"""The lock of an external server: what it lists, as somebody has reviewed it.

A file of JSON, which keeps every value exactly, with a member a line: a `tools/list`
result with the other lists beside it, so that what reads saved answers reads a lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..reading.exact_json import read_json
from .server_listing import KINDS, ListingError, ServerListing, Variation, saved_listing

__all__ = ["MARK", "lock_members", "locked_listing"]

_VERSION = 1
_VARIES = "varies"
MARK = "toolcastLock"
"""The member that tells a lock from other files."""


def lock_members(listing: ServerListing) -> dict[str, Any]:
    """What the lock of a listing holds. Versions of the server are none of it."""
    found: dict[str, Any] = {MARK: _VERSION}
    if listing.instructions is not None:
        found["instructions"] = listing.instructions
    for kind in KINDS:
        if listing.entries(kind) or kind == "tools":
            found[kind] = list(listing.entries(kind))
    if listing.varying:
        found[_VARIES] = [
            {"kind": one.kind, "name": one.name, "path": list(one.path)}
            for one in listing.varying
        ]
    return found


def locked_listing(data: bytes, source: str) -> ServerListing:
    """The listing that a lock holds, with what is known to vary.

    Raises:
        ListingError: it is no lock. The text begins with the file.
    """
    listing = saved_listing(data, source)
    members, _ = read_json(data)
    if not isinstance(members, dict) or members.get(MARK) != _VERSION:
        raise ListingError(
            f"{source}: it is no lock of a server: no `{MARK}: {_VERSION}`"
        )
    varying = tuple(_varying(members.get(_VARIES, []), source))
    return replace(listing, varying=varying, envelopes={})


def _varying(value: Any, source: str) -> Iterator[Variation]:
    problem = ListingError(
        f"{source}: `{_VARIES}` is no list of `kind`, `name` and `path`"
    )
    if not isinstance(value, list):
        raise problem
    for one in value:
        if not isinstance(one, Mapping):
            raise problem
        kind, name, path = one.get("kind"), one.get("name"), one.get("path")
        if not (isinstance(kind, str) and isinstance(name, str)):
            raise problem
        if not isinstance(path, list) or not all(
            isinstance(s, str | int) for s in path
        ):
            raise problem
        yield Variation(kind, name, tuple(path))
