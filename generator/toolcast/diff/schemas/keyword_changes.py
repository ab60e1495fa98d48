"""Comparison of keywords without subschemas: annotations, types, enum values, limits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from toolcast_runtime.core.validation.references import REFERENCES

from ...json_schema.dialects import get_dialect
from ..change import ABSENT, build_json_key, is_equal_json
from .message_text import (
    format_bound,
    format_count,
    format_name,
    format_types,
    format_value,
    format_value_pair,
    format_values,
)
from .schema_pairs import Difference, Edit, SchemaNode, SchemaPair
from .schema_rules import KEYWORDS
from .value_limits import ValueLimits, get_allowed_types, get_value_type

_BOOLEAN_KEYWORDS = frozenset(("uniqueItems", "deprecated", "readOnly", "writeOnly"))
_COMPARED_ANNOTATIONS = frozenset(
    (
        "title description default format contentEncoding contentMediaType contentSchema"
        " $comment examples deprecated readOnly writeOnly"
    ).split()
)
_KNOWN_KEYWORDS = frozenset().union(*KEYWORDS.values(), REFERENCES)
_COUNT_KEYWORDS = tuple(
    prefix + counted
    for counted in ("Length", "Items", "Properties", "Contains")
    for prefix in ("min", "max")
)


def get_kind_prefix(keyword: str) -> str:
    """Return the start of the names of a keyword's kinds: `min-length` for `minLength`."""
    return re.sub(r"([A-Z])", r"-\1", keyword.removeprefix("$")).lower()


def compare_keyword(
    pair: SchemaPair, keyword: str, edits: tuple[Edit, ...] | None = None
) -> Iterator[Difference]:
    """Yield the difference between the values of a keyword, if they differ.

    Args:
        pair: the schemas.
        keyword: the keyword.
        edits: the edits that make the change; by default the keyword's value is replaced.
    """
    old, new = pair.get_values(keyword)
    if keyword in _BOOLEAN_KEYWORDS:
        # `false` is the default of these keywords and equals a missing keyword.
        old, new = (True if value is True else ABSENT for value in (old, new))
    if is_equal_json(old, new):
        return
    prefix = (
        get_kind_prefix(keyword) if keyword in _KNOWN_KEYWORDS else "unknown-keyword"
    )
    message_values = {"name": format_name(keyword)}
    if old is not ABSENT and new is not ABSENT:
        message_values["old"], message_values["new"] = format_value_pair(old, new)
    elif old is not ABSENT:
        message_values["old"] = format_value(old)
    else:
        message_values["new"] = format_value(new)
    event = "set" if old is ABSENT else "removed" if new is ABSENT else "changed"
    yield pair.make_keyword_difference(
        f"{prefix}-{event}", keyword, edits, **message_values
    )


def compare_annotations(pair: SchemaPair) -> Iterator[Difference]:
    """Yield differences of annotations, and of keywords that JSON Schema does not define."""
    keywords = dict.fromkeys((*pair.before.keywords, *pair.after.keywords))
    for keyword in keywords:
        if keyword in _COMPARED_ANNOTATIONS or keyword not in _KNOWN_KEYWORDS:
            # Annotations reject no values and need no edits; `format` can be validated.
            edits = None if keyword == "format" else ()
            yield from compare_keyword(pair, keyword, edits)


def compare_value_keywords(pair: SchemaPair) -> Iterator[Difference]:
    """Yield differences of types, enum values, bounds, lengths and counts.

    If one schema is `false`, only that is a difference.
    """
    before, after = pair.nodes
    if before.is_false or after.is_false:
        if before.is_false != after.is_false:
            yield pair.make_difference(
                "value-forbidden" if after.is_false else "value-allowed",
                after.path,
                (before.original, after.original),
                (pair.replacement_edit,),
            )
        return
    yield from _compare_types(pair)
    yield from _compare_enums(pair)
    yield from _compare_bounds(pair)
    yield from _compare_counts(pair)
    for keyword in ("multipleOf", "pattern", "uniqueItems"):
        yield from compare_keyword(pair, keyword)


