"""Detect the events of changed spec fields, such as `raised` or `more`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .change import ABSENT, build_json_key, is_equal_json
from .state import has_presence_event

ENTRY_EVENTS = ("more", "less", "entry")
"""Events of one entry of an object or array, instead of the whole value."""


class Event(NamedTuple):
    """A detected event of a field.

    Attributes:
        name: the name of the event in annotations.
        old: the old value, or ABSENT.
        new: the new value, or ABSENT.
        key: the key of the object's entry that changed; ABSENT if the event concerns the
            whole value.
    """

    name: str
    old: Any
    new: Any
    key: Any = ABSENT


def list_declared_events(node: Any, old: Any, new: Any) -> Iterator[Event]:
    """Yield the events of a changed value that the field declares.

    Args:
        node: the field's schema; its annotation `change` declares events by name, and `any`
            declares all events.
        old: the old value, or ABSENT.
        new: the new value, or ABSENT.
    """
    events = node.get("change", {})
    for event in list(_detect_events(node, events, old, new)):
        if event.name in events or "any" in events:
            yield event


def _detect_events(node: Any, events: Any, old: Any, new: Any) -> Iterator[Event]:
    """Yield the events of a changed value.

    The declared events decide how two values are compared: by entry, as a switch between
    named values (`to true`), by order, or as a whole.
    """
    is_added_or_removed = old is ABSENT or new is ABSENT
    presence_event = Event("unset" if new is ABSENT else "set", old, new)
    if is_added_or_removed and has_presence_event(node):
        yield presence_event
    elif any(name in events for name in ENTRY_EVENTS):
        yield from _detect_entry_events(events, old, new)
    elif "unordered" in node and {*map(build_json_key, old)} == {
        *map(build_json_key, new)
    }:
        # The field is marked `unordered`: the same items in another order are equal.
        return
    elif any(
        name.startswith(("to ", "from ")) and "null" not in name for name in events
    ):
        # A field declares either `from VALUE` or `to VALUE` in `change`. The caller ignores
        # the undeclared event.
        yield Event(f"from {_format_event_value(old)}", old, new)
        yield Event(f"to {_format_event_value(new)}", old, new)
    elif is_added_or_removed:
        yield presence_event
    elif "lowered" in events:
        order = node.get("order", "dates")
        # ISO dates sort correctly as strings, so dates are compared as text.
        is_lowered = (
            new < old if order == "dates" else order.index(new) < order.index(old)
        )
        yield Event("lowered" if is_lowered else "raised", old, new)
    else:
        yield Event("other", old, new)


def _detect_entry_events(events: Any, old: Any, new: Any) -> Iterator[Event]:
    """Yield the events of an object's entries, or of an array's items.

    `more` and `less` are added and removed entries, `entry` is an entry with another
    value (only in objects), and `moved` is another order of the common entries. An
    absent value counts as empty.
    """
    # One of the values can be ABSENT: then all entries are added or removed.
    if isinstance(old, dict) or isinstance(new, dict):
        old_entries, new_entries = as_mapping(old), as_mapping(new)
        for key in dict.fromkeys((*new_entries, *old_entries)):
            before, after = old_entries.get(key, ABSENT), new_entries.get(key, ABSENT)
            if before is ABSENT or after is ABSENT:
                name = "more" if before is ABSENT else "less"
                yield Event(name, before, after, key)
            elif "entry" in events and not is_equal_json(before, after):
                yield Event("entry", before, after, key)
        old_order: list[Any] = [key for key in old_entries if key in new_entries]
        new_order: list[Any] = [key for key in new_entries if key in old_entries]
    else:
        old_items = {build_json_key(item): item for item in as_list(old)}
        new_items = {build_json_key(item): item for item in as_list(new)}
        for item_key, item in new_items.items():
            if item_key not in old_items:
                yield Event("more", ABSENT, item)
        for item_key, item in old_items.items():
            if item_key not in new_items:
                yield Event("less", item, ABSENT)
        old_order = [item for key, item in old_items.items() if key in new_items]
        new_order = [item for key, item in new_items.items() if key in old_items]
    if "moved" in events and not is_equal_json(old_order, new_order):
        yield Event("moved", old_order, new_order)


def is_reordered(events: Any, old: Any, new: Any) -> bool:
    """Return whether `moved` is an event and two objects list different keys.

    Keys in another order count as different, and so do added and removed keys.
    """
    return "moved" in events and list(as_mapping(old)) != list(as_mapping(new))


def _format_event_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object; otherwise an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """Return a value if it is an array; otherwise an empty list."""
    return value if isinstance(value, list) else []
