"""One walk over two states of a file of specs: what has happened to each field.

The annotations of the spec language say what can happen to a field, and what that means. What
comes or goes as a whole is told once, and nothing of what is in it. A default that another
file gives is told where it changed: here only where a line of this file did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS

from ..model.model import Toolset
from ..parsing.tree import Path
from ..spec_language.spec_language import parts
from .change import (
    ABSENT,
    HIDDEN,
    Change,
    Grade,
    Grades,
    build_json_key,
    format_value,
    get_key,
    is_equal_json,
    locate_path,
)
from .state import FilePair, is_reported_as_whole
from .table import (
    ValueText,
    build_rule_id,
    get_field_label,
    load_spec_schema,
    load_table_rules,
)

_WORDS = {
    "set": "{what} {is_} {new}; {it_was} not set",
    "unset": "{what} {is_} no longer set; {it_was} {old}",
    "more": "{new} is added to {what}",
    "less": "{old} is removed from {what}",
    "entry": "in {what}, {key} is {new} instead of {old}",
    "moved": "the order of {what} is changed",
    "to null": "{what} is null in the MCP definition",
    "from null": "{what} is no longer null in the MCP definition",
}
_OTHER = "{what} {is_} {new} instead of {old}"
_FIELD = "extension/field"


class _Event(NamedTuple):
    """What happened to a value.

    Attributes:
        name: as annotations call it.
        old: what was there, or ABSENT.
        new: what is there, or ABSENT.
        key: the key of a mapping that it happened to; ABSENT for the value as a whole.
    """

    name: str
    old: Any
    new: Any
    key: Any = ABSENT


class _WalkPosition(NamedTuple):
    """Where the walk is.

    Attributes:
        path: the way in the file.
        way: the same with `*` for each key of a mapping and each item.
        written: what both sides say there.
        keys: the keys that a `*` stands for.
    """

    path: Path
    way: str
    written: tuple[Any, Any]
    keys: tuple[str, ...] = ()

    def below(self, step: str, *, is_key: bool) -> _WalkPosition:
        """One step further."""
        way = "*" if is_key else step
        return _WalkPosition(
            (*self.path, step),
            f"{self.way}.{way}" if self.way else way,
            (get_key(self.written[0], step), get_key(self.written[1], step)),
            (*self.keys, step) if is_key else self.keys,
        )


def compare_fields(pair: FilePair) -> Iterator[Change]:
    """Every change of a file's fields that the annotations tell."""
    yield from _Walk(pair).all()


