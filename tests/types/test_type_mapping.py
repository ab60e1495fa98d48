"""The Python type of each kind of schema, and the keywords that it cannot express."""

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


def _type(schema: Schema) -> str:
    """Return the type of a property and, after a bar, the keywords it does not express."""
    root = {"type": "object", "properties": {"a": schema}}
    types = format_tool_types({"mcp": {"name": "try", "inputSchema": root}}, False)
    text = types["TryArguments"]["a"].removeprefix("NotRequired[").removesuffix("]")
    types_ = SchemaTypes(root, "Try")
    member = types_.build_arguments_class("TryArguments").members["a"]
    wider = list(member.wider)
    if isinstance(member.type, ObjectName):
        wider += types_.objects[1].wider
    return f"{text} | {' '.join(wider)}".removesuffix(" | ")


def _object(**keywords: Any) -> Schema:
    return {"type": "object", **keywords}


def _array(**keywords: Any) -> Schema:
    return {"type": "array", **keywords}


def _check(cases: list[tuple[Schema, str]]) -> None:
    assert [_type(schema) for schema, _ in cases] == [text for _, text in cases]


def test_each_json_type_has_a_python_type() -> None:
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


def test_enum_and_const_are_typed_as_literals() -> None:
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


def test_alternatives_are_typed_as_unions() -> None:
    nested: Schema = {"anyOf": [S, I]}
    for inner in ("boolean", "null"):
        nested = {"anyOf": [nested, {"type": inner}]}
    _check(
        [
            ({"anyOf": [S, I]}, "str | int"),
            ({"oneOf": [S, I]}, "str | int"),
            ({"anyOf": [S, {"enum": ["a"]}]}, "str"),
            ({"anyOf": [I, {"enum": [1, 2]}]}, "int"),
            ({"anyOf": [I, {"enum": ["a"]}]}, "int | Literal['a']"),
            ({"anyOf": [{"const": 1}, {"const": True}]}, "Literal[1, True]"),
            ({"anyOf": [{"const": "a"}, I, {"const": "b"}]}, "Literal['a', 'b'] | int"),
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
            (nested, "str | int | bool | None"),
        ]
    )


def test_arrays_are_typed_as_sequences() -> None:
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


def test_objects_are_typed_as_classes_or_mappings() -> None:
    by_pattern = {"a": S}
    _check(
        [
            (_object(), "Mapping[str, Any]"),
            (_object(additionalProperties=S), "Mapping[str, str]"),
            (_object(patternProperties=by_pattern), "Mapping[str, Any]"),
            (
                _object(patternProperties=by_pattern, additionalProperties=False),
                "Mapping[str, str]",
            ),
            (
                _object(patternProperties=by_pattern, additionalProperties=I),
                "Mapping[str, str | int]",
            ),
            (
                _object(additionalProperties=S, allOf=[{"additionalProperties": I}]),
                "Mapping[str, Any]",
            ),
            (
                _object(additionalProperties=S, allOf=[{"required": []}]),
                "Mapping[str, str]",
            ),
            (
                _object(
                    allOf=[{"patternProperties": by_pattern, "additionalProperties": I}]
                ),
                "Mapping[str, Any]",
            ),
            (_object(required=[]), "Mapping[str, Any]"),
            ({"type": "object", "not": {}}, "Mapping[str, Any] | not"),
            (K, "TryA"),
            (_object(required=["k"]), "TryA"),
            ({**K, "type": ["object", "null"]}, "TryA | None"),
            ({**K, "additionalProperties": S}, "TryA | additionalProperties"),
            ({**K, "additionalProperties": {}}, "TryA"),
            ({**K, "additionalProperties": False}, "TryA"),
            ({**K, "patternProperties": by_pattern}, "TryA | patternProperties"),
            ({**K, "patternProperties": {}}, "TryA"),
            ({**K, "not": {}}, "TryA | not"),
            (_object(properties={"in": {"$ref": "#/properties/a"}}), "TryA"),
        ]
    )


