"""Lists of servers as they were read, saved and locked, and what varies in them by itself."""

from __future__ import annotations

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

from ..parsing.exact_json import JsonError, encode_exact, read_json

KINDS: Mapping[str, tuple[str, str]] = {
    "tools": ("tools/list", "name"),
    "resources": ("resources/list", "uri"),
    "resourceTemplates": ("resources/templates/list", "uriTemplate"),
    "prompts": ("prompts/list", "name"),
}
"""What a server lists: the key of the list, with its method and what names an entry."""


class ListingError(Exception):
    """There is no listing. The text says why, with strangers' words escaped."""


@dataclass(frozen=True, slots=True)
class Variation:
    """Something that a server lists in one way at one start, and in another at the next.

    Attributes:
        kind: a key of `KINDS`, or `instructions`.
        name: of the entry; empty for instructions.
        path: the keys that lead to what varies; empty where the whole entry is there in
            one of the readings only. An array of scalars varies as a whole.
    """

    kind: str
    name: str
    path: tuple[str | int, ...] = ()

    def covers(self, kind: str, name: str, path: Sequence[str | int]) -> bool:
        """Whether a place is this one or below it.

        That an entry is not always there says nothing of what it is: no place in it is
        covered by that.
        """
        same = (kind, name) == (self.kind, self.name)
        below = tuple(path[: len(self.path)]) == self.path
        return same and below and (bool(self.path) or not path)


