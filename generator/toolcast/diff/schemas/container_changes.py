"""Changes of objects and arrays: properties, what is required, other names, items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from ..change import ABSENT, build_json_key, is_equal_json
from .inclusion import Effort, accept_the_same
from .keyword_changes import keyword_changes, row_of
from .schema_pairs import (
    ITEMS,
    NAMES,
    OTHERS,
    Difference,
    Edit,
    Node,
    Pair,
    Place,
    Step,
    name_words,
    shown,
    subject_words,
    type_words,
)
from .schema_version import SchemaSide
from .value_limits import ValueLimits

_OTHERS = "additionalProperties"
_MAX_NAME_PAIRS = 400
"""Pairs of removed and added properties that are compared to find a renamed one."""
_MAX_STEPS = 1_000
"""Comparison steps for these pairs together."""


def object_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of an object, and the schemas of its values to compare next."""
    yield from _properties(pair)
    yield from _required(pair)
    yield from _pattern_properties(pair)
    yield from _additional(pair)
    yield from _schemas(pair, "propertyNames", place=pair.location + NAMES)
    yield from _dependencies(pair)
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        yield from _schemas(pair, keyword)


def _plain(schema: Any) -> Any:
    """A schema, with one word for those that say nothing."""
    return True if schema == {} or schema is ABSENT else schema


def _schemas(
    pair: Pair, keyword: str, place: str | None = None
) -> Iterator[Difference | Step]:
    """What has changed of a schema in a keyword; those of a place are compared."""
    old, new = map(_plain, pair.values(keyword))
    if is_equal_json(old, new):
        return
    if place is not None and isinstance(old, Mapping) and isinstance(new, Mapping):
        yield pair.inner(keyword, place=place)
        return
    is_set = new is not True and (place is None or old is not False)
    yield pair.difference(
        f"{row_of(keyword)}-{'set' if is_set else 'removed'}", keyword
    )


def _properties(pair: Pair) -> Iterator[Difference | Step]:
    before, after = (node.mapping("properties") for node in pair.nodes)
    for name in after:
        if name in before:
            yield pair.inner("properties", name, place=pair.named(name))
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
    for is_new, names in ((False, gone), (True, come)):
        node, other = pair.nodes[is_new], pair.nodes[not is_new]
        for name in names:
            row = f"property-{'added' if is_new else 'removed'}"
            if name in node.sequence("required"):
                row = f"required-{row}"
            edits = _needed(pair, name)
            if other.get(_OTHERS) is False and node.get(_OTHERS) is not False:
                # What the object is closed for since then is this name, too.
                edits += pair.edits(_OTHERS)
            told = name_words(pair.named(name))
            yield pair.entry(row, "properties", name, *edits, name=told)


def _needed(pair: Pair, *names: str) -> tuple[Edit, ...]:
    """Lets each side require these names as the other does."""
    lists = [node.sequence("required") for node in pair.nodes]
    if all((name in lists[0]) == (name in lists[1]) for name in names):
        return ()
    alone, undone = (
        [name for name in own if name not in names]
        + [name for name in names if name in other]
        for own, other in (lists, lists[::-1])
    )
    paths = [node.at("required") for node in pair.nodes]
    return (Edit(paths[0], alone, paths[1], undone),)


