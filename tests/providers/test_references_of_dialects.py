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
ONE: Schema = {"$ref": "#/$defs/t"}
OTHER: Schema = {"$ref": "#/$defs/deep/$defs/t"}
SHOWN = {"t": {"type": "integer"}}


def _rendered(
    dialect: Dialect, schema: Any, definitions: Schema = DEFINITIONS
) -> tuple[Any, Any, list[str]]:
    """A parameter as it is given, the definitions beside it, and what is lost."""
    whole = {"type": "object", "properties": {"a": schema}, "$defs": definitions}
    found = render_schema(whole, dialect, "do")
    losses = [f"{one.keyword}: {one.message}" for one in found.losses]
    return found.schema["properties"]["a"], found.schema.get("$defs"), losses


@pytest.mark.parametrize(
    ("schema", "given", "definitions"),
    [
        ([ONE, {"description": "x"}], {**ONE, "description": "x"}, {"t": TEXT}),
        ([{"description": "x"}, OTHER], {**ONE, "description": "x"}, SHOWN),
        ([ONE, {"minimum": 1}], {"type": "string", "minimum": 1}, {"t": TEXT}),
        # What is called `t` in the form is not what the spec calls so.
        ([OTHER, {"minimum": 1}], {"type": "integer", "minimum": 1}, SHOWN),
        ([{"minimum": 1}, OTHER], {"minimum": 1, "type": "integer"}, SHOWN),
        ([{"allOf": [OTHER]}], ONE, SHOWN),
        ([ONE, True], ONE, {"t": TEXT}),
    ],
)
def test_all_of_some_schemas_and_a_reference(
    schema: Any, given: Schema, definitions: Schema
) -> None:
    assert _rendered(FEW, {"allOf": schema}) == (given, definitions, [])


def test_references_that_cannot_be_said_together() -> None:
    assert _rendered(FEW, {"allOf": [ONE, OTHER]}) == (
        TEXT,
        {"t": TEXT, "t_2": {"type": "integer"}},
        [
            "allOf: its `type` cannot be combined with the rest of the schema;"
            " dropped"
        ],
    )
    lost = ["false: no value is valid"]
    assert _rendered(FEW, {"allOf": [ONE, False]}) == (ONE, {"t": TEXT}, lost)


def test_one_of_some_references() -> None:
    both = [ONE, {"$ref": "#/$defs/t_2"}]
    assert _rendered(FEW, {"oneOf": [ONE, OTHER]}) == (
        {"anyOf": both},
        {"t": TEXT, "t_2": {"type": "integer"}},
        [],
    )
    three = {"t": TEXT, "a": {"$defs": {"t": {}}}, "b": {"$defs": {"t": {}}}}
    members = [
        {"$ref": f"#/$defs/{place}"} for place in ("t", "a/$defs/t", "b/$defs/t")
    ]
    names = _rendered(FEW, {"anyOf": members}, three)[1]
    assert list(names) == ["t", "t_2", "t_3"]
    lost = ["oneOf: exactly one alternative must match; replaced by `anyOf`"]
    same = {"anyOf": [ONE, ONE]}
    assert _rendered(FEW, {"oneOf": [ONE, ONE]}) == (same, {"t": TEXT}, lost)
    for nothing, text in (([], "[]"), ("x", '"x"')):
        assert _rendered(FEW, {"oneOf": nothing})[0] == {
            "description": f"(oneOf: {text})"
        }


def _array(inner: Schema) -> Schema:
    return {"type": "array", "items": inner}


def _either(inner: Schema) -> Schema:
    return {"anyOf": [inner, {"type": "null"}]}


@pytest.mark.parametrize("dialect", [ANY, FEW, INLINED], ids=["any", "few", "inlined"])
@pytest.mark.parametrize("around", [_array, _either])
def test_fifty_levels_of_schemas_are_kept(
    dialect: Dialect, around: Callable[[Schema], Schema]
) -> None:
    schema = TEXT
    for _ in range(49):
        schema = around(schema)
    cut = "$ref: the schema contains itself; inside itself it is replaced by any value of its type"
    assert _rendered(dialect, schema)[2] == []
    assert {*_rendered(dialect, around(schema))[2]} == {cut}


