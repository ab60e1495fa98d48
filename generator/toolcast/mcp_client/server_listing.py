"""Listings of servers: read live, saved in a file or a lock, and how readings differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..parsing.exact_json import JsonError, encode_exact, read_json

KINDS: Mapping[str, tuple[str, str]] = {
    "tools": ("tools/list", "name"),
    "resources": ("resources/list", "uri"),
    "resourceTemplates": ("resources/templates/list", "uriTemplate"),
    "prompts": ("prompts/list", "name"),
}
"""The method and the identifying member of each kind of entry, by the key of its list."""


ContentKey = tuple[str, str]
"""`resource` or `prompt`, and its URI or name."""


class ListingError(Exception):
    """Listing of a server that cannot be read.

    Untrusted text in the message is escaped.
    """


@dataclass(frozen=True, slots=True)
class Variation:
    """A part of a server's listing that differs between two starts of the server.

    Attributes:
        kind: a key of `KINDS`, or `instructions`.
        name: the value of the entry's identifying member; empty for instructions.
        path: the keys of the differing value inside the entry; empty if only one
            reading has the entry. An array of scalars differs as a whole.
    """

    kind: str
    name: str
    path: tuple[str | int, ...] = ()

    def covers(self, kind: str, name: str, path: Sequence[str | int]) -> bool:
        """Return whether a path is the variation's path or below it.

        A variation without a path covers only the presence of its entry, not the values in it.
        """
        if (kind, name) != (self.kind, self.name):
            return False
        is_at_or_below = tuple(path[: len(self.path)]) == self.path
        return is_at_or_below and (bool(self.path) or not path)


@dataclass(frozen=True, slots=True)
class ServerListing:
    """The unmodified lists of a server: tools, resources, templates and prompts.

    Values are as `read_json` returns them: keys in their order, and numbers with
    another spelling than Python's as `SpelledNumber`. Every entry is an object whose
    identifying member (see `KINDS`) is a string. Nothing else is validated: names may
    be duplicate, empty or malicious. All text is untrusted and must be escaped before
    display.

    Attributes:
        source: the file or server in messages, without secrets.
        protocol: the protocol version of the connection; None for a saved list.
        server_info: the server's `serverInfo`, if any.
        capabilities: the server's `capabilities`, if any.
        instructions: the server's `instructions`, if any.
        tools: the entries of all pages, in the server's order.
        resources: the same for resources.
        resource_templates: the same for resource templates.
        prompts: the same for prompts.
        envelopes: per key of `KINDS`, the members of the result besides the list and
            the cursor (`ttlMs`, `_meta`, ...), from the first page.
        notes: escaped sentences on irregularities, such as invalid lines on stdout, a
            declared list that the server rejects, or duplicate keys.
        variations: the differences between two readings that a restart explains; empty
            after one reading.
        second_reading: the second reading, if there was one.
        contents: the content of each resource and prompt as JSON, None for an error; empty if
            contents were not read.
        is_partial: whether the list is one page of several.
    """

    source: str
    protocol: str | None = None
    server_info: Mapping[str, Any] | None = None
    capabilities: Mapping[str, Any] | None = None
    instructions: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    resources: tuple[Mapping[str, Any], ...] = ()
    resource_templates: tuple[Mapping[str, Any], ...] = ()
    prompts: tuple[Mapping[str, Any], ...] = ()
    envelopes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    variations: tuple[Variation, ...] = ()
    second_reading: ServerListing | None = None
    contents: Mapping[ContentKey, str | None] = field(default_factory=dict)
    is_partial: bool = False

    def entries(self, kind: str) -> tuple[Mapping[str, Any], ...]:
        """Return the entries of a kind, such as `tools`; see `KINDS`."""
        if kind == "resourceTemplates":
            return self.resource_templates
        entries: tuple[Mapping[str, Any], ...] = getattr(self, kind)
        return entries


def parse_entries(kind: str, value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the entries of a list unchanged, after checking their types.

    Args:
        kind: a key of `KINDS`.
        value: the JSON value of the list.

    Raises:
        ListingError: the value is not an array of objects with an identifying string.
    """
    key = KINDS[kind][1]
    if not isinstance(value, list):
        raise ListingError(f"`{kind}` is not an array")
    for index, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise ListingError(f"`{kind}[{index}]` is not an object")
        if not isinstance(entry.get(key), str):
            raise ListingError(f"`{kind}[{index}].{key}` is missing or not a string")
    return tuple(value)