def test_class_members_are_required_only_if_their_names_are_in_required() -> None:
    root = {
        "properties": {"a": S, "b": {"enum": [1]}, "c": S, "d": {"enum": [2]}},
        "required": ["a", "b", "x", 7],
        "oneOf": [{"properties": {"y": S}}],
    }
    class_ = SchemaTypes(root, "Try").build_arguments_class("TryArguments")
    assert class_.members == {
        "a": Member(NamedType("str"), True),
        "b": Member(Choice((1,)), True),
        "c": Member(NamedType("str"), False),
        "d": Member(Choice((2,)), False),
        "x": Member(ANY, True),
        "y": Member(ANY, False),
    }
    assert class_.wider == ("oneOf",)


WRAPPERS: list[tuple[str, Any]] = [
    ("items", lambda inner: _array(items=inner)),
    ("first items", lambda inner: _array(prefixItems=[inner], items=False)),
    ("any member", lambda inner: _object(additionalProperties=inner)),
    (
        "members by pattern",
        lambda inner: _object(
            patternProperties={"a": inner}, additionalProperties=False
        ),
    ),
    ("members", lambda inner: _object(properties={"k": inner, "x": I})),
]


@pytest.mark.parametrize(
    ("keyword", "wrap"), WRAPPERS, ids=[name for name, _ in WRAPPERS]
)
def test_types_are_built_up_to_24_levels(keyword: str, wrap: Any) -> None:
    """Schemas on deeper levels are typed as Any."""

    def list_types(levels: int, schema: Schema) -> list[str]:
        for _ in range(levels):
            schema = wrap(schema)
        root = {"type": "object", "properties": {"a": schema}}
        types = format_tool_types({"mcp": {"name": "try", "inputSchema": root}}, False)
        return re.findall(r"\bstr\b(?!,)|Any|\[1\]", str(types["TryArguments"])) + [
            text
            for name, fields in types.items()
            if name.startswith("TryA") and name != "TryArguments"
            for text in re.findall(r"\bstr\b(?!,)|Any|\[1\]", fields.get("k", ""))
        ]

    assert list_types(23, S) == ["str"]
    assert list_types(24, S) == ["Any"]
    assert list_types(23, {"enum": [1]}) == ["[1]"]
    assert list_types(24, {"enum": [1]}) == ["Any"]


def test_properties_with_equal_schemas_have_the_same_type_or_class() -> None:
    loose: Schema = {"type": "string", "not": {}}
    types = SchemaTypes({"properties": {"a": loose, "b": loose, "c": K, "d": K}}, "Try")
    members = types.build_arguments_class("TryArguments").members
    assert members["a"] == members["b"] == Member(NamedType("str"), False, ("not",))
    assert members["c"] == members["d"] == Member(ObjectName("TryC"), False)


def test_root_class_has_the_given_name_only_if_the_root_is_no_union() -> None:
    for kinds, name in (("object", "GetResult"), (["object", "null"], "Get")):
        types = SchemaTypes({**K, "type": kinds}, "Get")
        assert types.build_type("GetResult")[1] == ()
        assert [class_.name for class_ in types.objects] == [name]


def test_types_are_built_for_up_to_20000_schemas() -> None:
    """Schemas above this limit are typed as Any."""

    def last_member(count: int, last: Schema) -> Member:
        parts: Schema = {f"p{n}": S for n in range(count)}
        root = {"properties": {**parts, "last": last}}
        types = SchemaTypes(root, "Try")
        return types.build_arguments_class("TryArguments").members["last"]

    text, unresolved = Member(NamedType("str"), False), Member(ANY, False, ("$ref",))
    assert last_member(19_997, {"allOf": [S]}) == text
    assert last_member(19_998, {"allOf": [S]}) == unresolved
    assert last_member(19_998, S) == last_member(19_998, {"type": ["string"]}) == text
    assert last_member(19_999, S) == unresolved


def test_classes_with_the_same_name_are_numbered() -> None:
    root = {
        "properties": {"a b": K, "a-b": K | {"title": "B"}, "a_b": K | {"title": "C"}}
    }
    types = SchemaTypes(root, "Try", ["TryAB"])
    types.build_arguments_class("TryArguments")
    names = [class_.name for class_ in types.objects]
    assert names == ["TryArguments", "TryAB2", "TryAB3", "TryAB4"]


