"""Changes of objects and arrays: properties, what is required, other names, items."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from ...reading.tree import Path
from ..change import ABSENT
from ..json_equality import key_of, same
from .keyword_changes import difference, keyword_changes, plain
from .normal_forms import normal_form
from .schema_nodes import Difference, Edit, Node, Pair, Place, Step, edit_of
from .schema_side import SchemaSide
from .schema_words import (
    ITEMS,
    NAMES,
    OTHERS,
    name_words,
    shown,
    subject_words,
    type_words,
)
from .value_limits import ValueLimits

__all__ = ["array_changes", "object_changes"]


_OTHERS = "additionalProperties"


def object_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of an object, and the schemas of its values to compare next."""
    yield from _properties(pair)
    yield from _required(pair)
    yield from _pattern_properties(pair)
    yield from _additional(pair)
    yield from _names(pair)
    yield from _dependencies(pair)
    yield from _unevaluated(pair)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _properties(pair: Pair) -> Iterator[Difference | Step]:
    before = _mapping(pair.before.get("properties"))
    after = _mapping(pair.after.get("properties"))
    for name in after:
        if name in before:
            yield Step(
                pair.before.inner("properties", name),
                pair.after.inner("properties", name),
                pair.named(name),
                pair.direction,
            )
    gone = {name: before[name] for name in before if name not in after}
    come = {name: after[name] for name in after if name not in before}
    for old, new in list(_renamed(pair, gone, come)):
        yield _rename(pair, old, new)
        yield Step(
            pair.before.inner("properties", old),
            pair.after.inner("properties", new),
            pair.named(new),
            pair.direction,
        )
        del gone[old], come[new]
    for is_new, schemas in ((False, gone), (True, come)):
        node = pair.after if is_new else pair.before
        needed = _list(node.get("required"))
        for name, schema in schemas.items():
            says = "is new" if is_new else "is removed"
            row = f"property-{'added' if is_new else 'removed'}"
            if name in needed:
                row, says = f"required-{row}", says + ", and required" * is_new
            path = (*node.at("properties"), name)
            values = (ABSENT, schema) if is_new else (schema, ABSENT)
            edits = (_edit(pair, name, *values[::-1]), *_needed(pair, name, is_new))
            other = pair.before if is_new else pair.after
            if other.get(_OTHERS) is False and node.get(_OTHERS) is not False:
                # What the object is closed for since then is this name, too.
                edits += edit_of(pair, _OTHERS)
            text = f"{name_words(pair.named(name))} {says}"
            yield Difference(row, path, *values, text, edits, pair)


def _edit(pair: Pair, name: str, alone: Any, undone: Any) -> Edit:
    before = (*pair.before.at("properties"), name)
    after = (*pair.after.at("properties"), name)
    return Edit(before, alone, after, undone)


def _needed(pair: Pair, name: str, is_new: bool) -> tuple[Edit, ...]:
    """Puts a name into `required` or takes it out, where one of the sides has it there."""
    old = _list(pair.before.get("required"))
    new = _list(pair.after.get("required"))
    if (name in old) == (name in new):
        return ()
    with_, without = (old, new) if is_new else (new, old)
    added, left = [*with_, name], [one for one in without if one != name]
    if is_new:
        edit = Edit(pair.before.at("required"), added, pair.after.at("required"), left)
    else:
        edit = Edit(pair.before.at("required"), left, pair.after.at("required"), added)
    return (edit,)