def parse_saved_listing(data: bytes, source: str) -> ServerListing:
    """Parse a file with a `tools/list` result, a response that contains one, or its array.

    The result may also have the other lists, `serverInfo`, `capabilities`, `instructions` and
    `protocolVersion`.

    Args:
        data: the content of the file.
        source: the file's name in messages.

    Raises:
        ListingError: the file has no list of tools. The message begins with the location.
    """
    try:
        value, duplicate_keys = read_json(data)
    except JsonError as error:
        location = f"{source}:{error.line}:{error.column}"
        raise ListingError(f"{location}: not JSON: {error}") from None
    try:
        return parse_listing(value, source, format_duplicate_keys(duplicate_keys))
    except ListingError as error:
        raise ListingError(f"{source}: {error}") from None


def format_duplicate_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """Return a tuple with one note that names the first five keys.

    The tuple is empty without duplicate keys.
    """
    from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

    if not keys:
        return ()
    key_texts = ", ".join(f"`{escape_excerpt(key, 60)}`" for key in keys[:5])
    return (f"an object has duplicate keys, whose last value is used: {key_texts}",)


def parse_listing(value: Any, source: str, notes: tuple[str, ...]) -> ServerListing:
    """Return the listing of a JSON value: a result, a response with a result, or an array.

    Args:
        value: the JSON value.
        source: the name of the value's origin in messages.
        notes: notes that the listing begins with.

    Raises:
        ListingError: the value has no list, or an entry has the wrong type.
    """
    from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

    if isinstance(value, list):
        value = {"tools": value}

    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        message = escape_excerpt(str(value["error"].get("message")))
        raise ListingError(f"the response is an error: {message}")
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value = value["result"]
    if not isinstance(value, dict) or not any(kind in value for kind in KINDS):
        raise ListingError(
            "not a `tools/list` result: expected an array of tools, an object with `tools`,"
            " or a response with such a `result`"
        )
    entries = {kind: parse_entries(kind, value.get(kind, [])) for kind in KINDS}
    is_partial = isinstance(value.get("nextCursor"), str)
    if is_partial:
        notes += ("the list is one page of several: it has a `nextCursor`",)
    server_members = {"serverInfo", "capabilities", "instructions", "protocolVersion"}
    envelope = {
        key: member
        for key, member in value.items()
        if key not in {*KINDS, *server_members, "nextCursor"}
    }
    listing = build_listing(source, value, entries, {"tools": envelope}, notes)
    return replace(listing, is_partial=is_partial)


def build_listing(
    source: str,
    members: Mapping[str, Any],
    entries: Mapping[str, tuple[Mapping[str, Any], ...]],
    envelopes: Mapping[str, Mapping[str, Any]],
    notes: tuple[str, ...],
) -> ServerListing:
    """Build a listing from parsed entries and the server's members.

    Args:
        source: the file or server in messages.
        members: an object with `protocolVersion`, `serverInfo`, `capabilities` and
            `instructions`; a member of the wrong type is ignored.
        entries: the entries of every key of `KINDS`.
        envelopes: the listing's envelopes; empty ones are left out.
        notes: the listing's notes.
    """

    def get_member(key: str, type_: type) -> Any:
        value = members.get(key)
        return value if isinstance(value, type_) else None

    return ServerListing(
        source,
        protocol=get_member("protocolVersion", str),
        server_info=get_member("serverInfo", dict),
        capabilities=get_member("capabilities", dict),
        instructions=get_member("instructions", str),
        tools=entries["tools"],
        resources=entries["resources"],
        resource_templates=entries["resourceTemplates"],
        prompts=entries["prompts"],
        envelopes={kind: envelope for kind, envelope in envelopes.items() if envelope},
        notes=notes,
    )


_LOCK_VERSION = 1
_VARIATIONS_KEY = "varies"
LOCK_MARKER = "toolcastLock"
"""Member that distinguishes a lock from other files; its value is the lock's version."""


def build_lock(listing: ServerListing) -> dict[str, Any]:
    """Return the JSON object of a lock file for a listing.

    The server's name and version are left out.
    """
    lock: dict[str, Any] = {LOCK_MARKER: _LOCK_VERSION}
    if listing.instructions is not None:
        lock["instructions"] = listing.instructions
    for kind in KINDS:
        # `tools` is always included: `parse_saved_listing` requires a list.
        if listing.entries(kind) or kind == "tools":
            lock[kind] = list(listing.entries(kind))
    if listing.variations:
        lock[_VARIATIONS_KEY] = [
            {
                "kind": variation.kind,
                "name": variation.name,
                "path": list(variation.path),
            }
            for variation in listing.variations
        ]
    return lock