def _renamed(
    pair: Pair, gone: Mapping[str, Any], come: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The names of which one goes and one comes with the same schema, and no others do.

    What it says may be written in another way, and its texts may be worded anew.
    """
    before, after = _by_schema(gone), _by_schema(come)
    equal = [(old, after[key]) for key, old in before.items() if key in after]
    yield from equal
    known = {name for names in equal for name in names}
    olds, news = ([n for n in side if n not in known] for side in (gone, come))
    if len(olds) * len(news) > _MAX_NAME_PAIRS:
        return
    effort = Effort(_MAX_STEPS)
    alike = [
        (old, new)
        for old in olds
        for new in news
        if accept_the_same(pair.sides, (gone[old], come[new]), effort)
    ]
    claims = Counter(name for names in alike for name in names)
    for old, new in alike:
        is_one = claims[old] == claims[new] == 1 and effort.left >= 0
        if is_one and _reads_alike(old, gone[old], new, come[new]):
            yield old, new


def _by_schema(schemas: Mapping[str, Any]) -> dict[Hashable, str]:
    """The names by their schemas, but of those that several have."""
    keys = {name: build_json_key(schema) for name, schema in schemas.items()}
    number = Counter(keys.values())
    return {key: name for name, key in keys.items() if number[key] == 1}


def _reads_alike(old: str, gone: Any, new: str, come: Any) -> bool:
    """Whether descriptions have half of their words in common; without them, the names."""
    texts = [
        str(one.get("description", "")) if isinstance(one, Mapping) else ""
        for one in (gone, come)
    ]
    told = [set(re.findall(r"\w+", text.lower())) for text in texts]
    if not any(told):
        return old in new or new in old
    return 2 * len(told[0] & told[1]) >= max(map(len, told))


def _rename(pair: Pair, old: str, new: str) -> Difference:
    before, after = (node.at("properties") for node in pair.nodes)
    was, now = pair.before.mapping("properties")[old], pair.after.values["properties"]
    edits = (
        Edit((*before, old), ABSENT, (*after, old), was),
        Edit((*before, new), now[new], (*after, new), ABSENT),
        *_needed(pair, old, new),
    )
    words = {
        "old": name_words(pair.named(old)),
        "new": name_words(pair.named(new)),
    }
    return pair.told("property-renamed", (*after, new), (old, new), edits, **words)


def _required(pair: Pair) -> Iterator[Difference]:
    old, new = (node.sequence("required") for node in pair.nodes)
    properties = [node.mapping("properties") for node in pair.nodes]
    # Of what comes or goes as a property is told with it.
    whole = {*properties[0]} ^ {*properties[1]}
    for name in dict.fromkeys((*new, *old)):
        if (name in old) == (name in new) or name in whole:
            continue
        is_new = name in new
        row = "property-required" if is_new else "property-optional"
        path = (
            *pair.nodes[is_new].at("required"),
            (new if is_new else old).index(name),
        )
        values = (ABSENT, name) if is_new else (name, ABSENT)
        told = name_words(pair.named(name))
        yield pair.told(row, path, values, _needed(pair, name), name=told)


def _pattern_properties(pair: Pair) -> Iterator[Difference | Step]:
    keyword = "patternProperties"
    before, after = (node.mapping(keyword) for node in pair.nodes)
    for pattern in dict.fromkeys((*before, *after)):
        if pattern in before and pattern in after:
            yield pair.inner(keyword, pattern, place=pair.location + OTHERS)
        else:
            row = f"pattern-property-{'removed' if pattern in before else 'set'}"
            yield pair.entry(row, keyword, pattern, name=shown(pattern))


def _additional(pair: Pair) -> Iterator[Difference | Step]:
    old, new = pair.values(_OTHERS)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield pair.inner(_OTHERS, place=pair.location + OTHERS)
    elif not is_equal_json(_plain(old), _plain(new)):
        if new is False:
            row = "closed"
        elif old is False:
            row = "opened"
        else:
            row = "removed" if _plain(new) is True else "set"
        yield pair.difference(f"additional-properties-{row}", _OTHERS)


def _dependencies(pair: Pair) -> Iterator[Difference | Step]:
    for word in ("dependencies", "dependentSchemas", "dependentRequired"):
        before, after = (node.mapping(word) for node in pair.nodes)
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name, ABSENT), after.get(name, ABSENT)
            if isinstance(old, Mapping) and isinstance(new, Mapping):
                yield pair.inner(word, name)
            elif not is_equal_json(_plain(old), _plain(new)):
                yield from _dependent(pair, word, name, old, new)


def _dependent(
    pair: Pair, word: str, name: str, old: Any, new: Any
) -> Iterator[Difference]:
    lists = [one if isinstance(one, list) else [] for one in (old, new)]
    subject = name_words(pair.named(name))
    for row, own, other in (("added", *lists[::-1]), ("removed", *lists)):
        names = [name_words(pair.named(one)) for one in own if one not in other]
        if names:
            words = {"name": subject, "names": ", ".join(names)}
            yield pair.entry(f"dependent-required-{row}", word, name, **words)
    for row, schema in (("removed", old), ("added", new)):
        if not isinstance(schema, list) and _plain(schema) is not True:
            yield pair.entry(f"dependent-schema-{row}", word, name, name=subject)


class _Items:
    """The items that a node speaks of, and where."""

    def __init__(self, node: Node, side: SchemaSide) -> None:
        first, rest = side.positions(node.values)
        listed = "items" if isinstance(node.get("items"), list) else "prefixItems"
        self.word = "additionalItems" if listed == "items" else "items"
        self.first = [
            Place(schema, (*node.at(listed), index))
            for index, schema in enumerate(first)
        ]
        self.rest = Place(rest, node.at(self.word))

    def at(self, index: int) -> Place:
        """The schema of one item."""
        return self.first[index] if index < len(self.first) else self.rest


def array_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of an array, and the schemas of its items to compare next."""
    before, after = map(_Items, pair.nodes, pair.sides)
    edits = pair.edits("prefixItems", "items", "additionalItems")
    for index in range(max(len(before.first), len(after.first))):
        old, new, place = before.at(index), after.at(index), f"{pair.location}[{index}]"
        if index < min(len(before.first), len(after.first)):
            yield Step(old, new, place, pair.direction)
            continue
        is_new = index >= len(before.first)
        row = f"prefix-item-{'added' if is_new else 'removed'}"
        values = (ABSENT, new.schema) if is_new else (old.schema, ABSENT)
        path = (new if is_new else old).path
        item = subject_words(place, pair.whole)
        yield pair.told(row, path, values, edits, name=item)
    old, new = before.rest, after.rest
    if isinstance(old.schema, dict) and isinstance(new.schema, dict):
        yield Step(old, new, pair.location + ITEMS, pair.direction)
    elif not is_equal_json(_plain(old.schema), _plain(new.schema)):
        yield _others(pair, before, after, edits)
    yield from _contains(pair)


def _others(
    pair: Pair, before: _Items, after: _Items, edits: tuple[Edit, ...]
) -> Difference:
    """Items of which one side says nothing, or that it refuses."""
    old, new = before.rest.schema, after.rest.schema
    is_tighter = new is False or _plain(old) is True
    asked = pair.sides[is_tighter].conjunction(new if is_tighter else old)
    kinds = type_words(ValueLimits(asked).types)
    item = subject_words(pair.location + ITEMS, pair.whole)
    if new is False:
        text = f"{pair.subject} takes no further items"
    elif old is False:
        text = f"{pair.subject} takes further items, too"
    elif kinds == "anything":
        words = "something" if is_tighter else "less"
        text = f"{pair.subject} asks {words} of its items"
    elif is_tighter:
        text = f"{item} is {kinds} now"
    else:
        text = f"{item} may be something else than {kinds}"
    node, word = pair.before, before.word
    if pair.after.get(after.word) is not ABSENT:
        node, word = pair.after, after.word
    row = "items-set" if is_tighter else "items-removed"
    values = pair.before.get(before.word), pair.after.get(after.word)
    return pair.told(row, node.at(word), values, edits, text=text)


def _contains(pair: Pair) -> Iterator[Difference | Step]:
    keyword = "contains"
    if ABSENT not in pair.values(keyword):
        bounded = any(
            "maxContains" in node.values or node.get("minContains") == 0
            for node in pair.nodes
        )
        turn = 0 if bounded else 1
        yield pair.inner(keyword, place=pair.location + ITEMS, turn=turn)
        return
    edits = pair.edits("contains", "minContains", "maxContains")
    yield from keyword_changes(pair, keyword, edits)
