"""Comparison of `allOf`, `anyOf`, `oneOf`, `not` and conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..change import ABSENT, build_json_key, is_equal_json
from .inclusion import InclusionProof, StepBudget
from .keyword_changes import compare_keyword, compare_value_lists, get_kind_prefix
from .message_text import (
    ALTERNATIVE,
    EXCLUDED,
    format_name,
    format_types,
    format_value,
    format_values,
)
from .schema_pairs import (
    Difference,
    Edit,
    PendingPair,
    SchemaLocation,
    SchemaNode,
    SchemaPair,
)
from .schema_version import ANNOTATIONS, SchemaVersion
from .value_limits import ALL_TYPES, ValueLimits

_ALTERNATIVE_KEYWORDS = ("anyOf", "oneOf")
_VALUE_KEYWORDS = ANNOTATIONS | {"type", "const", "enum"}
_MAX_PROOF_STEPS = 250
"""Steps of the proof that an alternative includes a single schema."""
_MAX_BRANCHES = 20
"""Alternatives of each version that are all compared with each other."""
_MAX_SHOWN_BRANCHES = 5
"""Alternatives that a message quotes."""
_MAX_SHARED_VALUES = 50
"""Enum values of each property that are compared to match branches."""
_UNRELATED = -1
"""Similarity score of schemas that cannot be versions of each other."""


def compare_branches(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    """Yield differences of branches and conditions, and pairs of matching branches."""
    for keyword in ("allOf", *_ALTERNATIVE_KEYWORDS):
        yield from _compare_branch_keyword(pair, keyword)
    if ABSENT in pair.get_values("not"):
        yield from compare_keyword(pair, "not")
    else:
        # `not` reverses the effect: a wider schema inside `not` rejects more values.
        yield pair.build_subpair("not", location=pair.location + EXCLUDED, factor=-1)
    yield from _compare_condition(pair)


def get_alternatives_keyword(node: SchemaNode) -> str:
    """Return `anyOf` or `oneOf` if it is the only keyword of a schema that rejects values.

    Return an empty string for every other schema.
    """
    keywords = [keyword for keyword in node.keywords if keyword not in ANNOTATIONS]
    if len(keywords) == 1 and keywords[0] in _ALTERNATIVE_KEYWORDS:
        return keywords[0]
    return ""


def compare_alternatives_with_schema(
    pair: SchemaPair,
) -> Iterator[Difference | PendingPair]:
    """Yield differences between a single schema and a schema that is only alternatives.

    The single schema is compared with the most similar alternative, and the other alternatives
    are differences. If no alternative is clearly the most similar one, all alternatives
    together are one difference.
    """
    keyword = get_alternatives_keyword(pair.after)
    is_added = bool(keyword)
    keyword = keyword or get_alternatives_keyword(pair.before)
    node, single_node = pair.nodes[::-1] if is_added else pair.nodes
    version, single_version = pair.versions[::-1] if is_added else pair.versions
    branches = [
        node.get_subschema(keyword, index)
        for index in range(len(node.keywords[keyword]))
    ]
    single = {k: v for k, v in single_node.keywords.items() if k not in ANNOTATIONS}
    scores = [
        _score_similarity(single_version, single, version, branch.schema)
        for branch in branches
    ]
    best = max(range(len(branches)), key=lambda index: scores[index], default=-1)
    if best < 0 or scores[best] == _UNRELATED:
        best = -1
    elif _is_clear_match(single_version, single, version, branches, best):
        old = SchemaLocation(single, single_node.path)
        new = branches[best]
        if not is_added:
            old, new = new, old
        # A wider branch of `oneOf` can overlap another branch and reject more values.
        direction = pair.direction if keyword == "anyOf" else 0
        yield PendingPair(old, new, pair.location, direction)
    else:
        kind = f"{get_kind_prefix(keyword)}-{'set' if is_added else 'removed'}"
        difference = pair.make_keyword_difference(
            kind, keyword, (pair.replacement_edit,)
        )
        verb = "must now" if is_added else "no longer has to"
        text = _format_alternatives(version, branches)
        yield difference._replace(message=f"{pair.subject} {verb} match {text}")
        return
    single_types = ValueLimits(single_version.get_conjunction(single)).types
    for index, branch in enumerate(branches):
        if index != best:
            yield _make_branch_difference(
                pair, keyword, branch, pair.replacement_edit, is_added, single_types
            )


def _is_clear_match(
    single_version: SchemaVersion,
    single: Any,
    version: SchemaVersion,
    branches: list[SchemaLocation],
    best: int,
) -> bool:
    """Return whether a single schema can be compared with one of several alternatives.

    It can if no other alternative allows values of the same types, or if this alternative
    accepts all values of the single schema.
    """
    single_parts = single_version.get_conjunction(single)
    types = ValueLimits(single_parts).types
    candidates = [
        branch
        for branch in branches
        if types & ValueLimits(version.get_conjunction(branch.schema)).types
    ]
    if len(candidates) < 2:
        return True
    proof = InclusionProof(
        single_version, version, StepBudget(_MAX_PROOF_STEPS), only_declared=False
    )
    return proof.prove(single_parts, version.get_conjunction(branches[best].schema))


def _format_alternatives(version: SchemaVersion, branches: list[SchemaLocation]) -> str:
    """Format alternatives, such as: one of 2 alternatives: null; a string."""
    texts = [_format_alternative(version, branch.schema) for branch in branches]
    alternatives = "; ".join(texts[:_MAX_SHOWN_BRANCHES])
    if len(texts) > _MAX_SHOWN_BRANCHES:
        alternatives += "; …"
    return f"one of {len(texts)} alternatives: {alternatives}"


def _format_alternative(version: SchemaVersion, schema: Any) -> str:
    """Format one alternative by its values, or by its types and patterns."""
    limits = ValueLimits(version.get_conjunction(schema))
    if limits.values:
        return format_values(limits.values)
    patterns = " and ".join(map(format_value, limits.get_all("pattern")))
    return format_types(limits.types) + (
        f" that matches {patterns}" if patterns else ""
    )


def _compare_branch_keyword(
    pair: SchemaPair, keyword: str
) -> Iterator[Difference | PendingPair]:
    """Yield differences of `allOf`, `anyOf` or `oneOf`.

    Branches that match are yielded as pairs to compare, all other branches as added or
    removed. An `anyOf` or `oneOf` that only one version has is one difference.
    """
    is_all_of = keyword == "allOf"
    if not is_all_of and ABSENT in pair.get_values(keyword):
        yield from compare_keyword(pair, keyword)
        return
    old_branches, new_branches = (node.get_array(keyword) for node in pair.nodes)
    if not is_all_of:
        old_values = _list_branch_values(pair.before_version, old_branches)
        new_values = _list_branch_values(pair.after_version, new_branches)
        # Branches that only list values are compared as one list of values.
        if old_values is not None and new_values is not None:
            yield from _compare_value_branches(pair, keyword, old_values, new_values)
            return
    matches = _match_branches(pair, old_branches, new_branches)
    for old_index, new_index in matches.items():
        location = pair.location
        # Mark the location if several branches of the same types share it.
        if not is_all_of and _shares_types(pair, new_branches, new_index):
            location += ALTERNATIVE
        yield PendingPair(
            pair.before.get_subschema(keyword, old_index),
            pair.after.get_subschema(keyword, new_index),
            location,
            0 if keyword == "oneOf" else pair.direction,
        )
    old_matched, new_matched = set(matches), set(matches.values())
    yield from _list_unmatched_branches(pair, keyword, old_matched, is_added=False)
    yield from _list_unmatched_branches(pair, keyword, new_matched, is_added=True)


def _list_unmatched_branches(
    pair: SchemaPair, keyword: str, matched: set[int], *, is_added: bool
) -> Iterator[Difference]:
    """Yield the branches of one version that match no branch of the other."""
    own_node, other_node = pair.nodes[::-1] if is_added else pair.nodes
    other_version = pair.before_version if is_added else pair.after_version
    own_branches = own_node.get_array(keyword)
    other_branches = other_node.get_array(keyword)
    other_types = _collect_types(other_version, other_branches)
    before_path, after_path = (node.get_path(keyword) for node in pair.nodes)
    for index, branch in enumerate(own_branches):
        if index in matched:
            continue
        # Branch keywords require a non-empty array, so the last branch removes the keyword.
        without_branch = own_branches[:index] + own_branches[index + 1 :] or ABSENT
        with_branch = [*other_branches, branch]
        if is_added:
            edit = Edit(before_path, with_branch, after_path, without_branch)
        else:
            edit = Edit(before_path, without_branch, after_path, with_branch)
        location = own_node.get_subschema(keyword, index)
        yield _make_branch_difference(
            pair, keyword, location, edit, is_added, other_types
        )


def _shares_types(pair: SchemaPair, branches: list[Any], index: int) -> bool:
    """Return whether other new branches allow values of the types of one branch."""
    other_branches = branches[:index] + branches[index + 1 :]
    other_types = _collect_types(pair.after_version, other_branches)
    own_types = _collect_types(pair.after_version, [branches[index]])
    return not other_types.isdisjoint(own_types)


def _list_branch_values(
    version: SchemaVersion, branches: list[Any]
) -> list[list[Any]] | None:
    """Return the values of each branch; None if a branch is more than a list of values."""
    value_lists: list[list[Any]] = []
    for branch in branches:
        if not isinstance(branch, dict) or not branch.keys() <= _VALUE_KEYWORDS:
            return None
        limits = ValueLimits(version.get_conjunction(branch))
        values = [None] if limits.types == {"null"} else limits.values
        if values is None:
            return None
        value_lists.append(values)
    return value_lists


def _compare_value_branches(
    pair: SchemaPair, keyword: str, old: list[list[Any]], new: list[list[Any]]
) -> Iterator[Difference | PendingPair]:
    """Yield differences of branches that are lists of values, compared as one list.

    Args:
        pair: the schemas.
        keyword: the keyword of the branches.
        old: the values of each old branch.
        new: the values of each new branch.
    """
    new_indexes = {build_json_key(values): index for index, values in enumerate(new)}
    for old_index, values in enumerate(old):
        new_index = new_indexes.get(build_json_key(values))
        if new_index is not None:
            yield PendingPair(
                pair.before.get_subschema(keyword, old_index),
                pair.after.get_subschema(keyword, new_index),
                pair.location,
                pair.direction,
            )
    before_path, after_path = (node.get_path(keyword) for node in pair.nodes)

    # One `enum` branch accepts the same values as one branch for each value.
    def build_edits(applied: list[Any], reverted: list[Any]) -> tuple[Edit, ...]:
        return (
            Edit(before_path, [{"enum": applied}], after_path, [{"enum": reverted}]),
        )

    old_values = [value for values in old for value in values]
    new_values = [value for values in new for value in values]
    yield from compare_value_lists(pair, keyword, old_values, new_values, build_edits)


def _make_branch_difference(
    pair: SchemaPair,
    keyword: str,
    branch: SchemaLocation,
    edit: Edit,
    is_added: bool,
    other_types: frozenset[str],
) -> Difference:
    """Return the difference of a branch that only one version has.

    Args:
        pair: the schemas.
        keyword: the keyword of the branch.
        branch: the branch.
        edit: the edit that makes the change.
        is_added: whether the new version has the branch.
        other_types: the types that the branches of the other version allow.
    """
    version = pair.after_version if is_added else pair.before_version
    types = ValueLimits(version.get_conjunction(branch.schema)).types
    type_text = format_types(types)
    detail = "" if types == ALL_TYPES else f" ({type_text})"
    title = branch.schema.get("title") if isinstance(branch.schema, dict) else None
    if isinstance(title, str):
        detail = f" ({format_name(title)})"
    prefix = "all-of" if keyword == "allOf" else f"{get_kind_prefix(keyword)}-branch"
    difference = pair.make_difference(
        f"{prefix}-{'added' if is_added else 'removed'}",
        branch.path,
        (ABSENT, branch.schema) if is_added else (branch.schema, ABSENT),
        (edit,),
        detail=detail,
    )
    # The message names types that no branch of the other version allows.
    has_other_types = types and types.isdisjoint(other_types)
    if keyword != "allOf" and detail and has_other_types:
        verb = "can now be" if is_added else "can no longer be"
        difference = difference._replace(message=f"{pair.subject} {verb} {type_text}")
    return difference


def _collect_types(version: SchemaVersion, branches: list[Any]) -> frozenset[str]:
    """Return the types that any of the branches allows."""
    types: frozenset[str] = frozenset()
    for branch in branches[:_MAX_BRANCHES]:
        types |= ValueLimits(version.get_conjunction(branch)).types
    return types


def _match_branches(
    pair: SchemaPair, old_branches: list[Any], new_branches: list[Any]
) -> dict[int, int]:
    """Return the index of the new branch by the index of the old branch that it matches.

    Equal branches match first, then the most similar ones.
    """
    matches: dict[int, int] = {}
    unmatched_new = set(range(len(new_branches)))
    for old_index, branch in enumerate(old_branches):
        for new_index in sorted(unmatched_new):
            if is_equal_json(branch, new_branches[new_index]):
                matches[old_index] = new_index
                unmatched_new.discard(new_index)
                break
    unmatched_old = [i for i in range(len(old_branches)) if i not in matches]
    if len(unmatched_old) * len(unmatched_new) > _MAX_BRANCHES**2:
        # Comparing every old with every new branch takes too long: match equal indexes.
        return matches | {i: i for i in unmatched_old if i in unmatched_new}
    candidates = []
    for old_index in unmatched_old:
        for new_index in unmatched_new:
            score = _score_similarity(
                pair.before_version,
                old_branches[old_index],
                pair.after_version,
                new_branches[new_index],
            )
            if score != _UNRELATED:
                candidates.append((-score, old_index, new_index))
    for _, old_index, new_index in sorted(candidates):
        if old_index not in matches and new_index in unmatched_new:
            matches[old_index] = new_index
            unmatched_new.discard(new_index)
    return matches


def _score_similarity(
    first_version: SchemaVersion,
    first: Any,
    second_version: SchemaVersion,
    second: Any,
) -> int:
    """Return how similar two branches are, or `_UNRELATED`.

    An equal `$ref` or `title` counts most; properties with the same name count more if they
    share an enum value, and nearly exclude a match if they share none.
    """
    if not isinstance(first, dict) or not isinstance(second, dict):
        return _UNRELATED
    first_limits = ValueLimits(first_version.get_conjunction(first))
    second_limits = ValueLimits(second_version.get_conjunction(second))
    if not first_limits.types & second_limits.types:
        return _UNRELATED
    score = 0
    for keyword in ("$ref", "title"):
        if keyword in first and keyword in second and first[keyword] == second[keyword]:
            score += 5
    if first_limits.types == second_limits.types:
        score += 1
    first_properties = _collect_properties(first_limits)
    second_properties = _collect_properties(second_limits)
    for name in first_properties.keys() & second_properties.keys():
        first_values = _list_values(first_version, first_properties[name])
        second_values = _list_values(second_version, second_properties[name])
        if first_values is None or second_values is None:
            score += 1
        elif _share_value(first_values, second_values):
            score += 3
        else:
            score -= 20
    return max(score, _UNRELATED)


def _list_values(version: SchemaVersion, schema: Any) -> list[Any] | None:
    return ValueLimits(version.get_conjunction(schema)).values


def _share_value(first: list[Any], second: list[Any]) -> bool:
    return any(
        is_equal_json(first_value, second_value)
        for first_value in first[:_MAX_SHARED_VALUES]
        for second_value in second[:_MAX_SHARED_VALUES]
    )


def _collect_properties(limits: ValueLimits) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for part_properties in limits.get_all("properties"):
        properties.update(part_properties)
    return properties


def _compare_condition(pair: SchemaPair) -> Iterator[Difference | PendingPair]:
    had_condition, has_condition = map(_has_condition, pair.nodes)
    if not had_condition and not has_condition:
        return
    # The three keywords have an effect only together, so each edit replaces all of them.
    edits = pair.build_edits("if", "then", "else")
    if had_condition != has_condition:
        kind = "condition-set" if has_condition else "condition-removed"
        yield pair.make_keyword_difference(kind, "if", edits)
        return
    if not is_equal_json(*pair.get_values("if")):
        yield pair.make_keyword_difference("condition-changed", "if", edits)
    for keyword in ("then", "else"):
        yield pair.build_subpair(keyword)


def _has_condition(node: SchemaNode) -> bool:
    """Return whether `if` has an effect: without `then` and `else` it has none."""
    return "if" in node.keywords and (
        "then" in node.keywords or "else" in node.keywords
    )