def parse_lock(data: bytes, source: str) -> ServerListing:
    """Parse a lock into a listing with its variations.

    Args:
        data: the content of the file.
        source: the file's name in messages.

    Raises:
        ListingError: the file is not a lock of this version. The message begins with
            the file.
    """
    listing = parse_saved_listing(data, source)
    lock, _ = read_json(data)
    if not isinstance(lock, dict) or lock.get(LOCK_MARKER) != _LOCK_VERSION:
        raise ListingError(
            f"{source}: not a server lock: `{LOCK_MARKER}` is not {_LOCK_VERSION}"
        )
    variations = tuple(_parse_variations(lock.get(_VARIATIONS_KEY, []), source))
    return replace(listing, variations=variations, envelopes={})


def _parse_variations(value: Any, source: str) -> Iterator[Variation]:
    error = ListingError(
        f"{source}: `{_VARIATIONS_KEY}` is not an array of objects with `kind`, `name` and"
        " `path`"
    )
    if not isinstance(value, list):
        raise error
    for item in value:
        match item:
            case {"kind": str(kind), "name": str(name), "path": list(path)}:
                if not all(isinstance(key, str | int) for key in path):
                    raise error
                yield Variation(kind, name, tuple(path))
            case _:
                raise error


def list_variations(
    first: ServerListing, second: ServerListing
) -> tuple[Variation, ...]:
    """Return the differences between two readings that a restart explains.

    Each difference occurs once; other differences are left out. `explains_difference`
    defines the explained ones.
    """
    # Imported here so that reading a lock does not import the runtime's external servers.
    from toolcast_runtime.external.listing import find_differences

    differences: list[Variation] = []
    for kind, (_, key) in KINDS.items():
        first_entries = _group_by_member(first.entries(kind), key)
        second_entries = _group_by_member(second.entries(kind), key)
        for name in dict.fromkeys([*first_entries, *second_entries]):
            first_group, second_group = first_entries[name], second_entries[name]
            if len(first_group) != len(second_group):
                differences.append(Variation(kind, name))
            # Several entries can have the same name: compare them in their order.
            for entry, other in zip(first_group, second_group, strict=False):
                paths = find_differences(entry, other, encode_exact)
                differences += [Variation(kind, name, path) for path in paths]
    if first.instructions != second.instructions:
        differences.append(Variation("instructions", ""))
    explained = [
        variation
        for variation in differences
        if explains_difference(variation, first, second)
        or explains_difference(variation, second, first)
    ]
    return tuple(dict.fromkeys(explained))


def _group_by_member(
    entries: Sequence[Mapping[str, Any]], key: str
) -> Mapping[str, list[Mapping[str, Any]]]:
    groups = defaultdict(list)
    for entry in entries:
        groups[entry[key]].append(entry)
    return groups


def explains_difference(
    variation: Variation, reviewed: ServerListing, current: ServerListing
) -> bool:
    """Return whether a known variation fully explains the difference at its path.

    This is so if an entry is missing now, or if only dates, times, counts and paths in
    the value differ. Any other difference, and a new entry, is a change that needs a
    review.

    Args:
        variation: the path to compare.
        reviewed: the earlier listing, for example that of a lock.
        current: the new listing.
    """
    reviewed_value = _find_value(variation, reviewed)
    current_value = _find_value(variation, current)
    is_whole_entry = not variation.path and variation.kind in KINDS
    if reviewed_value is None or is_whole_entry:
        return reviewed_value is not None and current_value is None
    return _mask_volatile_text(reviewed_value) == _mask_volatile_text(current_value)


def _find_value(variation: Variation, listing: ServerListing) -> Any:
    """Return the value at a variation's path; None if the listing does not have it.

    For a whole entry, this is the list of all entries with its name.
    """
    if variation.kind == "instructions":
        return listing.instructions
    key = KINDS[variation.kind][1]
    entries = [e for e in listing.entries(variation.kind) if e[key] == variation.name]
    value: Any = entries or None
    if entries and variation.path:
        # If several entries have the same name, the path refers to the first one.
        value = entries[0]
    for step in variation.path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _mask_volatile_text(value: Any) -> str:
    # Imported here so that reading a lock does not import the runtime's external servers.
    from toolcast_runtime.external.volatile_text import mask_volatile_text

    return mask_volatile_text(value if isinstance(value, str) else encode_exact(value))
