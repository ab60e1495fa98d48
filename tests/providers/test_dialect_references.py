"""References next to other keywords, their depth limit, and descriptions of lost keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolcast_runtime.providers.dialect import (
    Dialect,
    Effect,
    InexpressibleError,
    Losses,
    References,
    Severity,
    append_text,
    describe_lost_keywords,
)
from toolcast_runtime.providers.schema_rendering import render_schema

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
KEYWORDS = "type properties required items enum anyOf description $ref minimum"
FEW = Dialect(keywords=frozenset(KEYWORDS.split()))
INLINED = Dialect(references=References.INLINED)
ANY = Dialect()
DEFINITIONS: Schema = {"t": TEXT, "deep": {"$defs": {"t": {"type": "integer"}}}}
REF_1: Schema = {"$ref": "#/$defs/t"}
REF_2: Schema = {"$ref": "#/$defs/deep/$defs/t"}
RENAMED = {"t": {"type": "integer"}}


def _render(
    dialect: Dialect, schema: Any, definitions: Schema = DEFINITIONS
) -> tuple[Any, Any, list[str]]:
    """Return a rendered parameter, the rendered definitions and the losses."""
    root = {"type": "object", "properties": {"a": schema}, "$defs": definitions}
    rendered = render_schema(root, dialect, "do")
    losses = [f"{loss.keyword}: {loss.message}" for loss in rendered.losses]
    return rendered.schema["properties"]["a"], rendered.schema.get("$defs"), losses


@pytest.mark.parametrize(
    ("schema", "expected", "definitions"),
    [
        ([REF_1, {"description": "x"}], {**REF_1, "description": "x"}, {"t": TEXT}),
        ([{"description": "x"}, REF_2], {**REF_1, "description": "x"}, RENAMED),
        ([REF_1, {"minimum": 1}], {"type": "string", "minimum": 1}, {"t": TEXT}),
        # `t` names different definitions in the spec and in the rendered schema.
        ([REF_2, {"minimum": 1}], {"type": "integer", "minimum": 1}, RENAMED),
        ([{"minimum": 1}, REF_2], {"minimum": 1, "type": "integer"}, RENAMED),
        ([{"allOf": [REF_2]}], REF_1, RENAMED),
        ([REF_1, True], REF_1, {"t": TEXT}),
    ],
)
def test_allof_with_a_reference_is_merged_for_a_provider_without_allof(
    schema: Any, expected: Schema, definitions: Schema
) -> None:
    assert _render(FEW, {"allOf": schema}) == (expected, definitions, [])


def test_allof_with_contradictory_references_is_dropped_and_reported() -> None:
    assert _render(FEW, {"allOf": [REF_1, REF_2]}) == (
        TEXT,
        {"t": TEXT, "t_2": {"type": "integer"}},
        [
            "allOf: its `type` cannot be combined with the rest of the schema;"
            " dropped"
        ],
    )
    losses = ["false: no value is valid"]
    assert _render(FEW, {"allOf": [REF_1, False]}) == (REF_1, {"t": TEXT}, losses)


def test_exclusive_oneof_references_are_rendered_as_anyof_without_loss() -> None:
    alternatives = [REF_1, {"$ref": "#/$defs/t_2"}]
    assert _render(FEW, {"oneOf": [REF_1, REF_2]}) == (
        {"anyOf": alternatives},
        {"t": TEXT, "t_2": {"type": "integer"}},
        [],
    )
    three = {"t": TEXT, "a": {"$defs": {"t": {}}}, "b": {"$defs": {"t": {}}}}
    members = [
        {"$ref": f"#/$defs/{place}"} for place in ("t", "a/$defs/t", "b/$defs/t")
    ]
    names = _render(FEW, {"anyOf": members}, three)[1]
    assert list(names) == ["t", "t_2", "t_3"]
    losses = ["oneOf: exactly one alternative must match; replaced by `anyOf`"]
    same = {"anyOf": [REF_1, REF_1]}
    assert _render(FEW, {"oneOf": [REF_1, REF_1]}) == (same, {"t": TEXT}, losses)
    for nothing, text in (([], "[]"), ("x", '"x"')):
        assert _render(FEW, {"oneOf": nothing})[0] == {
            "description": f"(oneOf: {text})"
        }


def _make_array(inner: Schema) -> Schema:
    return {"type": "array", "items": inner}


def _make_nullable(inner: Schema) -> Schema:
    return {"anyOf": [inner, {"type": "null"}]}


@pytest.mark.parametrize("dialect", [ANY, FEW, INLINED], ids=["any", "few", "inlined"])
@pytest.mark.parametrize("wrap", [_make_array, _make_nullable])
def test_provider_schema_is_cut_and_reported_below_50_levels(
    dialect: Dialect, wrap: Callable[[Schema], Schema]
) -> None:
    schema = TEXT
    for _ in range(49):
        schema = wrap(schema)
    cut = "$ref: the schema contains itself; inside itself it is replaced by any value of its type"
    assert _render(dialect, schema)[2] == []
    assert {*_render(dialect, wrap(schema))[2]} == {cut}


def _make_reference_chain(length: int, last: Schema, **siblings: Any) -> Schema:
    chain = {"r0": last}
    for number in range(length):
        chain[f"r{number + 1}"] = {"$ref": f"#/$defs/r{number}", **siblings}
    return chain


def test_ref_chain_with_over_49_inlined_or_51_other_refs_is_lost() -> None:
    def is_followed(dialect: Dialect, length: int) -> bool:
        chain = _make_reference_chain(length, TEXT, minLength=1)
        return not _render(dialect, {"$ref": f"#/$defs/r{length}"}, chain)[2]

    assert is_followed(INLINED, 49)
    assert not is_followed(INLINED, 50)
    assert is_followed(ANY, 51)
    assert not is_followed(ANY, 52)


def test_oneof_with_an_alternative_behind_over_50_references_is_lost() -> None:
    """Up to 50, alternatives that exclude each other become `anyOf` without loss."""
    for length, is_seen in ((49, True), (50, False)):
        either = {"oneOf": [{"const": "b"}, {"$ref": f"#/$defs/r{length}"}]}
        losses = _render(FEW, either, _make_reference_chain(length, {"const": "a"}))[2]
        assert (losses == []) is is_seen


def test_provider_schema_with_over_2000_inlined_references_has_a_loss() -> None:
    for count, is_cut in ((2_000, False), (2_001, True)):
        properties = {f"p{number}": REF_1 for number in range(count)}
        whole = {"type": "object", "properties": properties, "$defs": DEFINITIONS}
        losses = render_schema(whole, INLINED, "do").losses
        assert bool(losses) is is_cut


def test_provider_schema_with_over_20000_subschemas_has_a_reported_loss() -> None:
    for count, is_cut in ((20_000, False), (20_001, True)):
        properties: Schema = {f"p{number}": {} for number in range(count)}
        whole = {"type": "object", "properties": properties}
        assert bool(render_schema(whole, ANY, "do").losses) is is_cut


def test_unresolvable_ref_is_removed_from_the_provider_schema_with_an_error() -> None:
    schema = {"$ref": "#/nowhere", "description": "x"}
    whole = {"type": "object", "properties": {"a": schema}}
    found = render_schema(whole, FEW, "do")
    assert found.schema["properties"] == {"a": {"description": "x"}}
    assert [(loss.severity, loss.effect) for loss in found.losses] == [
        (Severity.ERROR, Effect.WIDER)
    ]


def test_circular_ref_is_rejected_if_a_strict_provider_schema_needs_inlining() -> None:
    tree: Schema = {"type": "object", "properties": {"below": {"$ref": "#/$defs/n"}}}
    closed = Dialect(is_closed=True, references=References.INLINED)
    with pytest.raises(InexpressibleError) as refused:
        _render(closed, {"$ref": "#/$defs/n"}, {"n": tree})
    assert (refused.value.keyword, refused.value.reason) == ("$ref", "contains itself")


def test_keyword_loss_inside_not_is_reported_with_the_effect_other() -> None:
    """Losing a keyword makes a schema wider, except inside `not`."""
    losses = Losses("do")
    losses.add(("a", 0), "x", "gone")
    losses.add(("a", 0), "x", "gone")
    losses.is_reversed = True
    losses.add(("b",), "y", "gone", Effect.WIDER, Severity.WARNING)
    losses.add(("c",), "z", "gone", Effect.WORDS)
    assert [(str(loss), loss.effect) for loss in losses.list_losses()] == [
        ("do /a/0 x note: gone", Effect.WORDS),
        ("do /b y warning: gone", Effect.OTHER),
        ("do /c z note: gone", Effect.WORDS),
    ]


def test_rejected_keywords_are_described_in_text_up_to_a_maximum_length() -> None:
    """A text has at most 400 characters, and a description at most 4,000."""
    assert describe_lost_keywords({"minimum": 1, "maxLength": 2}) == (
        "(minimum: 1, maxLength: 2)",
        frozenset({"minimum", "maxLength"}),
    )
    assert (
        describe_lost_keywords({"title": "x", "readOnly": True, "deprecated": False})[0]
        == ""
    )
    assert describe_lost_keywords({"deprecated": True, "examples": ["a", 1]})[0] == (
        '(deprecated, for example: "a", 1)'
    )
    assert describe_lost_keywords({"examples": "é"})[0] == '(for example: "é")'
    for keyword, most in (("pattern", 400), ("properties", 4_000)):
        room = most - len(f'{keyword}: ""')
        assert len(describe_lost_keywords({keyword: "x" * room})[0]) == most + 2
        assert describe_lost_keywords({keyword: "x" * (room + 1)}) == ("", frozenset())
    assert append_text("Does it.", "(x)") == "Does it. (x)"
    assert append_text(None, "(x)") == "(x)"


def test_plain_pattern_dialect_loses_lookaround_and_backreferences() -> None:
    plain = Dialect(has_plain_patterns=True)
    kept = ["^a+$", "(?:a)", "a{1}", "\\d", "0", "\\0"]
    lost = ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "a\\b", "a\\B"]
    lost += [f"(a)\\{number}" for number in range(1, 10)]
    for pattern in [*kept, *lost]:
        rendered = _render(plain, {"type": "string", "pattern": pattern})[0]
        assert ("pattern" in rendered) is (pattern in kept), pattern
        assert "pattern" in _render(ANY, {"type": "string", "pattern": pattern})[0]
