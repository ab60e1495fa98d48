"""Limits of conversion, comparison and messages: each at its maximum and one above."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from toolcast_runtime.core.context import ArgumentConversionError
from toolcast_runtime.values.model_comparison import find_mismatches
from toolcast_runtime.values.models import ArgumentsModel, ResultModel
from toolcast_runtime.values.python_values import BytesEncoder, PythonValues

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}


def _problems(schema: Any, value: Any) -> list[str]:
    try:
        PythonValues({"properties": {"a": schema}}).convert({"a": value})
    except ArgumentConversionError as refused:
        return list(refused.problems)
    return []


def test_number_in_an_iso_8601_duration_argument_has_at_most_12_digits() -> None:
    values = PythonValues({"properties": {"a": {"format": "duration"}}})
    longest = {"a": f"PT{'9' * 12}S"}
    assert values.convert(longest) == {"a": timedelta(seconds=10**12 - 1)}
    assert _problems({"format": "duration"}, f"PT{'9' * 13}S") != []


def test_conversion_compares_at_most_100000_values_with_anyof_alternatives() -> None:
    """Each value counts once per alternative, and the whole value once more."""
    schema = {"anyOf": [{"items": DAY}, {"type": "array"}]}
    assert _problems(schema, [0] * 49_998) == []
    assert _problems(schema, [0] * 49_999) == ["`a` has too many alternatives"]


def test_argument_that_violates_a_format_twice_in_allof_is_reported_once() -> None:
    schema = {"items": {"format": "uuid"}}
    assert len(_problems(schema, ["no"] * 10)) == 10
    twice = {"allOf": [{"format": "uuid"}, {"format": "uuid"}]}
    assert _problems(twice, "no") == [
        '`a` must be a UUID (`format: uuid`), such as "0f8fad5b-d9cb-469f-a165-70867728950e"'
    ]


def test_handler_class_anyof_is_compared_only_below_50_alternatives() -> None:
    def count_mismatches(members: int) -> int:
        model = {"anyOf": [TEXT] * members}
        spec = {"type": "integer"}
        return len(find_mismatches(model, spec, is_result=False, has_values=False))

    assert (count_mismatches(49), count_mismatches(50)) == (1, 0)


def test_handler_class_and_spec_objects_are_compared_up_to_20_nesting_levels() -> None:
    def list_mismatches(levels: int) -> list[str]:
        model: Any = TEXT
        spec: Any = {"type": "integer"}
        for _ in range(levels):
            model = {"type": "object", "properties": {"a": model}}
            spec = {"type": "object", "properties": {"a": spec}}
        return find_mismatches(model, spec, is_result=False, has_values=False)

    assert len(list_mismatches(20)) == 1
    assert list_mismatches(21) == []


def test_boolean_if_schema_selects_then_or_else_for_the_conversion() -> None:
    def convert(condition: bool) -> Any:
        schema = {"if": condition, "then": DAY, "else": {"format": "uuid"}}
        values = PythonValues({"properties": {"a": schema}})
        return values.convert({"a": "2026-01-02" if condition else ID})["a"]

    assert convert(True) == date(2026, 1, 2)
    assert convert(False) == UUID(ID)


def test_ref_into_an_unknown_schema_keyword_is_resolved_for_the_conversion() -> None:
    either = {"anyOf": [DAY, {"type": "string", "format": "uuid"}]}
    schema = {"properties": {"a": {"$ref": "#/x-own/1/day%20of"}}}
    values = PythonValues({**schema, "x-own": [0, {"day of": either}]})
    assert values.convert({"a": ID}) == {"a": UUID(ID)}
    assert values.convert({"a": "2026-01-02"}) == {"a": date(2026, 1, 2)}


def test_base64_argument_with_base64url_characters_is_rejected_and_vice_versa() -> None:
    for text in ("A+==", "A/=="):
        assert _problems({"contentEncoding": "base64url"}, text) != []
        assert _problems({"contentEncoding": "base64"}, text.replace("A", "g")) == []
    assert _problems({"contentEncoding": "base64"}, "AAAA!!!!") != []
    for text in ("g-==", "g_=="):
        assert _problems({"contentEncoding": "base64"}, text) != []
        assert _problems({"contentEncoding": "base64url"}, text) == []


def test_enums_are_not_compared_if_one_is_integer_and_one_is_number() -> None:
    whole = {"type": "integer", "enum": [1]}
    any_number = {"type": "number", "enum": [2]}
    assert find_mismatches(whole, any_number, is_result=True, has_values=False) == []
    assert find_mismatches(any_number, whole, is_result=False, has_values=False) == []
    same = {"type": "integer", "enum": [2]}
    assert find_mismatches(whole, same, is_result=True, has_values=False) != []


def test_at_most_10_mismatches_between_arguments_type_and_spec_are_reported() -> None:
    names = [f"n{number:02}" for number in range(11)]
    model = type("Made", (BaseModel,), {"__annotations__": dict.fromkeys(names, int)})
    schema = {"properties": dict.fromkeys(names, TEXT), "required": names}
    with pytest.raises(ValueError) as refused:
        ArgumentsModel(model, {"type": "object", **schema}, has_values=False)
    messages = str(refused.value).partition("does not match the spec: ")[2].split("; ")
    assert [message[:5] for message in messages] == [f"`{name}`" for name in names[:10]]


class _Rejecting(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: list[str] = []

    @field_validator("a")
    @classmethod
    def _reject(cls, value: list[str]) -> list[str]:
        raise ValueError


class _Plain(BaseModel):
    a: str = ""


class _Named(BaseModel):
    a: str = Field(alias="as it is")


def _build_and_list_problems(model: ArgumentsModel, arguments: Any) -> list[str]:
    with pytest.raises(ArgumentConversionError) as refused:
        model.build(arguments)
    return list(refused.value.problems)


def test_rejected_argument_name_is_cut_at_160_characters() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}}
    model = ArgumentsModel(_Plain, schema, has_values=False)
    assert _build_and_list_problems(model, {"x" * 161: 1}) == [
        f"`{'x' * 160}` is not a parameter"
    ]
    open_schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    taking = ArgumentsModel(_Rejecting, open_schema, has_values=False)
    assert _build_and_list_problems(taking, {"a": ["x"], "more": 1}) == [
        "`a` matches the schema, but the tool's class rejects it"
    ]
    assert _build_and_list_problems(taking, {"a": [1, "x"]}) == [
        "`a[0]` matches the schema, but the tool's class rejects it"
    ]
    plain = model.build({"a": "x"})
    assert isinstance(plain, _Plain)
    assert plain.a == "x"


def test_result_type_is_not_compared_with_a_missing_or_boolean_returns_schema() -> None:
    for schema in (None, True):
        made = ResultModel(_Plain, schema, has_values=False)
        assert made.dump(_Plain(a="x")) == {"a": "x"}
    named = ResultModel(_Named, {"type": "object"}, has_values=False)
    assert named.dump({"as it is": "x"}) == {"as it is": "x"}
    with pytest.raises(ValueError, match="does not match"):
        ResultModel(_Plain, {"type": "string"}, has_values=False)


def test_result_bytes_use_the_first_content_encoding_other_than_base64() -> None:
    hexadecimal, plain = {"contentEncoding": "base16"}, {"contentEncoding": "base64"}

    def encode(schema: Any, value: Any) -> Any:
        return BytesEncoder({"properties": {"a": schema}}).encode({"a": value})["a"]

    assert encode(hexadecimal, b"\xff") == "FF"
    assert encode(plain, b"\xff") == b"\xff"
    assert encode({"allOf": [plain, hexadecimal]}, bytearray(b"\xff")) == "FF"
    assert encode({"items": [plain, hexadecimal]}, (b"\xff", b"\xff", b"\xff")) == [
        b"\xff",
        "FF",
        b"\xff",
    ]
    more = {"items": [plain], "additionalItems": hexadecimal}
    assert encode(more, [b"\xff", b"\xff"]) == [b"\xff", "FF"]
    prefixed = {"prefixItems": [plain], "items": hexadecimal}
    assert encode(prefixed, [b"\xff", b"\xff"]) == [b"\xff", "FF"]
