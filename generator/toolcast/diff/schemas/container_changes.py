"""Comparison of the keywords of objects and arrays: properties, required names, items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from ..change import ABSENT, build_json_key, is_equal_json
from .inclusion import StepBudget, accept_same_values
from .keyword_changes import compare_keyword, get_kind_prefix
from .message_text import (
    ADDITIONAL,
    ITEMS,
    NAMES,
    format_name,
    format_subject,
    format_types,
    format_value,
)
from .schema_pairs import (
    Difference,
    Edit,
    PendingPair,
    SchemaLocation,
    SchemaNode,
    SchemaPair,
)
from .schema_version import SchemaVersion
from .value_limits import ALL_TYPES, ValueLimits

_MAX_NAME_PAIRS = 400
"""Pairs of removed and added properties that are compared to find a renamed one."""
_MAX_RENAME_STEPS = 1_000
"""Comparison steps for these pairs together."""


def compare_objects(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    """Yield differences of the keywords of objects, and the pairs of their subschemas."""
    yield from _compare_properties(pair)
    yield from _compare_required(pair)
    yield from _compare_pattern_properties(pair)
    yield from _compare_additional_properties(pair)
    yield from _compare_property_names(pair)
    yield from _compare_dependencies(pair)
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        old, new = map(_normalize, pair.get_values(keyword))
        if not is_equal_json(old, new):
            event = "removed" if new is True else "set"
            kind = f"{get_kind_prefix(keyword)}-{event}"
            yield pair.make_keyword_difference(kind, keyword)


def _normalize(schema: Any) -> Any:
    """Return True for a missing or empty schema, and other schemas unchanged."""
    return True if schema == {} or schema is ABSENT else schema


def _compare_property_names(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    keyword = "propertyNames"
    old, new = map(_normalize, pair.get_values(keyword))
    if is_equal_json(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield pair.build_subpair(keyword, location=pair.location + NAMES)
        return
    is_narrower = new is not True and old is not False
    kind = f"property-names-{'set' if is_narrower else 'removed'}"
    yield pair.make_keyword_difference(kind, keyword)


def _compare_properties(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    before, after = (node.get_object("properties") for node in pair.nodes)
    for name in after:
        if name in before:
            location = pair.get_property_location(name)
            yield pair.build_subpair("properties", name, location=location)
    removed = {name: before[name] for name in before if name not in after}
    added = {name: after[name] for name in after if name not in before}
    # The search must be complete first, because the loop deletes names from its input.
    for old_name, new_name in list(_find_renamed(pair, removed, added)):
        yield _make_rename(pair, old_name, new_name)
        yield PendingPair(
            pair.before.get_subschema("properties", old_name),
            pair.after.get_subschema("properties", new_name),
            pair.get_property_location(new_name),
            pair.direction,
        )
        del removed[old_name], added[new_name]
    for name in removed:
        yield _make_property_difference(pair, name, is_added=False)
    for name in added:
        yield _make_property_difference(pair, name, is_added=True)


def _make_property_difference(
    pair: SchemaPair, name: str, *, is_added: bool
) -> Difference:
    node, other = pair.nodes if not is_added else pair.nodes[::-1]
    kind = f"property-{'added' if is_added else 'removed'}"
    if name in node.get_array("required"):
        kind = f"required-{kind}"
    edits = _build_required_edits(pair, name)
    keyword = "additionalProperties"
    if other.get(keyword) is False and node.get(keyword) is not False:
        # One version has no property of this name and forbids additional ones. Edit that
        # keyword too: otherwise the edited schema accepts the name as an additional one.
        edits += pair.build_edits(keyword)
    label = format_name(pair.get_property_location(name))
    return pair.make_entry_difference(kind, "properties", name, *edits, name=label)


def _build_required_edits(pair: SchemaPair, *names: str) -> tuple[Edit, ...]:
    """Return the edit that makes names required or optional, if their state changed."""
    old, new = (node.get_array("required") for node in pair.nodes)
    if all((name in old) == (name in new) for name in names):
        return ()
    applied = _replace_names(old, new, names)
    reverted = _replace_names(new, old, names)
    before_path, after_path = (node.get_path("required") for node in pair.nodes)
    return (Edit(before_path, applied, after_path, reverted),)


def _replace_names(
    required: list[str], other: list[str], names: tuple[str, ...]
) -> list[str]:
    """Return required names in which some names are required as in another list."""
    unchanged = [name for name in required if name not in names]
    return unchanged + [name for name in names if name in other]


def _find_renamed(
    pair: SchemaPair, removed: Mapping[str, Any], added: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield old and new names of properties that were renamed.

    A property is taken as renamed if exactly one removed and one added property have the
    same schema, or schemas that accept the same values and have similar descriptions.
    """
    removed_by_schema, added_by_schema = map(_index_by_schema, (removed, added))
    equal = [
        (old_name, added_by_schema[key])
        for key, old_name in removed_by_schema.items()
        if key in added_by_schema
    ]
    yield from equal
    matched = {name for names in equal for name in names}
    old_names = [name for name in removed if name not in matched]
    new_names = [name for name in added if name not in matched]
    if len(old_names) * len(new_names) > _MAX_NAME_PAIRS:
        return
    budget = StepBudget(_MAX_RENAME_STEPS)
    candidates = [
        (old_name, new_name)
        for old_name in old_names
        for new_name in new_names
        if accept_same_values(
            pair.versions, (removed[old_name], added[new_name]), budget
        )
    ]
    candidate_counts = Counter(name for names in candidates for name in names)
    for old_name, new_name in candidates:
        is_unique = candidate_counts[old_name] == candidate_counts[new_name] == 1
        # An exceeded budget hides candidates, so the match may not be unique.
        if not is_unique or budget.remaining < 0:
            continue
        if _are_similar(old_name, removed[old_name], new_name, added[new_name]):
            yield old_name, new_name