@dataclass(frozen=True, slots=True)
class ServerListing:
    """What a server lists. Nothing in it is changed, sorted, filled in or left out.

    Every value is JSON as `parsing/exact_json.py` reads it: keys in their order, a number
    that Python spells in another way a `SpelledNumber`. Every entry is an object whose
    naming member (`KINDS`) is text; names may be there twice, empty or hostile, and
    nothing else is checked. Every text is a stranger's: escape it before it is shown.

    Attributes:
        source: what was read, as messages name it; without secrets.
        protocol: the revision that it was read in; None for a saved list.
        server_info: its `serverInfo`, as it came; None where it gives none.
        capabilities: as they came; None for a saved list without them.
        instructions: its text; None where it gives none.
        tools: of all pages, in the server's order.
        resources: the same.
        resource_templates: the same.
        prompts: the same.
        envelopes: what the pages' results hold besides the list and the cursor
            (`ttlMs`, `_meta`, ...), by the key of `KINDS`; of several pages the first.
        notes: what was odd, a sentence each, escaped: noise on stdout, a list that the
            server declares and refuses, keys that an object has twice.
        varying: where a second reading may differ by itself; empty where there was one reading.
        again: the second reading; None where there was one.
        is_partial: it is a page of a list that has more.
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
    varying: tuple[Variation, ...] = ()
    again: ServerListing | None = None
    is_partial: bool = False

    def entries(self, kind: str) -> tuple[Mapping[str, Any], ...]:
        """The entries of a kind, by its key in `KINDS`."""
        if kind == "resourceTemplates":
            return self.resource_templates
        entries: tuple[Mapping[str, Any], ...] = getattr(self, kind)
        return entries


def checked_entries(kind: str, value: Any) -> tuple[Mapping[str, Any], ...]:
    """The entries of a list.

    Raises:
        ListingError: it is no list of objects that have names.
    """
    key = KINDS[kind][1]
    if not isinstance(value, list):
        raise ListingError(f"its `{kind}` are no array")
    for index, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise ListingError(f"`{kind}[{index}]` is no object")
        if not isinstance(entry.get(key), str):
            raise ListingError(f"`{kind}[{index}]` has no text as its `{key}`")
    return tuple(value)


def saved_listing(data: bytes, source: str) -> ServerListing:
    """The listing of a file: a `tools/list` result, a whole response, or the bare array.

    A result may hold the other lists, `serverInfo`, `capabilities`, `instructions` and
    `protocolVersion`, too, as a dump of a server does.

    Args:
        data: the file's bytes.
        source: what messages call it.

    Raises:
        ListingError: it holds no list of tools. The text begins with the place.
    """
    try:
        value, twice = read_json(data)
    except JsonError as problem:
        place = f"{source}:{problem.line}:{problem.column}"
        raise ListingError(f"{place}: no JSON: {problem}") from None
    try:
        return listing_of(value, source, duplicate_notes(twice))
    except ListingError as error:
        raise ListingError(f"{source}: {error}") from None


def duplicate_notes(twice: Sequence[str]) -> tuple[str, ...]:
    """A note on keys that an object has twice."""
    from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

    if not twice:
        return ()
    named = ", ".join(f"`{escape_excerpt(key, 60)}`" for key in twice[:5])
    return (f"an object has a key twice, of which the last counts: {named}",)


def listing_of(value: Any, source: str, notes: tuple[str, ...]) -> ServerListing:
    """The listing of a JSON value: a result, a response that has one, or the bare array.

    Raises:
        ListingError: it is none of them.
    """
    from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

    if isinstance(value, list):
        value = {"tools": value}

    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        words = escape_excerpt(str(value["error"].get("message")))
        raise ListingError(f"the answer is an error: {words}")
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value = value["result"]
    if not isinstance(value, dict) or not any(kind in value for kind in KINDS):
        raise ListingError(
            "no `tools/list` answer: neither a result with `tools`, nor a response with"
            " one, nor an array of tools"
        )
    entries = {kind: checked_entries(kind, value.get(kind, [])) for kind in KINDS}
    is_partial = isinstance(value.get("nextCursor"), str)
    if is_partial:
        notes += ("it is one page of several: it has a `nextCursor`",)
    known = {"serverInfo", "capabilities", "instructions", "protocolVersion"}
    rest = {k: v for k, v in value.items() if k not in {*KINDS, *known, "nextCursor"}}
    listing = told_listing(source, value, entries, {"tools": rest}, notes)
    return replace(listing, is_partial=is_partial)


def told_listing(
    source: str,
    told: Mapping[str, Any],
    entries: Mapping[str, tuple[Mapping[str, Any], ...]],
    envelopes: Mapping[str, Mapping[str, Any]],
    notes: tuple[str, ...],
) -> ServerListing:
    """The listing of lists that were checked, and of what a server says of itself.

    Args:
        told: `protocolVersion`, `serverInfo`, `capabilities` and `instructions`; what is not
            of its type counts as not given.
        entries: the entries of every key of `KINDS`.
        envelopes: as in the listing; empty ones are left out.
    """

    def of(key: str, kind: type) -> Any:
        value = told.get(key)
        return value if isinstance(value, kind) else None

    return ServerListing(
        source,
        protocol=of("protocolVersion", str),
        server_info=of("serverInfo", dict),
        capabilities=of("capabilities", dict),
        instructions=of("instructions", str),
        tools=entries["tools"],
        resources=entries["resources"],
        resource_templates=entries["resourceTemplates"],
        prompts=entries["prompts"],
        envelopes={kind: rest for kind, rest in envelopes.items() if rest},
        notes=notes,
    )


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
        match one:
            case {"kind": str(kind), "name": str(name), "path": list(path)}:
                if all(isinstance(step, str | int) for step in path):
                    yield Variation(kind, name, tuple(path))
                    continue
        raise problem


_DAYS = "|".join(
    word
    for words in (day_name, day_abbr, month_name, month_abbr)
    for word in words
    if word
)
_BY_ITSELF = re.compile(
    r"(?P<path>(?<![\w:/\\.])(?:file://)?(?:[A-Za-z]:)?(?:[/\\~][\w.+-]+)+[/\\]?)"
    r"|(?P<number>(?<![\w@/\\-])\d+(?:[-:.,/T +]?\d+)*"
    r"(?:\ ?(?:ms|s|min|h|%|Z|[ap]m|[AP]M|st|nd|rd|th))?(?![\w@/\\]))"
    rf"|(?P<day>\b(?:{_DAYS})\b)"
)
"""What may be another one at each start: a path, a count, a time, a date."""


def variations(one: ServerListing, other: ServerListing) -> tuple[Variation, ...]:
    """Where two readings differ as a server may by itself, see `explains`; each place once."""
    # Whoever reads a lock alone needs no servers.
    from toolcast_runtime.external.listing import find_differences

    found = []
    for kind, (_, key) in KINDS.items():
        ones, others = (_by_name(each.entries(kind), key) for each in (one, other))
        for name in dict.fromkeys([*ones, *others]):
            if len(ones[name]) != len(others[name]):
                found.append(Variation(kind, name))
            for entry, twin in zip(ones[name], others[name], strict=False):
                paths = find_differences(entry, twin, encode_exact)
                found += [Variation(kind, name, path) for path in paths]
    if one.instructions != other.instructions:
        found.append(Variation("instructions", ""))
    sides = ((one, other), (other, one))
    is_by_itself = (any(explains(each, *side) for side in sides) for each in found)
    return tuple(dict.fromkeys(compress(found, is_by_itself)))


def _by_name(
    entries: Sequence[Mapping[str, Any]], key: str
) -> Mapping[str, list[Mapping[str, Any]]]:
    named = defaultdict(list)
    for entry in entries:
        named[entry[key]].append(entry)
    return named


def explains(variation: Variation, reviewed: ServerListing, now: ServerListing) -> bool:
    """Whether a place that varies is another one now by that alone.

    It is where an entry is left out, and where only dates, times, counts and paths are others.
    Every other word, one more, and a new entry are changes.
    """
    was, is_ = (_value(variation, side) for side in (reviewed, now))
    if was is None or (not variation.path and variation.kind in KINDS):
        return was is not None and is_ is None
    return _constant(was) == _constant(is_)


def _value(variation: Variation, side: ServerListing) -> Any:
    """What a reading has at a place; None for nothing."""
    kind, name, path = variation.kind, variation.name, variation.path
    if kind == "instructions":
        return side.instructions
    key = KINDS[kind][1]
    found: Any = [one for one in side.entries(kind) if one[key] == name] or None
    # An entry that is there twice varies as a whole, or not at all.
    if found is not None and path:
        found = found[0]
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def _constant(value: Any) -> str:
    """A value's text without what may vary by itself."""
    text = value if isinstance(value, str) else encode_exact(value)
    return _BY_ITSELF.sub(lambda found: f"\0{found.lastgroup}", text)
