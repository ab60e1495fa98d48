"""A reference is followed by every way that a dialect has, and never out of the schema."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.references import References

PART = {"type": "string"}


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#/$defs/a", {"$defs": {"a": PART}}),
        ("#/$defs/a~1b", {"$defs": {"a/b": PART}}),
        ("#/allOf/0", {"allOf": [PART]}),
        ("#%2F$defs/a", {"$defs": {"a": PART}}),
        ("#a", {"$defs": {"x": {"$anchor": "a", **PART}}}),
        ("#a", {"$defs": {"x": {"$dynamicAnchor": "a", **PART}}}),
        ("#a", {"definitions": {"x": {"$id": "#a", **PART}}}),
        ("#a", {"definitions": {"x": {"id": "#a", **PART}}}),
        ("a.json", {"$defs": {"x": {"$id": "a.json", **PART}}}),
        ("a.json", {"$defs": {"x": {"$id": "https://example.org/a.json", **PART}}}),
        ("b.json#/$defs/a", {"$defs": {"x": {"$id": "b.json", "$defs": {"a": PART}}}}),
        ("#/$defs/a", {"items": {"$id": "b.json", "$defs": {"a": PART}}}),
    ],
)
def test_it_leads_to_the_part(reference: str, schema: dict[str, Any]) -> None:
    (found,) = References(schema).targets(reference)
    assert found["type"] == "string"


@pytest.mark.parametrize(
    "reference",
    ["#/$defs/b", "#b", "https://example.org/a", "file:///etc/passwd", "#/$defs/a/9"],
)
def test_it_leads_nowhere(reference: str) -> None:
    assert References({"$defs": {"a": [PART]}}).targets(reference) == []


def test_one_name_in_two_places_leads_to_both() -> None:
    schema = {"$defs": {"x": {"$anchor": "a"}, "y": {"$dynamicAnchor": "a"}}}
    assert len(References(schema).targets("#a")) == 2


def test_the_schema_itself() -> None:
    schema = {"properties": {"a": {"$ref": "#"}}}
    assert References(schema).targets("#") == [schema]