def test_alternative_classes_are_named_by_their_distinguishing_property() -> None:
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
    assert [class_.name for class_ in types.objects] == [
        "TryArguments",
        "TryShapeCircle",
        "TryShapeOption2",
        "TryLine",
        "TryPairItem",
        "TryPairItem1",
        "TryMapValue",
    ]


def test_union_contains_each_type_once() -> None:
    text, integer, number = map(NamedType, ("str", "int", "float"))
    literal_1, true_ = Choice((1,)), Choice((True,))
    assert literal_1 != true_
    assert literal_1 == Choice((1,))
    assert hash(literal_1) == hash(Choice((1,)))
    assert make_union([]) == ANY
    assert make_union([text]) == text
    assert make_union([text, text]) == text
    assert make_union([text, ANY]) == ANY
    assert make_union([OneOf((text, integer)), integer]) == OneOf((text, integer))
    assert make_union([integer, number]) == number
    assert make_union([literal_1, integer]) == integer
    assert make_union([literal_1, text]) == OneOf((literal_1, text))
    assert make_union([Choice(("a", 1)), text, integer]) == OneOf(
        (Choice(("a", 1)), text, integer)
    )
    assert make_union([literal_1, text, true_]) == OneOf((Choice((1, True)), text))
    assert make_union([literal_1, Choice((1, 2))]) == Choice((1, 2))


def test_union_tag_is_a_constant_string_property() -> None:
    assert find_tag({"properties": {"n": {"const": 1}, "k": {"const": "x"}}}) == "x"
    assert find_tag({"properties": {"k": True}}) == ""
    assert find_tag({"properties": ["k"]}) == ""
    assert find_tag(True) == ""


def test_class_names_are_derived_from_tool_and_property_names() -> None:
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


def test_is_keyword_argument_is_true_only_for_ascii_identifiers() -> None:
    """Except for Python keywords, `self`, and names with two leading underscores."""
    names = ["a", "é", "a-b", "class", "__a", "_a", "self", "selves"]
    assert list(filter(is_keyword_argument, names)) == ["a", "_a", "selves"]


def _may_be_converted(schema: Schema, *visited_keywords: str, **root: Any) -> bool:
    texts = ConditionalTexts({"allOf": [schema], **root})
    left = frozenset((id(schema), keyword) for keyword in visited_keywords)
    return texts.may_be(SchemaNode((schema,), 0, (), left))


def test_string_may_be_converted_if_a_conditional_schema_has_a_format() -> None:
    """Such as a subschema in `then`, `else`, `anyOf` or `dependentSchemas`."""
    assert not _may_be_converted(DAY)
    assert not _may_be_converted({"allOf": [DAY]})
    assert not _may_be_converted({"if": DAY})
    assert _may_be_converted({"if": {}, "then": DAY})
    assert _may_be_converted({"if": {}, "else": DAY})
    assert _may_be_converted({"if": {}, "then": {"allOf": [DAY]}})
    assert _may_be_converted(
        {"if": {}, "then": {"$ref": "#/$defs/day"}}, **{"$defs": {"day": DAY}}
    )
    assert _may_be_converted({"dependentSchemas": {"x": DAY}})
    assert _may_be_converted({"dependencies": {"x": DAY}})
    for keyword in ("anyOf", "oneOf"):
        assert _may_be_converted({keyword: [S, DAY]})
        assert not _may_be_converted({keyword: [S, S]})
        assert not _may_be_converted({keyword: [S, DAY]}, keyword)
        assert _may_be_converted({keyword: [S, DAY], "if": {}, "then": DAY}, keyword)
    assert _may_be_converted({"anyOf": [DAY], "oneOf": [DAY]}, "anyOf")


def test_conditional_texts_have_their_format_in_then_or_a_pattern() -> None:
    then = {"properties": {"a": DAY, "b": S}}
    schema: Schema = {
        "properties": {"a": S, "b": S, "c": DAY, "d_day": S},
        "patternProperties": {"_day$": DAY},
        "then": then,
    }
    texts = ConditionalTexts(schema)
    node = SchemaNode((schema,), 0, ())
    assert list(texts.members(node, ["a", "b", "c", "d_day"])) == ["a", "d_day"]
    assert list(texts.members(SchemaNode((), 0, ()), ["a"])) == []
