"""Removed and added properties with equivalent schemas that are reported as renamed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.diff.schemas.comparison import compare_schemas

RENAMED = "parameter/property-renamed"


def build_parameters(texts: dict[str, str], **keywords: Any) -> dict[str, Any]:
    """Return an object schema of properties with different lengths and descriptions."""
    properties: dict[str, Any] = {}
    for index, (name, text) in enumerate(texts.items()):
        description = {"description": text} if text else {}
        length = {"type": "string", "maxLength": 5 + index}
        properties[name] = {**length, **description, **keywords}
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("old", "new", "is_renamed"),
    [
        (("a", "User name"), ("b", "the user"), True),
        (("a", "User name"), ("b", "The user here"), False),
        (("a", "The user here"), ("b", "User name"), False),
        (("user", ""), ("user_id", ""), True),
        (("user_id", ""), ("user", ""), True),
        (("user", ""), ("account", ""), False),
        (("user", ""), ("user_id", "The user"), False),
        (("user_id", "The user"), ("user", ""), False),
    ],
)
def test_property_is_renamed_if_half_the_description_or_the_name_is_equal(
    old: tuple[str, str], new: tuple[str, str], is_renamed: bool
) -> None:
    """Names are compared only if neither version has a description."""
    before = build_parameters(dict([old]))
    after = build_parameters(dict([new]), minLength=0)
    rules = {change.rule.id for change in compare_schemas(before, after, "parameters")}
    assert (RENAMED in rules) is is_renamed
    assert ("parameter/property-removed" in rules) is not is_renamed


def test_property_with_two_similar_new_properties_is_removed_and_not_renamed() -> None:
    before = build_parameters({"a": "User name"})
    new = {"type": "string", "maxLength": 5, "description": "A user name"}
    after = {"type": "object", "properties": {"b": new, "c": new}}
    rules = [change.rule.id for change in compare_schemas(before, after, "parameters")]
    assert "parameter/property-removed" in rules and RENAMED not in rules


@pytest.mark.parametrize(("added_count", "renamed_count"), [(20, 20), (21, 0)])
def test_rename_search_compares_at_most_400_property_pairs(
    added_count: int, renamed_count: int
) -> None:
    before = build_parameters({f"a{i}": f"Name {i}" for i in range(20)})
    after = build_parameters(
        {f"b{i}": f"The name {i}" for i in range(added_count)}, minLength=0
    )
    changes = compare_schemas(before, after, "parameters")
    assert [change.rule.id for change in changes].count(RENAMED) == renamed_count
