"""The type of each kind of schema, and the keywords that it does not say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from toolcast_runtime.values.annotated_types import (
    ANY,
    Choice,
    ConditionalTexts,
    Member,
    NamedType,
    ObjectName,
    OneOf,
    SchemaNode,
    class_name,
    find_tag,
    is_keyword_argument,
    make_union,
    nested_class_name,
)
from toolcast_runtime.values.schema_types import SchemaTypes
from toolcast_runtime.values.tool_types import format_tool_types

Schema = Any
S: Schema = {"type": "string"}
I: Schema = {"type": "integer"}  # noqa: E741
N: Schema = {"type": "null"}
K: Schema = {"type": "object", "properties": {"k": S}}
DAY: Schema = {"type": "string", "format": "date"}


def _said(schema: Schema) -> str:
    """The type of a property, and after a bar what it is wider than."""
    whole = {"type": "object", "properties": {"a": schema}}
    types = format_tool_types({"mcp": {"name": "try", "inputSchema": whole}}, False)
    text = types["TryArguments"]["a"].removeprefix("NotRequired[").removesuffix("]")
    found = SchemaTypes(whole, "Try")
    member = found.build_arguments_class("TryArguments").members["a"]
    wider = list(member.wider)
    if isinstance(member.type, ObjectName):
        wider += found.objects[1].wider
    return f"{text} | {' '.join(wider)}".removesuffix(" | ")


def _objects(**keywords: Any) -> Schema:
    return {"type": "object", **keywords}


def _array(**keywords: Any) -> Schema:
    return {"type": "array", **keywords}


def _check(cases: list[tuple[Schema, str]]) -> None:
    assert [_said(schema) for schema, _ in cases] == [text for _, text in cases]


def test_the_kinds_of_a_value() -> None:
    _check(
        [
            ({}, "Any"),
            (True, "Any"),
            (False, "Any"),
            (S, "str"),
            ({"type": ["string", "null"]}, "str | None"),
            ({"type": ["integer", "number"]}, "float"),
            ({"type": ["string", 7, "x"]}, "str"),
            ({"type": 7}, "Any | type"),
            ({"type": ["x"]}, "Any | type"),
            ({"type": "number", "allOf": [I]}, "int"),
            ({"type": "integer", "allOf": [{"type": "number"}]}, "int"),
            ({"type": ["integer", "string"], "allOf": [{"type": "number"}]}, "int"),
            ({"allOf": [S, I]}, "Any | type"),
            ({"allOf": [{"type": "string", "minLength": 2}], "minLength": 1}, "str"),
            ({"type": "string", "not": {}}, "str | not"),
            ({"not": {}}, "Any | not"),
            ({"items": S}, "Any | items"),
            ({"properties": {"k": S}}, "Any | properties"),
            ({"$ref": "#/nowhere"}, "Any | $ref"),
        ]
    )


def test_the_values_that_are_listed() -> None:
    _check(
        [
            ({"enum": ["a", "a", 1, True, None]}, "Literal['a', 1, True] | None"),
            ({"enum": [None]}, "None"),
            ({"enum": [1.5]}, "float | enum"),
            ({"enum": [2**63, 1]}, "int | enum"),
            (
                {"enum": [[1], {"a": 1}, "x"]},
                "Literal['x'] | Sequence[Any] | Mapping[str, Any] | enum",
            ),
            ({"const": 1, "enum": [1, 2]}, "Literal[1]"),
            ({"enum": "a", "type": "string"}, "str"),
            ({"allOf": [S, {"enum": ["a"]}]}, "Literal['a']"),
        ]
    )


def test_one_of_several_schemas() -> None:
    deep: Schema = {"anyOf": [S, I]}
    for inner in ("boolean", "null"):
        deep = {"anyOf": [deep, {"type": inner}]}
    _check(
        [
            ({"anyOf": [S, I]}, "str | int"),
            ({"oneOf": [S, I]}, "str | int"),
            ({"anyOf": [S, {"enum": ["a"]}]}, "str"),
            ({"anyOf": [I, {"enum": [1, 2]}]}, "int"),
            ({"anyOf": [I, {"enum": ["a"]}]}, "int | Literal['a']"),
            ({"anyOf": [{"const": 1}, {"const": True}]}, "Literal[1, True]"),
            (
                {"anyOf": [{"const": "a"}, I, {"const": "b"}]},
                "Literal['a', 'b'] | int",
            ),
            ({"anyOf": [S, {}]}, "Any"),
            ({"anyOf": [{"type": "number"}, I]}, "float"),
            ({"anyOf": []}, "Any"),
            ({"type": "string", "anyOf": [{"minLength": 1}]}, "str | anyOf"),
            (
                {"anyOf": [{"minLength": 1}], "oneOf": [{"const": "a"}]},
                "Literal['a'] | anyOf",
            ),
            (
                {"anyOf": [S, I], "oneOf": [{"const": "a"}, {"const": 1}]},
                "Literal['a', 1] | oneOf",
            ),
            (deep, "str | int | bool | None"),
        ]
    )


def test_the_items_of_arrays() -> None:
    _check(
        [
            (_array(), "Sequence[Any]"),
            (_array(items=S), "Sequence[str]"),
            (_array(items=[S, I]), "Sequence[Any]"),
            (_array(items=[S, I], additionalItems=False), "Sequence[str | int]"),
            (
                _array(items=[S], additionalItems=I),
                "Sequence[str | int] | additionalItems",
            ),
            (_array(prefixItems=[S, I]), "Sequence[Any] | prefixItems"),
            (_array(prefixItems=[S], items=False), "Sequence[str] | prefixItems"),
            (_array(prefixItems=[S], items=I), "Sequence[str | int] | prefixItems"),
            (_array(prefixItems=[]), "Sequence[Any]"),
            (_array(items={"$ref": "#/properties/a"}), "Sequence[Any] | $ref"),
        ]
    )


def test_the_members_of_objects() -> None:
    by_pattern = {"a": S}
    _check(
        [
            (_objects(), "Mapping[str, Any]"),
            (_objects(additionalProperties=S), "Mapping[str, str]"),
            (_objects(patternProperties=by_pattern), "Mapping[str, Any]"),
            (
                _objects(patternProperties=by_pattern, additionalProperties=False),
                "Mapping[str, str]",
            ),
            (
                _objects(patternProperties=by_pattern, additionalProperties=I),
                "Mapping[str, str | int]",
            ),
            (
                _objects(additionalProperties=S, allOf=[{"additionalProperties": I}]),
                "Mapping[str, Any]",
            ),
            (
                _objects(additionalProperties=S, allOf=[{"required": []}]),
                "Mapping[str, str]",
            ),
            (
                _objects(
                    allOf=[{"patternProperties": by_pattern, "additionalProperties": I}]
                ),
                "Mapping[str, Any]",
            ),
            (_objects(required=[]), "Mapping[str, Any]"),
            ({"type": "object", "not": {}}, "Mapping[str, Any] | not"),
            (K, "TryA"),
            (_objects(required=["k"]), "TryA"),
            ({**K, "type": ["object", "null"]}, "TryA | None"),
            ({**K, "additionalProperties": S}, "TryA | additionalProperties"),
            ({**K, "additionalProperties": {}}, "TryA"),
            ({**K, "additionalProperties": False}, "TryA"),
            ({**K, "patternProperties": by_pattern}, "TryA | patternProperties"),
            ({**K, "patternProperties": {}}, "TryA"),
            ({**K, "not": {}}, "TryA | not"),
            (_objects(properties={"in": {"$ref": "#/properties/a"}}), "TryA"),
        ]
    )


def test_what_is_required_is_told_of_each_member() -> None:
    root = {
        "properties": {"a": S, "b": {"enum": [1]}, "c": S, "d": {"enum": [2]}},
        "required": ["a", "b", "x", 7],
        "oneOf": [{"properties": {"y": S}}],
    }
    made = SchemaTypes(root, "Try").build_arguments_class("TryArguments")
    assert made.members == {
        "a": Member(NamedType("str"), True),
        "b": Member(Choice((1,)), True),
        "c": Member(NamedType("str"), False),
        "d": Member(Choice((2,)), False),
        "x": Member(ANY, True),
        "y": Member(ANY, False),
    }
    assert made.wider == ("oneOf",)


AROUND: list[tuple[str, Any]] = [
    ("items", lambda inner: _array(items=inner)),
    ("first items", lambda inner: _array(prefixItems=[inner], items=False)),
    ("any member", lambda inner: _objects(additionalProperties=inner)),
    (
        "members by pattern",
        lambda inner: _objects(
            patternProperties={"a": inner}, additionalProperties=False
        ),
    ),
    ("members", lambda inner: _objects(properties={"k": inner, "x": I})),
]


@pytest.mark.parametrize(("where", "around"), AROUND, ids=[name for name, _ in AROUND])
def test_types_are_twenty_four_levels_deep(where: str, around: Any) -> None:
    """What is deeper is anything."""

    def found(levels: int, schema: Schema) -> list[str]:
        for _ in range(levels):
            schema = around(schema)
        whole = {"type": "object", "properties": {"a": schema}}
        types = format_tool_types({"mcp": {"name": "try", "inputSchema": whole}}, False)
        return re.findall(r"\bstr\b(?!,)|Any|\[1\]", str(types["TryArguments"])) + [
            text
            for name, fields in types.items()
            if name.startswith("TryA") and name != "TryArguments"
            for text in re.findall(r"\bstr\b(?!,)|Any|\[1\]", fields.get("k", ""))
        ]

    assert found(23, S) == ["str"]
    assert found(24, S) == ["Any"]
    assert found(23, {"enum": [1]}) == ["[1]"]
    assert found(24, {"enum": [1]}) == ["Any"]


def test_the_same_schema_says_the_same_wherever_it_stands() -> None:
    loose: Schema = {"type": "string", "not": {}}
    types = SchemaTypes({"properties": {"a": loose, "b": loose, "c": K, "d": K}}, "Try")
    members = types.build_arguments_class("TryArguments").members
    assert members["a"] == members["b"] == Member(NamedType("str"), False, ("not",))
    assert members["c"] == members["d"] == Member(ObjectName("TryC"), False)


def test_the_class_of_a_whole_has_its_name_where_it_is_all_of_it() -> None:
    for kinds, name in (("object", "GetResult"), (["object", "null"], "Get")):
        types = SchemaTypes({**K, "type": kinds}, "Get")
        assert types.build_type("GetResult")[1] == ()
        assert [one.name for one in types.objects] == [name]


def test_twenty_thousand_schemas_are_looked_at() -> None:
    """What is not resolved by then is anything."""

    def found(plain: int, last: Schema) -> Member:
        parts: Schema = {f"p{n}": S for n in range(plain)}
        root = {"properties": {**parts, "last": last}}
        types = SchemaTypes(root, "Try")
        return types.build_arguments_class("TryArguments").members["last"]

    text, unresolved = Member(NamedType("str"), False), Member(ANY, False, ("$ref",))
    assert found(19_997, {"allOf": [S]}) == text
    assert found(19_998, {"allOf": [S]}) == unresolved
    assert found(19_998, S) == found(19_998, {"type": ["string"]}) == text
    assert found(19_999, S) == unresolved


def test_classes_of_one_name_are_numbered() -> None:
    root = {
        "properties": {"a b": K, "a-b": K | {"title": "B"}, "a_b": K | {"title": "C"}}
    }
    types = SchemaTypes(root, "Try", ["TryAB"])
    types.build_arguments_class("TryArguments")
    names = [one.name for one in types.objects]
    assert names == ["TryArguments", "TryAB2", "TryAB3", "TryAB4"]


def test_classes_are_called_after_what_tells_them_apart() -> None:
    shapes = [
        {"type": "object", "properties": {"kind": {"const": "circle"}}},
        {"type": "object", "properties": {"size": S}},
        {"$ref": "#/$defs/line"},
    ]
    root = {
        "properties": {
            "shape": {"oneOf": shapes},
            "pair": {"type": "array", "prefixItems": [K], "items": {**K, "title": "a"}},
            "map": {"type": "object", "additionalProperties": {**K, "title": "b"}},
        },
        "$defs": {"line": {"type": "object", "properties": {"to": S}}},
    }
    types = SchemaTypes(root, "Try")
    types.build_arguments_class("TryArguments")
    assert [one.name for one in types.objects] == [
        "TryArguments",
        "TryShapeCircle",
        "TryShapeOption2",
        "TryLine",
        "TryPairItem",
        "TryPairItem1",
        "TryMapValue",
    ]


def test_a_type_of_several_is_each_once() -> None:
    text, whole, number, one, yes = (
        NamedType("str"),
        NamedType("int"),
        NamedType("float"),
        Choice((1,)),
        Choice((True,)),
    )
    assert one != yes
    assert one == Choice((1,))
    assert hash(one) == hash(Choice((1,)))
    assert make_union([]) == ANY
    assert make_union([text]) == text
    assert make_union([text, text]) == text
    assert make_union([text, ANY]) == ANY
    assert make_union([OneOf((text, whole)), whole]) == OneOf((text, whole))
    assert make_union([whole, number]) == number
    assert make_union([one, whole]) == whole
    assert make_union([one, text]) == OneOf((one, text))
    assert make_union([Choice(("a", 1)), text, whole]) == OneOf(
        (Choice(("a", 1)), text, whole)
    )
    assert make_union([one, text, yes]) == OneOf((Choice((1, True)), text))
    assert make_union([one, Choice((1, 2))]) == Choice((1, 2))


def test_a_constant_text_tells_a_member_of_a_union() -> None:
    assert find_tag({"properties": {"n": {"const": 1}, "k": {"const": "x"}}}) == "x"
    assert find_tag({"properties": {"k": True}}) == ""
    assert find_tag({"properties": ["k"]}) == ""
    assert find_tag(True) == ""


def test_names_of_classes() -> None:
    assert class_name("delegate_task") == "DelegateTask"
    assert class_name("2fa") == "Tool2fa"
    assert class_name("none") == "ToolNone"
    assert class_name("-") == "Tool"
    assert class_name("x" * 48) == "X" + "x" * 47
    assert class_name("x" * 49) == "X" + "x" * 39 + "55bb9823"
    assert (
        nested_class_name("Find", ["filter", "price range"]) == "FindFilterPriceRange"
    )
    assert nested_class_name("Find", ["x" * 62]) == "FindX" + "x" * 61
    assert nested_class_name("Find", ["x" * 63]) == "FindX" + "x" * 53 + "75220b47"


def test_parameters_that_are_keyword_arguments() -> None:
    names = ["a", "é", "a-b", "class", "__a", "_a", "self", "selves"]
    assert list(filter(is_keyword_argument, names)) == ["a", "_a", "selves"]


def _may_be(schema: Schema, *followed: str, **root: Any) -> bool:
    texts = ConditionalTexts({"allOf": [schema], **root})
    left = frozenset((id(schema), keyword) for keyword in followed)
    return texts.may_be(SchemaNode((schema,), 0, (), left))


def test_texts_that_are_converted_in_some_cases() -> None:
    assert not _may_be(DAY)
    assert not _may_be({"allOf": [DAY]})
    assert not _may_be({"if": DAY})
    assert _may_be({"if": {}, "then": DAY})
    assert _may_be({"if": {}, "else": DAY})
    assert _may_be({"if": {}, "then": {"allOf": [DAY]}})
    assert _may_be(
        {"if": {}, "then": {"$ref": "#/$defs/day"}}, **{"$defs": {"day": DAY}}
    )
    assert _may_be({"dependentSchemas": {"x": DAY}})
    assert _may_be({"dependencies": {"x": DAY}})
    for keyword in ("anyOf", "oneOf"):
        assert _may_be({keyword: [S, DAY]})
        assert not _may_be({keyword: [S, S]})
        assert not _may_be({keyword: [S, DAY]}, keyword)
        assert _may_be({keyword: [S, DAY], "if": {}, "then": DAY}, keyword)
    assert _may_be({"anyOf": [DAY], "oneOf": [DAY]}, "anyOf")


def test_members_that_are_converted_in_some_cases() -> None:
    then = {"properties": {"a": DAY, "b": S}}
    schema: Schema = {
        "properties": {"a": S, "b": S, "c": DAY, "d_day": S},
        "patternProperties": {"_day$": DAY},
        "then": then,
    }
    texts = ConditionalTexts(schema)
    place = SchemaNode((schema,), 0, ())
    assert list(texts.members(place, ["a", "b", "c", "d_day"])) == ["a", "d_day"]
    assert list(texts.members(SchemaNode((), 0, ()), ["a"])) == []