def _chain(length: int, last: Schema, **beside: Any) -> Schema:
    chain = {"r0": last}
    for number in range(length):
        chain[f"r{number + 1}"] = {"$ref": f"#/$defs/r{number}", **beside}
    return chain


def test_fifty_references_one_in_another_are_followed() -> None:
    def followed(dialect: Dialect, length: int) -> bool:
        chain = _chain(length, TEXT, minLength=1)
        return not _rendered(dialect, {"$ref": f"#/$defs/r{length}"}, chain)[2]

    assert followed(INLINED, 49)
    assert not followed(INLINED, 50)
    assert followed(ANY, 51)
    assert not followed(ANY, 52)


def test_fifty_references_of_an_alternative_are_followed() -> None:
    """To see whether it excludes another."""
    for length, is_seen in ((49, True), (50, False)):
        either = {"oneOf": [{"const": "b"}, {"$ref": f"#/$defs/r{length}"}]}
        losses = _rendered(FEW, either, _chain(length, {"const": "a"}))[2]
        assert (losses == []) is is_seen


def test_two_thousand_schemas_take_the_place_of_references() -> None:
    for count, is_cut in ((2_000, False), (2_001, True)):
        properties = {f"p{number}": ONE for number in range(count)}
        whole = {"type": "object", "properties": properties, "$defs": DEFINITIONS}
        losses = render_schema(whole, INLINED, "do").losses
        assert bool(losses) is is_cut


def test_twenty_thousand_schemas_are_rendered() -> None:
    for count, is_cut in ((20_000, False), (20_001, True)):
        properties: Schema = {f"p{number}": {} for number in range(count)}
        whole = {"type": "object", "properties": properties}
        assert bool(render_schema(whole, ANY, "do").losses) is is_cut


def test_a_reference_that_names_nothing_is_an_error() -> None:
    schema = {"$ref": "#/nowhere", "description": "x"}
    whole = {"type": "object", "properties": {"a": schema}}
    found = render_schema(whole, FEW, "do")
    assert found.schema["properties"] == {"a": {"description": "x"}}
    assert [(loss.severity, loss.effect) for loss in found.losses] == [
        (Severity.ERROR, Effect.WIDER)
    ]


def test_a_closed_dialect_says_no_schema_that_holds_itself() -> None:
    tree: Schema = {"type": "object", "properties": {"below": {"$ref": "#/$defs/n"}}}
    closed = Dialect(is_closed=True, references=References.INLINED)
    with pytest.raises(InexpressibleError) as refused:
        _rendered(closed, {"$ref": "#/$defs/n"}, {"n": tree})
    assert (refused.value.keyword, refused.value.reason) == ("$ref", "contains itself")


def test_a_loss_below_not_is_neither_wider_nor_narrower() -> None:
    losses = Losses("do")
    losses.add(("a", 0), "x", "gone")
    losses.add(("a", 0), "x", "gone")
    losses.is_reversed = True
    losses.add(("b",), "y", "gone", Effect.WIDER, Severity.WARNING)
    losses.add(("c",), "z", "gone", Effect.WORDS)
    assert [(str(one), one.effect) for one in losses.list_losses()] == [
        ("do /a/0 x note: gone", Effect.WORDS),
        ("do /b y warning: gone", Effect.OTHER),
        ("do /c z note: gone", Effect.WORDS),
    ]


def test_what_is_told_of_what_is_lost() -> None:
    """Texts of four hundred characters, and fields of four thousand."""
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


def test_plain_patterns_look_neither_around_nor_back() -> None:
    plain = Dialect(has_plain_patterns=True)
    kept = ["^a+$", "(?:a)", "a{1}", "\\d", "0", "\\0"]
    lost = ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "a\\b", "a\\B"]
    lost += [f"(a)\\{number}" for number in range(1, 10)]
    for pattern in [*kept, *lost]:
        given = _rendered(plain, {"type": "string", "pattern": pattern})[0]
        assert ("pattern" in given) is (pattern in kept), pattern
        assert "pattern" in _rendered(ANY, {"type": "string", "pattern": pattern})[0]