def _compare_types(pair: SchemaPair) -> Iterator[Difference]:
    old, new = (get_allowed_types(node.keywords) for node in pair.nodes)
    if old == new:
        return
    if new < old:
        kind = "type-narrowed"
    elif old < new:
        kind = "type-widened"
    else:
        kind = "type-changed"
    yield pair.make_keyword_difference(
        kind, "type", new=format_types(new), old=format_types(old)
    )


def _compare_enums(pair: SchemaPair) -> Iterator[Difference]:
    """Yield differences of `enum` and `const`, which are compared as one list of values."""
    old, new = (_get_enum_values(node) for node in pair.nodes)
    if old is not None and new is not None:
        keyword = "enum" if "enum" in pair.after.keywords else "const"
        build_edits = partial(_build_enum_edits, pair)
        yield from compare_value_lists(pair, keyword, old, new, build_edits)
        return
    values = old if new is None else new
    if values is None:
        return
    node = pair.before if new is None else pair.after
    keyword = "const" if "const" in node.keywords else "enum"
    text = format_values(values)
    if len(values) != 1:
        text = f"one of {text}"
    yield pair.make_keyword_difference(
        f"{keyword}-{'removed' if new is None else 'set'}",
        keyword,
        pair.build_edits("enum", "const"),
        old=text,
        new=text,
    )


def compare_value_lists(
    pair: SchemaPair,
    keyword: str,
    old: list[Any],
    new: list[Any],
    build_edits: Callable[[list[Any], list[Any]], tuple[Edit, ...]],
) -> Iterator[Difference]:
    """Yield differences between two lists of allowed values.

    Args:
        pair: the schemas.
        keyword: the keyword that contains the values.
        old: the old values.
        new: the new values.
        build_edits: returns the edits of one change; its arguments are the values that the
            old schema lists after the change, and those that the new one lists without it.
    """
    old_by_key = {build_json_key(value): value for value in old}
    new_by_key = {build_json_key(value): value for value in new}
    removed = [value for key, value in old_by_key.items() if key not in new_by_key]
    added = [value for key, value in new_by_key.items() if key not in old_by_key]
    edits = build_edits(new, old)
    is_single_value = len(old_by_key) == len(new_by_key) == 1
    if is_single_value and removed and "const" in pair.after.keywords:
        texts = dict(
            zip(("old", "new"), format_value_pair(removed[0], added[0]), strict=True)
        )
        yield pair.make_keyword_difference("const-changed", "const", edits, **texts)
        return
    texts = {"old": format_values(removed, "or"), "new": format_values(added, "or")}
    if len(removed) == len(added) == 1:
        texts["old"], texts["new"] = format_value_pair(removed[0], added[0])
    if removed and _are_renamed(removed, added):
        yield pair.make_keyword_difference(
            "enum-value-renamed", keyword, edits, **texts
        )
        return
    if removed:
        common = [value for key, value in old_by_key.items() if key in new_by_key]
        edits = build_edits(common, [*new, *removed])
        yield pair.make_keyword_difference(
            "enum-value-removed", keyword, edits, **texts
        )
    if added:
        common = [value for key, value in new_by_key.items() if key in old_by_key]
        edits = build_edits([*old, *added], common)
        yield pair.make_keyword_difference("enum-value-added", keyword, edits, **texts)


def _are_renamed(removed: list[Any], added: list[Any]) -> bool:
    """Return whether added values are renamed removed ones.

    That is assumed of a single value, and of several that differ only in case and punctuation.
    """
    types = {get_value_type(value) for value in (*removed, *added)}
    if len(removed) != len(added) or len(types) > 1:
        return False
    return len(removed) == 1 or _normalize_values(removed) == _normalize_values(added)


def _normalize_values(values: list[Any]) -> list[str]:
    return sorted(re.sub(r"[\W_]", "", str(value)).casefold() for value in values)


def _get_enum_values(node: SchemaNode) -> list[Any] | None:
    keywords = {k: v for k, v in node.keywords.items() if k in ("enum", "const")}
    return ValueLimits((keywords,)).values


def _build_enum_edits(
    pair: SchemaPair, applied: list[Any], reverted: list[Any]
) -> tuple[Edit, ...]:
    before, after = pair.nodes
    return (
        Edit(before.get_path("enum"), applied, after.get_path("enum"), reverted),
        Edit(before.get_path("const"), ABSENT, after.get_path("const"), ABSENT),
    )