class _Walk:
    """The walk over one file."""

    def __init__(self, pair: FilePair) -> None:
        self._pair = pair
        self._rows = load_table_rules(pair.extensions)
        self._language = load_spec_schema(pair.kind, pair.extensions)

    def all(self) -> Iterator[Change]:
        """The changes of all fields."""
        old, new = self._pair.states
        at = _WalkPosition((), "", (old.written, new.written))
        yield from self._below(self._language, old.values, new.values, at)

    def _below(
        self, node: Any, old: Any, new: Any, at: _WalkPosition
    ) -> Iterator[Change]:
        """The changes of what is in a value."""
        known = {*node.get("properties", {}), *node.get("keys", {})}
        change = node.get("change", {})
        for name, part in parts(node):
            if "by" in change and not has_change_annotation(part):
                continue
            if name != "*":
                step = at.below(name, is_key=False)
                values = get_key(old, name), get_key(new, name)
                yield from self._field(part, *values, step, (old, new))
                continue
            there = dict.fromkeys((*_mapping(new), *_mapping(old)))
            for key in (key for key in there if key not in known):
                values = get_key(old, key), get_key(new, key)
                # That a key comes or goes is told by the mapping.
                if ABSENT in values and ("more" in change or "by" in change):
                    continue
                step = at.below(key, is_key=True)
                yield from self._field(part, *values, step, (old, new))

    def _field(
        self, node: Any, old: Any, new: Any, at: _WalkPosition, above: tuple[Any, Any]
    ) -> Iterator[Change]:
        change = node.get("change", {})
        yield from self._nulls(node, at)
        if "key" in node:
            yield from self._entries(node, old, new, at)
            return
        is_other = not is_equal_json(old, new) or _is_moved(change, old, new)
        # What a function tells is told by that alone.
        if is_other and "by" not in change and not self._is_silent(node, at, above):
            if not has_change_annotation(node):
                yield self._unsaid(old, new, at)
                return
            for event in _events(node, old, new):
                yield self._told(node, event, at)
        is_told = is_reported_as_whole(node) and (old is ABSENT or new is ABSENT)
        if not is_told and "entry" not in change and "any" not in change:
            yield from self._below(node, old, new, at)

    def _nulls(self, node: Any, at: _WalkPosition) -> Iterator[Change]:
        old, new = at.written
        for name, side, other in (("to null", new, old), ("from null", old, new)):
            if name in node.get("change", {}) and side is None and other is not None:
                yield self._told(node, _Event(name, old, new), at)

    def _is_silent(self, node: Any, at: _WalkPosition, above: tuple[Any, Any]) -> bool:
        """Whether a difference says nothing, or is told at another place."""
        absent = node.get("absent")
        is_inherited = isinstance(absent, dict) and "of" in absent
        if is_inherited and is_equal_json(*at.written):
            return True
        void = node.get("void_if")
        return void is not None and any(get_key(side, void) is True for side in above)

    def _entries(
        self, node: Any, old: Any, new: Any, at: _WalkPosition
    ) -> Iterator[Change]:
        """The changes of a list whose entries are told apart by one of their fields."""
        key = node["key"]
        before, after = _by_key(old, key), _by_key(new, key)
        for index in dict.fromkeys((*after, *before)):
            was, is_ = before.get(index, ABSENT), after.get(index, ABSENT)
            if was is ABSENT or is_ is ABSENT:
                name = "more" if was is ABSENT else "less"
                shown = [one if one is ABSENT else one[key] for one in (was, is_)]
                if name in node.get("change", {}):
                    yield self._told(node, _Event(name, *shown), at)
            elif "entry" in node.get("change", {}):
                if not is_equal_json(was, is_):
                    event = _Event("entry", was, is_, is_[key])
                    yield self._told(node, event, at._replace(written=(was, is_)))
            else:
                yield from self._entry(node, was, is_, at, new.index(is_))

    def _entry(
        self, node: Any, was: Any, is_: Any, at: _WalkPosition, index: int
    ) -> Iterator[Change]:
        """The changes of one entry: its path has no index, which others may change."""
        name = is_[node["key"]]
        inner = _WalkPosition((), f"{at.way}.*", (was, is_), (*at.keys, str(name)))
        for one in self._below(node["items"], was, is_, inner):
            given = {node["key"]: name}
            values = [
                v if v is ABSENT else {**given, str(one.path[-1]): v}
                for v in (one.before, one.after)
            ]
            yield replace(
                one,
                path=(*at.path, *one.path),
                before=given if values[0] is ABSENT else values[0],
                after=given if values[1] is ABSENT else values[1],
                location=locate_path(self._pair.files.after, (*at.path, index)),
                is_in_old_version=False,
            )

    def _unsaid(self, old: Any, new: Any, at: _WalkPosition) -> Change:
        name = format_value(".".join(map(str, at.path)))
        message = f"the extension's field {name} is changed"
        return self._pair.files.build_change(
            self._rows[_FIELD], at.path, message, old, new
        )

    def _told(self, node: Any, event: _Event, at: _WalkPosition) -> Change:
        change = node["change"]
        name = event.name if event.name in change else "any"
        row = change[name] or {}
        path, shown = at.path, at.written
        if event.key is not ABSENT and event.name in ("more", "less", "entry"):
            path = (*path, event.key) if "key" not in node else path
            is_inner = "entry" in change or "any" in change
            shown = event.old, event.new
            if not is_inner:
                shown = tuple(
                    v if v is ABSENT else event.key for v in (event.old, event.new)
                )
        elif event.name in ("more", "less", "moved") or is_equal_json(*shown):
            shown = event.old, event.new
        before, after = self._masked(path, *shown)
        rule = self._rows[build_rule_id(self._pair.kind, at.way, name)]
        grades, reason = None, ""
        concerned = 0
        if "counts" in node and self._pair.toolset is not None:
            concerned = _concerned(node["counts"], self._pair.toolset)
            if not concerned and rule.grades != Grades():
                grades, reason = Grades(), "it applies to none of the tools"
        if "denied_by" in node and not self._was_denied(node["denied_by"], at):
            grades = Grades(*(min(grade, Grade.RISKY) for grade in rule.grades))
            reason = (
                "the old version did not state the contrary"
                if grades != rule.grades
                else ""
            )
        message = self._words(node, event, row, at, concerned)
        if is_equal_json(before, after):
            message += ", which may contain a secret"
        return self._pair.files.build_change(
            rule, path, message, before, after, grades=grades, reason=reason
        )

    def _was_denied(self, contraries: Mapping[str, Any], at: _WalkPosition) -> bool:
        """Whether the old side said one of the contraries beside a field."""
        beside = self._pair.states[0].written
        for step in at.path[:-1]:
            beside = get_key(beside, str(step))
        return any(
            is_equal_json(get_key(beside, one), value)
            for one, value in contraries.items()
        )

    def _words(
        self,
        node: Any,
        event: _Event,
        row: Mapping[str, Any],
        at: _WalkPosition,
        concerned: int,
    ) -> str:
        named = format_value(at.keys[-1]) if at.keys else ""
        own = str(at.path[-1]) if at.path else ""
        what = get_field_label(node, own).format(named)
        old, new = self._masked(at.path, event.old, event.new)
        if event.key is not ABSENT:
            old, new = self._masked((*at.path, event.key), old, new)
            if event.name in ("more", "less"):
                old = new = event.key
        elif event.name in ("to null", "from null"):
            what = format_value(own)
        words = row.get("says", _WORDS.get(event.name, _OTHER))
        is_plural = "plural" in node
        return str(
            words.format(
                named,
                what=what,
                old=ValueText(old),
                new=ValueText(new),
                key=ValueText(event.key),
                concerned=concerned,
                is_="are" if is_plural else "is",
                it_was="they were" if is_plural else "it was",
            )
        )

    def _masked(self, path: Path, old: Any, new: Any) -> tuple[Any, Any]:
        """Both values of a place, without what looks like a secret."""
        sides = zip((old, new), self._pair.states, strict=True)
        one, other = (
            HIDDEN if value is not ABSENT and path in state.secret_paths else value
            for value, state in sides
        )
        return one, other


