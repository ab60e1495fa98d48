"""Estimated costs of each JSON Schema keyword in nanoseconds, from measurements.

A new measurement changes the runtime's table and this one.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from toolcast_runtime.core.validation.bounds import Bound, CostEstimate
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.compiled import PartValidators, build_validator

_LARGE = 10**20


def _get_cost(schema: Any) -> Bound:
    """Return the cost bound of a schema for a value and everything inside it."""
    return CostEstimate(schema)._bounds[id(schema)]


@pytest.mark.parametrize(
    ("schema", "cost"),
    [
        ({}, Bound()),
        ({"type": "object", "title": "a"}, Bound(value=10)),
        ({"minLength": 1}, Bound(value=5, short=1, character=1)),
        ({"minLength": 1, "maxLength": 2}, Bound(value=10, short=2, character=2)),
        ({"contentEncoding": "base64"}, Bound(value=5, short=40, character=40)),
        ({"contentMediaType": "a/b"}, Bound(value=5, short=40, character=40)),
        ({"minimum": 1}, Bound(value=5, large=1_300)),
        ({"exclusiveMaximum": 1, "maximum": 2}, Bound(value=10, large=2_600)),
        ({"required": ["a", "b"]}, Bound(value=5 + 2 * 12)),
        ({"dependentRequired": {"a": ["b", "c"]}}, Bound(value=5 + 3 * 12)),
        ({"dependencies": {"a": {}}}, Bound(value=5 + 12)),
        ({"enum": []}, Bound(value=5)),
        ({"enum": ["a", "b"]}, Bound(value=5 + 60)),
        ({"const": "a"}, Bound(value=5 + 60)),
        ({"enum": ["a", 1]}, Bound(value=5 + 2 * 5, large=2_600)),
        ({"const": _LARGE}, Bound(value=5 + 5 + 1_300, large=1_300)),
        ({"const": [1]}, Bound(value=5 + 5 + 3 * 60 + 150, large=1_300)),
        (
            {"enum": [{"a": 1}, {"b": [2]}, 3]},
            Bound(value=5 + 3 * 5 + 6 * 60 + 2 * 150, large=3 * 1_300),
        ),
        ({"const": float("inf")}, Bound(value=5 + 1e15)),
        ({"multipleOf": 3}, Bound(value=5, number=120, large=40_000, extreme=40_000)),
        (
            {"multipleOf": 0.1},
            Bound(value=5, number=2_400, large=40_000, extreme=40_000),
        ),
        ({"uniqueItems": True}, Bound(value=5, unique=60, short=1, character=1)),
        ({"uniqueItems": False}, Bound(value=5)),
        ({"pattern": "^abcd"}, Bound(value=5 + 60.6, short=10, character=3)),
        ({"pattern": r"(a)\1"}, Bound(value=5 + 60.3, short=50, squared=20)),
        ({"format": "email"}, Bound(value=5 + 360, short=10, character=10)),
        (
            {"format": "regex"},
            Bound(value=5 + 360, short=50, character=60, squared=0.03),
        ),
        ({"format": "unheard-of"}, Bound(value=5)),
        (
            {"patternProperties": {"^a": True, "^bc": True}},
            Bound(value=5, child=2 * 60 + 0.45, short=20, character=6),
        ),
        ({"unevaluatedItems": False}, Bound(value=5, child=150)),
        ({"unevaluatedProperties": False}, Bound(value=5, child=150)),
    ],
)
def test_validation_cost_is_estimated_by_keyword(schema: Any, cost: Bound) -> None:
    assert _get_cost(schema) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("schema", "cost"),
    [
        # The costs of keywords that apply to the same value are added.
        ({"allOf": [{"minimum": 1}, {"minimum": 2}]}, Bound(value=15, large=2_600)),
        # Unevaluated members are searched in each subschema.
        (
            {"unevaluatedItems": False, "anyOf": [{}, {}]},
            Bound(value=10, child=3 * 150),
        ),
        # Only one of several members applies; overlapping ones all apply.
        (
            {"properties": {"a": {"required": ["b"]}, "c": {"type": "null"}}},
            Bound(value=17),
        ),
        ({"items": {"type": "null"}, "contains": {"title": "a"}}, Bound(value=10)),
        # A cost that grows with each level is unbounded.
        ({"items": {"allOf": [{"$ref": "#"}]}, "contains": {"$ref": "#"}}, Bound(1e15)),
    ],
)
def test_costs_of_combined_keywords_are_added(schema: Any, cost: Bound) -> None:
    """Costs of exclusive members are a maximum; recursion in place is unbounded."""
    assert _get_cost(schema) == pytest.approx(cost)


def test_schema_whose_cost_estimate_needs_over_60_rounds_is_unbounded() -> None:
    """Each definition refers to the next one, which is processed after it."""
    for count, is_bounded in ((59, True), (60, False)):
        leading = [{"items": {"$ref": f"#/allOf/{n + 1}"}} for n in range(count)]
        schema = {"allOf": [*leading, {"maxLength": 1}]}
        assert (_get_cost(schema).value < 1e15) is is_bounded


def test_schema_validator_passes_backtrack_and_size_limits_to_the_regex_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Any] = []
    options = jsonschema_rs.FancyRegexOptions

    def record_options(**arguments: Any) -> Any:
        calls.append(arguments)
        return options(**arguments)

    monkeypatch.setattr(jsonschema_rs, "FancyRegexOptions", record_options)
    assert build_validator({"pattern": "^a"}).is_valid("ab")
    assert calls == [{"backtrack_limit": 20_000, "size_limit": 1_048_576}]


@pytest.mark.parametrize("schema", ["", "http://json-schema.org/draft-07/schema#"])
def test_validator_rejects_text_with_a_wrong_format_only_with_asserts_formats(
    schema: str,
) -> None:
    root: dict[str, Any] = {"a": {"format": "date"}}
    root |= {"$schema": schema} if schema else {}
    for options, is_valid in (({}, True), ({"asserts_formats": True}, False)):
        part = PartValidators(root, **options).get_validator(("a",))
        assert part.is_valid("soon") is is_valid
        assert build_validator(root["a"], **options).is_valid("soon") is is_valid
        assert Checker(root["a"], **options).matches("soon") is is_valid