def _compare_bounds(pair: SchemaPair) -> Iterator[Difference]:
    """Yield differences of the lower and the upper bound of numbers.

    An exclusive and an inclusive keyword form one bound. If both versions allow only
    integers, bounds that allow the same integers are equal.
    """
    before, after = (ValueLimits((node.keywords,)) for node in pair.nodes)
    only_integers = before.has_only_integers and after.has_only_integers
    for keyword, default in (("minimum", -math.inf), ("maximum", math.inf)):
        old = before.get_bound(keyword, as_integer=False)
        new = after.get_bound(keyword, as_integer=False)
        if old == new:
            continue
        # `minimum: 1` and `exclusiveMinimum: 0` are the same for integers.
        if only_integers and (
            before.get_bound(keyword, as_integer=True)
            == after.get_bound(keyword, as_integer=True)
        ):
            continue
        if old.value == default:
            event = "set"
        elif new.value == default:
            event = "removed"
        else:
            sign = 1 if keyword == "minimum" else -1
            old_rank = (old.value, sign * old.is_exclusive)
            new_rank = (new.value, sign * new.is_exclusive)
            event = "raised" if new_rank > old_rank else "lowered"
        exclusive = f"exclusive{keyword.capitalize()}"
        node, bound = (pair.before, old) if event == "removed" else (pair.after, new)
        # In draft-04 `exclusiveMinimum` is a boolean that qualifies the bound `minimum`.
        is_in_exclusive = bound.is_exclusive and not isinstance(
            node.get(exclusive), bool
        )
        yield pair.make_keyword_difference(
            f"{keyword}-{event}",
            exclusive if is_in_exclusive else keyword,
            pair.build_edits(keyword, exclusive),
            new=format_bound(keyword, new),
            old=format_bound(keyword, old),
        )


def _compare_counts(pair: SchemaPair) -> Iterator[Difference]:
    """Yield differences of `minLength`, `maxItems` and the other limits of a count.

    A minimum of 0 equals a missing one. `minContains` and `maxContains` are compared
    only if both versions have `contains`.
    """
    for keyword in _COUNT_KEYWORDS:
        old, new = pair.get_values(keyword)
        if keyword == "minContains":
            # Without `minContains`, `contains` requires one matching item.
            old = 1 if old is ABSENT and "contains" in pair.before.keywords else old
            new = 1 if new is ABSENT and "contains" in pair.after.keywords else new
        elif keyword.startswith("min"):
            # A minimum of 0 restricts nothing, so it equals a missing keyword.
            old, new = (ABSENT if count == 0 else count for count in (old, new))
        if (old is ABSENT and new is ABSENT) or old == new:
            continue
        # `minContains` and `maxContains` have no effect without `contains`.
        if keyword.endswith("Contains") and any(
            "contains" not in node.keywords for node in pair.nodes
        ):
            continue
        if old is ABSENT:
            event, texts = "set", {"new": format_count(keyword, new)}
        elif new is ABSENT:
            event, texts = "removed", {"old": format_count(keyword, old)}
        else:
            event = "raised" if new > old else "lowered"
            texts = {"new": format_count(keyword, new), "old": str(old)}
        kind = f"{get_kind_prefix(keyword)}-{event}"
        yield pair.make_keyword_difference(kind, keyword, None, **texts)


def compare_references(pair: SchemaPair) -> Iterator[Difference]:
    """Yield differences of references that cannot be merged, and of the root's dialect."""
    for keyword in REFERENCES:
        if not is_equal_json(*pair.get_values(keyword)):
            yield pair.make_keyword_difference("reference-changed", keyword)
    is_root = not pair.before.path and not pair.after.path
    if not is_root:
        return
    old_uri, new_uri = (node.keywords.get("$schema") for node in pair.nodes)
    if _get_uri_dialect(old_uri) != _get_uri_dialect(new_uri):
        yield pair.make_keyword_difference(
            "dialect-changed",
            "$schema",
            old=_format_dialect(old_uri),
            new=_format_dialect(new_uri),
        )


def _get_uri_dialect(uri: Any) -> str | None:
    return get_dialect({} if uri is None else {"$schema": uri})


def _format_dialect(uri: Any) -> str:
    return f"`{uri}`" if uri else "2020-12 (the default)"