def _events(node: Any, old: Any, new: Any) -> Iterator[_Event]:
    """What happened to a value, as far as the table has it."""
    change = node.get("change", {})
    there = list(_happened(node, change, old, new))
    yield from (event for event in there if event.name in change or "any" in change)


def _happened(node: Any, change: Any, old: Any, new: Any) -> Iterator[_Event]:
    is_whole_value = old is ABSENT or new is ABSENT
    if is_whole_value and is_reported_as_whole(node):
        yield _Event("unset" if new is ABSENT else "set", old, new)
    elif {"more", "less", "entry"} & change.keys():
        yield from _of_many(change, old, new)
    elif "unordered" in node and {*map(build_json_key, old)} == {
        *map(build_json_key, new)
    }:
        return
    elif any(e.startswith(("to ", "from ")) and "null" not in e for e in change):
        yield _Event(f"from {_word(old)}", old, new)
        yield _Event(f"to {_word(new)}", old, new)
    elif is_whole_value:
        yield _Event("unset" if new is ABSENT else "set", old, new)
    elif "lowered" in change:
        order = node.get("order", "dates")
        one, other = (v if order == "dates" else order.index(v) for v in (old, new))
        yield _Event("lowered" if other < one else "raised", old, new)
    else:
        yield _Event("other", old, new)


def _of_many(change: Any, old: Any, new: Any) -> Iterator[_Event]:
    """What happened to the entries of a mapping, or to the items of a list."""
    if isinstance(old, dict) or isinstance(new, dict):
        before, after = _mapping(old), _mapping(new)
        for key in dict.fromkeys((*after, *before)):
            was, is_ = before.get(key, ABSENT), after.get(key, ABSENT)
            if was is ABSENT or is_ is ABSENT:
                yield _Event("more" if was is ABSENT else "less", was, is_, key)
            elif "entry" in change and not is_equal_json(was, is_):
                yield _Event("entry", was, is_, key)
        orders = [k for k in before if k in after], [k for k in after if k in before]
    else:
        items = [value if isinstance(value, list) else [] for value in (old, new)]
        one, other = ({build_json_key(v): v for v in side} for side in items)
        yield from (_Event("more", ABSENT, other[k]) for k in other if k not in one)
        yield from (_Event("less", one[k], ABSENT) for k in one if k not in other)
        orders = [one[k] for k in one if k in other], [
            other[k] for k in other if k in one
        ]
    if "moved" in change and not is_equal_json(*orders):
        yield _Event("moved", *orders)


def _is_moved(change: Any, old: Any, new: Any) -> bool:
    """Whether the order of a mapping's keys, which says nothing else, is to be told."""
    return "moved" in change and list(_mapping(old)) != list(_mapping(new))


def _by_key(value: Any, key: str) -> dict[Hashable, Any]:
    """The entries of a list by one of their fields, and which one it is of several alike."""
    found: dict[Hashable, Any] = {}
    for entry in value if isinstance(value, list) else ():
        name, number = build_json_key(entry[key]), 0
        while (name, number) in found:
            number += 1
        found[name, number] = entry
    return found


def has_change_annotation(node: Mapping[str, Any]) -> bool:
    """Whether anything says what a change of a field, or of what is in it, means."""
    return "change" in node or any(
        has_change_annotation(part) for _, part in parts(node)
    )


def _concerned(counts: Mapping[str, str], toolset: Toolset) -> int:
    """How many of the things that a toolset speaks for do not speak for themselves."""
    if "by" in counts:
        return _COUNTS[counts["by"]](toolset)
    number, needed = 0, counts.get("of")
    if "tools" in counts:
        trees = [tool.source.tree for tool in toolset.tools]
        number += sum(
            counts["tools"] not in tree and (not needed or needed in tree)
            for tree in trees
        )
    if "mcp_servers" in counts:
        servers = toolset.mcp_servers
        number += sum(counts["mcp_servers"] not in one.fields for one in servers)
    return number


def _tools_with_a_format(toolset: Toolset) -> int:
    own = toolset.tools if toolset.handlers is not None else ()
    return sum(
        any(
            part.get("format") in ASSERTED_FORMATS
            for part in tool.schemas["parameters"].subschemas.values()
        )
        for tool in own
    )


_COUNTS: Mapping[str, Callable[[Toolset], int]] = {
    "tools_with_a_format": _tools_with_a_format
}
"""The functions of `counts: {by: ...}`."""


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