def _renamed(
    pair: Pair, gone: Mapping[str, Any], come: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The names of which one goes and one comes with the same schema, and no others do.

    What it says may be written in another way, and its texts may be worded anew.
    """
    left = [dict(gone), dict(come)]
    sides = pair.before_side, pair.after_side
    forms: list[Callable[[SchemaSide, Any], Hashable]]
    forms = [lambda _, schema: key_of(schema), normal_form]
    if not sides[0].is_read_like(sides[1]):
        forms.pop()
    for form in forms:
        named: list[dict[Any, list[str]]] = [{}, {}]
        for side, schemas, found in zip(sides, left, named, strict=True):
            for name, schema in schemas.items():
                found.setdefault(form(side, schema), []).append(name)
        for key, names in named[0].items():
            others = named[1].get(key, [])
            if len(names) != 1 or len(others) != 1:
                continue
            old, new = names[0], others[0]
            if form is not normal_form or _reads_alike(old, gone[old], new, come[new]):
                del left[0][old], left[1][new]
                yield old, new


def _reads_alike(old: str, gone: Any, new: str, come: Any) -> bool:
    """Whether descriptions have half of their words in common; without them, the names."""
    told = [
        set(re.findall(r"\w+", str(_mapping(schema).get("description", "")).lower()))
        for schema in (gone, come)
    ]
    if not any(told):
        return old in new or new in old
    return 2 * len(told[0] & told[1]) >= max(map(len, told))


def _rename(pair: Pair, old: str, new: str) -> Difference:
    before = _mapping(pair.before.get("properties"))
    after = _mapping(pair.after.get("properties"))
    edits: tuple[Edit, ...] = (
        _edit(pair, old, ABSENT, before[old]),
        _edit(pair, new, after[new], ABSENT),
    )
    needed = _list(pair.before.get("required"))
    needed_now = _list(pair.after.get("required"))
    if old in needed or new in needed_now:
        alone = [one for one in needed if one != old]
        undone = [one for one in needed_now if one != new]
        alone += [new] if new in needed_now else []
        undone += [old] if old in needed else []
        place = pair.before.at("required"), pair.after.at("required")
        edits += (Edit(place[0], alone, place[1], undone),)
    path = (*pair.after.at("properties"), new)
    text = f"{name_words(pair.named(old))} is called {name_words(pair.named(new))} now"
    return Difference("property-renamed", path, old, new, text, edits, pair)


def _required(pair: Pair) -> Iterator[Difference]:
    old = _list(pair.before.get("required"))
    new = _list(pair.after.get("required"))
    properties = [_mapping(n.get("properties")) for n in (pair.before, pair.after)]
    # Of what comes or goes as a property is told with it.
    whole = {*properties[0]} ^ {*properties[1]}
    for name in dict.fromkeys((*new, *old)):
        if (name in old) == (name in new) or name in whole:
            continue
        is_new = name in new
        row = "property-required" if is_new else "property-optional"
        says = "is required now" if is_new else "may be left out now"
        edits = _needed(pair, name, is_new)
        node = pair.after if is_new else pair.before
        path: Path = node.at("required")
        path = (*path, (new if is_new else old).index(name))
        values = (ABSENT, name) if is_new else (name, ABSENT)
        text = f"{name_words(pair.named(name))} {says}"
        yield Difference(row, path, *values, text, edits, pair)


def _pattern_properties(pair: Pair) -> Iterator[Difference | Step]:
    keyword = "patternProperties"
    before = _mapping(pair.before.get(keyword))
    after = _mapping(pair.after.get(keyword))
    for pattern in dict.fromkeys((*before, *after)):
        place = pair.place + OTHERS
        if pattern in before and pattern in after:
            yield Step(
                pair.before.inner(keyword, pattern),
                pair.after.inner(keyword, pattern),
                place,
                pair.direction,
            )
            continue
        old, new = before.get(pattern, ABSENT), after.get(pattern, ABSENT)
        is_new = old is ABSENT
        row = f"pattern-property-{'set' if is_new else 'removed'}"
        says = "are told of now" if is_new else "are told of no more"
        text = f"names in {pair.subject} that match {shown(pattern)} {says}"
        paths = [(*node.at(keyword), pattern) for node in (pair.before, pair.after)]
        edit = Edit(paths[0], new, paths[1], old)
        yield Difference(row, paths[is_new], old, new, text, (edit,), pair)


def _additional(pair: Pair) -> Iterator[Difference | Step]:
    keyword = _OTHERS
    old = pair.before.values.get(keyword, True)
    new = pair.after.values.get(keyword, True)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield Step(
            pair.before.inner(keyword),
            pair.after.inner(keyword),
            pair.place + OTHERS,
            pair.direction,
        )
    elif not same(plain(old), plain(new)):
        subject = pair.subject
        if new is False:
            row, says = "closed", "takes no other names any more"
        elif old is False:
            row, says = "opened", "takes other names, too"
        elif isinstance(new, Mapping) and new:
            row, says = "set", "asks something of values under other names"
        else:
            row, says = "removed", "asks nothing of values under other names"
        text = f"{subject} {says}"
        yield difference(pair, f"additional-properties-{row}", keyword, text)


def _names(pair: Pair) -> Iterator[Difference | Step]:
    keyword = "propertyNames"
    old, new = plain(pair.before.get(keyword)), plain(pair.after.get(keyword))
    if same(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        place = pair.place + NAMES
        before, after = pair.before.inner(keyword), pair.after.inner(keyword)
        yield Step(before, after, place, pair.direction)
        return
    is_set = new is not True and old is not False
    row = "property-names-set" if is_set else "property-names-removed"
    says = "asks something of names" if is_set else "asks less of names"
    yield difference(pair, row, keyword, f"{pair.subject} {says}")


def _dependencies(pair: Pair) -> Iterator[Difference | Step]:
    for word in ("dependencies", "dependentSchemas", "dependentRequired"):
        before, after = (_mapping(n.get(word)) for n in (pair.before, pair.after))
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name, ABSENT), after.get(name, ABSENT)
            if isinstance(old, Mapping) and isinstance(new, Mapping):
                yield Step(
                    pair.before.inner(word, name),
                    pair.after.inner(word, name),
                    pair.place,
                    pair.direction,
                )
            elif not same(plain(old), plain(new)):
                yield from _dependent(pair, word, name, old, new)


def _dependent(
    pair: Pair, word: str, name: str, old: Any, new: Any
) -> Iterator[Difference]:
    paths = [(*node.at(word), name) for node in (pair.before, pair.after)]
    edits = (Edit(paths[0], new, paths[1], old),)
    more = [one for one in _list(new) if one not in _list(old)]
    less = [one for one in _list(old) if one not in _list(new)]
    told = [
        (row, f"asks for {', '.join(name_words(pair.named(n)) for n in names)} {says}")
        for row, names, says in (
            ("dependent-required-added", more, "now"),
            ("dependent-required-removed", less, "no more"),
        )
        if names
    ]
    told += [
        (row, f"asks for more by a schema of its own {says}")
        for row, schema, says in (
            ("dependent-schema-removed", old, "no more"),
            ("dependent-schema-added", new, "now"),
        )
        if not isinstance(schema, list) and plain(schema) is not True
    ]
    for row, says in told:
        text = f"{name_words(pair.named(name))} {says}"
        yield Difference(row, paths[new is not ABSENT], old, new, text, edits, pair)


def _unevaluated(pair: Pair) -> Iterator[Difference]:
    for keyword, name, what in (
        ("unevaluatedProperties", "unevaluated-properties", "names"),
        ("unevaluatedItems", "unevaluated-items", "items"),
    ):
        old, new = plain(pair.before.get(keyword)), plain(pair.after.get(keyword))
        if same(old, new):
            continue
        is_set = new is not True
        row = f"{name}-{'set' if is_set else 'removed'}"
        says = "asks something of" if is_set else "asks nothing of"
        text = f"{pair.subject} {says} {what} that nothing else looks at"
        yield difference(pair, row, keyword, text, edit_of(pair, keyword))


_ITEMS = ("prefixItems", "items", "additionalItems")


class _Items:
    """The items that a node speaks of, and where."""

    def __init__(self, node: Node, side: SchemaSide) -> None:
        first, rest = side.positions(node.values)
        listed = "items" if isinstance(node.get("items"), list) else "prefixItems"
        others = "additionalItems" if listed == "items" else "items"
        self.first = [
            Place(schema, (*node.at(listed), index))
            for index, schema in enumerate(first)
        ]
        self.rest = Place(rest, node.at(others))
        self.word = others

    def at(self, index: int) -> Place:
        """The schema of one item."""
        return self.first[index] if index < len(self.first) else self.rest


def array_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of an array, and the schemas of its items to compare next."""
    before = _Items(pair.before, pair.before_side)
    after = _Items(pair.after, pair.after_side)
    edits = edit_of(pair, *_ITEMS)
    for index in range(max(len(before.first), len(after.first))):
        old, new = before.at(index), after.at(index)
        if index < min(len(before.first), len(after.first)):
            yield Step(old, new, f"{pair.place}[{index}]", pair.direction)
            continue
        is_new = index >= len(before.first)
        row = f"prefix-item-{'added' if is_new else 'removed'}"
        says = "has a schema of its own now" if is_new else "is like all others now"
        text = f"{subject_words(f'{pair.place}[{index}]', pair.whole)} {says}"
        values = (ABSENT, new.schema) if is_new else (old.schema, ABSENT)
        path = (new if is_new else old).path
        yield Difference(row, path, *values, text, edits, pair)
    old, new = before.rest, after.rest
    if isinstance(old.schema, dict) and isinstance(new.schema, dict):
        yield Step(old, new, pair.place + ITEMS, pair.direction)
    elif not same(plain(old.schema), plain(new.schema)):
        yield _others(pair, before, after, edits)
    yield from _contains(pair)


def _others(
    pair: Pair, before: _Items, after: _Items, edits: tuple[Edit, ...]
) -> Difference:
    """Items of which one side says nothing, or that it refuses."""
    old, new = before.rest.schema, after.rest.schema
    is_tighter = new is False or plain(old) is True
    side, asked = (pair.after_side, new) if is_tighter else (pair.before_side, old)
    kinds = type_words(ValueLimits(side.conjunction(asked)).types)
    item = subject_words(pair.place + ITEMS, pair.whole)
    if new is False or old is False:
        text = f"{pair.subject} takes {'no ' * (new is False)}further items"
        text += ", too" if old is False else ""
    elif kinds == "anything":
        text = (
            f"{pair.subject} asks {'something' if is_tighter else 'less'} of its items"
        )
    elif is_tighter:
        text = f"{item} is {kinds} now"
    else:
        text = f"{item} may be something else than {kinds}"
    node, word = pair.before, before.word
    if pair.after.get(after.word) is not ABSENT:
        node, word = pair.after, after.word
    return Difference(
        "items-set" if is_tighter else "items-removed",
        node.at(word),
        pair.before.get(before.word),
        pair.after.get(after.word),
        text,
        edits,
        pair,
    )


def _contains(pair: Pair) -> Iterator[Difference | Step]:
    keyword = "contains"
    old, new = pair.before.get(keyword), pair.after.get(keyword)
    if old is ABSENT and new is ABSENT:
        return
    if old is not ABSENT and new is not ABSENT:
        bounded = any(
            "maxContains" in node.values or node.get("minContains") == 0
            for node in (pair.before, pair.after)
        )
        yield Step(
            pair.before.inner(keyword),
            pair.after.inner(keyword),
            pair.place + ITEMS,
            0 if bounded else pair.direction,
        )
        return
    edits = edit_of(pair, "contains", "minContains", "maxContains")
    yield from keyword_changes(pair, keyword, edits)