def _index_by_schema(schemas: Mapping[str, Any]) -> dict[Hashable, str]:
    """Return property names by their schema, without schemas that several names have."""
    keys = {name: build_json_key(schema) for name, schema in schemas.items()}
    counts = Counter(keys.values())
    return {key: name for name, key in keys.items() if counts[key] == 1}


def _are_similar(old_name: str, old: Any, new_name: str, new: Any) -> bool:
    """Return whether two properties are probably one property that was renamed.

    At least half of the words of their descriptions are equal. Without descriptions, one name
    contains the other.
    """
    old_words, new_words = map(_tokenize_description, (old, new))
    if not old_words and not new_words:
        return old_name in new_name or new_name in old_name
    return 2 * len(old_words & new_words) >= max(len(old_words), len(new_words))


def _tokenize_description(schema: Any) -> set[str]:
    description = ""
    if isinstance(schema, Mapping):
        description = str(schema.get("description", ""))
    return set(re.findall(r"\w+", description.lower()))


def _make_rename(pair: SchemaPair, old_name: str, new_name: str) -> Difference:
    before_path, after_path = (node.get_path("properties") for node in pair.nodes)
    old_schema = pair.before.get_object("properties")[old_name]
    new_schema = pair.after.get_object("properties")[new_name]
    edits = (
        Edit((*before_path, old_name), ABSENT, (*after_path, old_name), old_schema),
        Edit((*before_path, new_name), new_schema, (*after_path, new_name), ABSENT),
        *_build_required_edits(pair, old_name, new_name),
    )
    return pair.make_difference(
        "property-renamed",
        (*after_path, new_name),
        (old_name, new_name),
        edits,
        old=format_name(pair.get_property_location(old_name)),
        new=format_name(pair.get_property_location(new_name)),
    )


