"""How much is converted, compared and told: each limit met exactly, and one step beyond it."""

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


def test_a_duration_has_numbers_of_twelve_digits() -> None:
    values = PythonValues({"properties": {"a": {"format": "duration"}}})
    longest = {"a": f"PT{'9' * 12}S"}
    assert values.convert(longest) == {"a": timedelta(seconds=10**12 - 1)}
    assert _problems({"format": "duration"}, f"PT{'9' * 13}S") != []


def test_a_hundred_thousand_values_are_held_against_alternatives() -> None:
    """Each counts at each alternative, and the whole once more."""
    schema = {"anyOf": [{"items": DAY}, {"type": "array"}]}
    assert _problems(schema, [0] * 49_998) == []
    assert _problems(schema, [0] * 49_999) == ["`a` has too many alternatives"]


def test_a_problem_is_told_once() -> None:
    schema = {"items": {"format": "uuid"}}
    assert len(_problems(schema, ["no"] * 10)) == 10
    twice = {"allOf": [{"format": "uuid"}, {"format": "uuid"}]}
    assert _problems(twice, "no") == [
        '`a` must be a UUID (`format: uuid`), such as "0f8fad5b-d9cb-469f-a165-70867728950e"'
    ]


def test_fifty_schemas_of_alternatives_are_compared() -> None:
    def found(members: int) -> int:
        model = {"anyOf": [TEXT] * members}
        said = {"type": "integer"}
        return len(find_mismatches(model, said, is_result=False, has_values=False))

    assert (found(49), found(50)) == (1, 0)


def test_twenty_levels_of_objects_are_compared() -> None:
    def found(levels: int) -> list[str]:
        model: Any = TEXT
        said: Any = {"type": "integer"}
        for _ in range(levels):
            model = {"type": "object", "properties": {"a": model}}
            said = {"type": "object", "properties": {"a": said}}
        return find_mismatches(model, said, is_result=False, has_values=False)

    assert len(found(20)) == 1
    assert found(21) == []


def test_a_condition_that_always_or_never_holds() -> None:
    def found(condition: bool) -> Any:
        schema = {"if": condition, "then": DAY, "else": {"format": "uuid"}}
        values = PythonValues({"properties": {"a": schema}})
        return values.convert({"a": "2026-01-02" if condition else ID})["a"]

    assert found(True) == date(2026, 1, 2)
    assert found(False) == UUID(ID)


def test_a_schema_that_stands_anywhere_is_found_by_its_pointer() -> None:
    either = {"anyOf": [DAY, {"type": "string", "format": "uuid"}]}
    schema = {"properties": {"a": {"$ref": "#/x-own/1/day%20of"}}}
    values = PythonValues({**schema, "x-own": [0, {"day of": either}]})
    assert values.convert({"a": ID}) == {"a": UUID(ID)}
    assert values.convert({"a": "2026-01-02"}) == {"a": date(2026, 1, 2)}


def test_each_alphabet_of_base64_is_its_own() -> None:
    for text in ("A+==", "A/=="):
        assert _problems({"contentEncoding": "base64url"}, text) != []
        assert _problems({"contentEncoding": "base64"}, text.replace("A", "g")) == []
    for text in ("g-==", "g_=="):
        assert _problems({"contentEncoding": "base64"}, text) != []
        assert _problems({"contentEncoding": "base64url"}, text) == []


def test_whole_numbers_are_compared_with_whole_numbers() -> None:
    whole, any_number = {"type": "integer", "enum": [1]}, {
        "type": "number",
        "enum": [2],
    }
    assert find_mismatches(whole, any_number, is_result=True, has_values=False) == []
    assert find_mismatches(any_number, whole, is_result=False, has_values=False) == []
    same = {"type": "integer", "enum": [2]}
    assert find_mismatches(whole, same, is_result=True, has_values=False) != []


def test_ten_disagreements_are_told() -> None:
    names = [f"n{number:02}" for number in range(11)]
    made = type("Made", (BaseModel,), {"__annotations__": dict.fromkeys(names, int)})
    schema = {"properties": dict.fromkeys(names, TEXT), "required": names}
    with pytest.raises(ValueError) as refused:
        ArgumentsModel(made, {"type": "object", **schema}, has_values=False)
    told = str(refused.value).partition("does not match the spec: ")[2].split("; ")
    assert [one[:5] for one in told] == [f"`{name}`" for name in names[:10]]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: list[str] = []

    @field_validator("a")
    @classmethod
    def _refused(cls, value: list[str]) -> list[str]:
        raise ValueError


class _Plain(BaseModel):
    a: str = ""


class _Named(BaseModel):
    a: str = Field(alias="as it is")


def _refused_by(model: ArgumentsModel, arguments: Any) -> list[str]:
    with pytest.raises(ArgumentConversionError) as refused:
        model.build(arguments)
    return list(refused.value.problems)


def test_a_name_that_a_class_has_no_field_for_is_told_in_part() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}}
    model = ArgumentsModel(_Plain, schema, has_values=False)
    assert _refused_by(model, {"x" * 161: 1}) == [f"`{'x' * 160}` is not a parameter"]
    open_schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    taking = ArgumentsModel(_Closed, open_schema, has_values=False)
    assert _refused_by(taking, {"a": ["x"], "more": 1}) == [
        "`a` matches the schema, but the tool's class rejects it"
    ]
    assert _refused_by(taking, {"a": [1, "x"]}) == [
        "`a[0]` matches the schema, but the tool's class rejects it"
    ]
    plain = model.build({"a": "x"})
    assert isinstance(plain, _Plain)
    assert plain.a == "x"


def test_a_result_is_compared_where_it_has_a_schema() -> None:
    for schema in (None, True):
        made = ResultModel(_Plain, schema, has_values=False)
        assert made.dump(_Plain(a="x")) == {"a": "x"}
    named = ResultModel(_Named, {"type": "object"}, has_values=False)
    assert named.dump({"as it is": "x"}) == {"as it is": "x"}
    with pytest.raises(ValueError, match="does not match"):
        ResultModel(_Plain, {"type": "string"}, has_values=False)


def test_bytes_are_written_by_the_first_encoding_of_their_schemas() -> None:
    hexadecimal, plain = {"contentEncoding": "base16"}, {"contentEncoding": "base64"}

    def written(schema: Any, value: Any) -> Any:
        return BytesEncoder({"properties": {"a": schema}}).encode({"a": value})["a"]

    assert written(hexadecimal, b"\xff") == "FF"
    assert written(plain, b"\xff") == b"\xff"
    assert written({"allOf": [plain, hexadecimal]}, bytearray(b"\xff")) == "FF"
    assert written({"items": [plain, hexadecimal]}, (b"\xff", b"\xff", b"\xff")) == [
        b"\xff",
        "FF",
        b"\xff",
    ]
    more = {"items": [plain], "additionalItems": hexadecimal}
    assert written(more, [b"\xff", b"\xff"]) == [b"\xff", "FF"]
    rest = {"prefixItems": [plain], "items": hexadecimal}
    assert written(rest, [b"\xff", b"\xff"]) == [b"\xff", "FF"]