def _compare_required(pair: SchemaPair) -> Iterator[Difference]:
    old, new = (node.get_array("required") for node in pair.nodes)
    old_names, new_names = (set(node.get_object("properties")) for node in pair.nodes)
    # The difference of an added or removed property already includes `required`.
    added_or_removed = old_names ^ new_names
    for name in dict.fromkeys((*new, *old)):
        if (name in old) == (name in new) or name in added_or_removed:
            continue
        is_required = name in new
        if is_required:
            path = (*pair.after.get_path("required"), new.index(name))
        else:
            path = (*pair.before.get_path("required"), old.index(name))
        yield pair.make_difference(
            "property-required" if is_required else "property-optional",
            path,
            (ABSENT, name) if is_required else (name, ABSENT),
            _build_required_edits(pair, name),
            name=format_name(pair.get_property_location(name)),
        )


def _compare_pattern_properties(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    keyword = "patternProperties"
    before, after = (node.get_object(keyword) for node in pair.nodes)
    for pattern in dict.fromkeys((*before, *after)):
        if pattern in before and pattern in after:
            location = pair.location + ADDITIONAL
            yield pair.build_subpair(keyword, pattern, location=location)
        else:
            kind = f"pattern-property-{'removed' if pattern in before else 'set'}"
            name = format_value(pattern)
            yield pair.make_entry_difference(kind, keyword, pattern, name=name)


def _compare_additional_properties(
    pair: SchemaPair,
) -> Iterator[Difference | PendingPair]:
    keyword = "additionalProperties"
    old, new = pair.get_values(keyword)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield pair.build_subpair(keyword, location=pair.location + ADDITIONAL)
    elif not is_equal_json(_normalize(old), _normalize(new)):
        if new is False:
            event = "closed"
        elif old is False:
            event = "opened"
        else:
            event = "removed" if _normalize(new) is True else "set"
        yield pair.make_keyword_difference(f"additional-properties-{event}", keyword)


def _compare_dependencies(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    # `dependencies` is the form before 2019-09 and can contain both schemas and names.
    for keyword in ("dependencies", "dependentSchemas", "dependentRequired"):
        before, after = (node.get_object(keyword) for node in pair.nodes)
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name, ABSENT), after.get(name, ABSENT)
            if isinstance(old, Mapping) and isinstance(new, Mapping):
                yield pair.build_subpair(keyword, name)
            elif not is_equal_json(_normalize(old), _normalize(new)):
                yield from _compare_dependency(pair, keyword, name, old, new)


def _compare_dependency(
    pair: SchemaPair, keyword: str, name: str, old: Any, new: Any
) -> Iterator[Difference]:
    """Yield differences of one entry of a dependency keyword.

    If the property `name` is present, the entry requires other properties or a schema. The
    differences are added and removed names, and an added or removed schema.
    """
    label = format_name(pair.get_property_location(name))
    old_names, new_names = (
        value if isinstance(value, list) else [] for value in (old, new)
    )
    added = [entailed for entailed in new_names if entailed not in old_names]
    removed = [entailed for entailed in old_names if entailed not in new_names]
    for event, names in (("added", added), ("removed", removed)):
        if names:
            yield pair.make_entry_difference(
                f"dependent-required-{event}",
                keyword,
                name,
                name=label,
                names=", ".join(
                    format_name(pair.get_property_location(entailed))
                    for entailed in names
                ),
            )
    for event, schema in (("removed", old), ("added", new)):
        if not isinstance(schema, list) and _normalize(schema) is not True:
            kind = f"dependent-schema-{event}"
            yield pair.make_entry_difference(kind, keyword, name, name=label)


class _ArrayItems:
    """The item schemas of a node, with their paths.

    Attributes:
        rest_keyword: the keyword of the items without a schema of their own.
        leading: the schemas of the first items, one each.
        rest: the schema of all further items.
    """

    def __init__(self, node: SchemaNode, version: SchemaVersion) -> None:
        leading, rest = version.get_item_schemas(node.keywords)
        # Before 2020-12 an array in `items` had the role of `prefixItems`.
        has_items_array = isinstance(node.get("items"), list)
        leading_keyword = "items" if has_items_array else "prefixItems"
        self.rest_keyword = "additionalItems" if has_items_array else "items"
        self.leading = [
            SchemaLocation(schema, (*node.get_path(leading_keyword), index))
            for index, schema in enumerate(leading)
        ]
        self.rest = SchemaLocation(rest, node.get_path(self.rest_keyword))

    def get_item(self, index: int) -> SchemaLocation:
        """Return the schema of the item at an index."""
        return self.leading[index] if index < len(self.leading) else self.rest


def compare_arrays(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    """Yield differences of the keywords of arrays, and the pairs of their item schemas."""
    before, after = map(_ArrayItems, pair.nodes, pair.versions)
    # The three keywords define the item schemas together, so an edit replaces all of them.
    edits = pair.build_edits("prefixItems", "items", "additionalItems")
    old_count, new_count = len(before.leading), len(after.leading)
    for index in range(max(old_count, new_count)):
        old, new = before.get_item(index), after.get_item(index)
        location = f"{pair.location}[{index}]"
        if index < min(old_count, new_count):
            yield PendingPair(old, new, location, pair.direction)
            continue
        is_added = index >= old_count
        yield pair.make_difference(
            f"prefix-item-{'added' if is_added else 'removed'}",
            (new if is_added else old).path,
            (ABSENT, new.schema) if is_added else (old.schema, ABSENT),
            edits,
            name=format_subject(location, pair.root_label),
        )
    old, new = before.rest, after.rest
    if isinstance(old.schema, dict) and isinstance(new.schema, dict):
        yield PendingPair(old, new, pair.location + ITEMS, pair.direction)
    elif not is_equal_json(_normalize(old.schema), _normalize(new.schema)):
        yield _make_items_difference(pair, before, after, edits)
    yield from _compare_contains(pair)


def _make_items_difference(
    pair: SchemaPair, before: _ArrayItems, after: _ArrayItems, edits: tuple[Edit, ...]
) -> Difference:
    """Return the difference of the schema for further items, after the leading ones.

    At least one of the two schemas is a boolean. The kind is `items-set` if the new
    schema allows fewer items, and otherwise `items-removed`.
    """
    old, new = before.rest.schema, after.rest.schema
    is_narrower = new is False or _normalize(old) is True
    if is_narrower:
        conjunction = pair.after_version.get_conjunction(new)
    else:
        conjunction = pair.before_version.get_conjunction(old)
    types = ValueLimits(conjunction).types
    item = format_subject(pair.location + ITEMS, pair.root_label)
    if new is False:
        text = f"{pair.subject} no longer accepts further items"
    elif old is False:
        text = f"{pair.subject} now accepts further items"
    elif types == ALL_TYPES:
        verb = "now restricts" if is_narrower else "no longer restricts"
        text = f"{pair.subject} {verb} its items"
    elif is_narrower:
        text = f"{item} must now be {format_types(types)}"
    else:
        text = f"{item} no longer has to be {format_types(types)}"
    node, keyword = pair.before, before.rest_keyword
    if pair.after.get(after.rest_keyword) is not ABSENT:
        node, keyword = pair.after, after.rest_keyword
    return pair.make_difference(
        "items-set" if is_narrower else "items-removed",
        node.get_path(keyword),
        (pair.before.get(before.rest_keyword), pair.after.get(after.rest_keyword)),
        edits,
        text=text,
    )


def _compare_contains(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    keyword = "contains"
    if ABSENT not in pair.get_values(keyword):
        # If the number of matching items is limited, a wider `contains` can reject arrays.
        is_limited = any("maxContains" in node.keywords for node in pair.nodes)
        yield pair.build_subpair(
            keyword, location=pair.location + ITEMS, factor=0 if is_limited else 1
        )
        return
    edits = pair.build_edits("contains", "minContains", "maxContains")
    yield from compare_keyword(pair, keyword, edits)
