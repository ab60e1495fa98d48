"""What a tool's module says of its types: handler, call and result, one kind after another."""

from __future__ import annotations

from typing import Any

from toolcast_runtime.values.tool_types import (
    RESERVED_NAMES,
    build_tool_types,
    format_tool_types,
)

Schema = dict[str, Any]
S: Schema = {"type": "string"}
DAY: Schema = {"type": "string", "format": "date"}
K: Schema = {"type": "object", "properties": {"k": S}}
P: Schema = {"type": "object", "properties": {"b": S, "a": S}, "required": ["a"]}
Q: Schema = {"type": "object", "properties": {"a-b": S}}
V: Schema = {"type": "object", "properties": {"at": DAY}, "required": ["at"]}
NONE: Schema = {"type": "object", "properties": {}}


def _said(
    takes: Schema = NONE, gives: Any = None, *, has_clients: bool = False, **more: Any
) -> dict[str, Any]:
    mcp = {"name": "get_it", "inputSchema": takes}
    if gives is not None:
        mcp["outputSchema"] = gives
    return format_tool_types({"mcp": mcp, **more}, has_clients)


def test_what_a_handler_takes() -> None:
    def taken(takes: Schema, **more: Any) -> str:
        return str(_said(takes, **more)["__call__"][0])

    assert taken(NONE) == "self, /"
    assert taken(NONE, uses=["db"]) == "self, /, *, db"
    assert taken(P) == "self, /, *, a: str, b: str=..."
    assert taken(P, uses=["db"]) == "self, /, *, a: str, b: str=..., db"
    assert taken(Q) == "self, arguments: GetItArguments, /"
    assert taken(Q, uses=["arguments", "db"]) == (
        "self, arguments_: GetItArguments, /, *, arguments, db"
    )
    assert taken(V) == "self, /, *, at: str"
    assert taken(V, values="python") == "self, /, *, at: date"
    assert taken(P, arguments_type="m:Args") == "self, arguments: m.Args, /"


def test_what_a_call_is_sent() -> None:
    whole = _said(P)
    assert whole["call"] == [
        "**arguments: Unpack[GetItArguments]",
        "Coroutine[Any, Any, Any]",
        "from ..registry import REGISTRY",
        "response = REGISTRY.call_tool('get_it', arguments)",
        "return tool_result(response)",
    ]
    assert whole["GetItArguments"] == {"b": "NotRequired[str]", "a": "str"}
    assert whole["_check"] == []
    named = _said(P, has_clients=True, handler="h:f")
    assert named["call"][0] == "client: str, /, **arguments: Unpack[GetItArguments]"
    assert (
        named["call"][3] == "response = REGISTRY.call_tool('get_it', arguments, client)"
    )
    assert named["_check"] == ["h:f"]
    assert _said(Q)["call"][0] == "arguments: GetItArguments, /"
    sent = _said(Q, has_clients=True)["call"][0]
    assert sent == "client: str, arguments: GetItArguments, /"


def test_what_a_handler_gives() -> None:
    def given(gives: Any, **more: Any) -> tuple[Any, str]:
        found = _said(P, gives, **more)
        return found.get("GetItResult"), found["__call__"][1]

    item = {"anyOf": [S, {"type": "null"}]}
    nothing: list[Any] = [None, {}, True]
    for gives in nothing:
        assert given(gives) == (None, "object")
    assert given(K) == (
        {"k": "NotRequired[ReadOnly[str]]"},
        "ObjectResult[GetItResult]",
    )
    assert given({"type": "object"}) == (
        "Mapping[str, Any]",
        "ObjectResult[GetItResult]",
    )
    assert given({"anyOf": [K, {"type": "null"}]}) == (
        "GetItResultOption1 | None",
        "ObjectResult[GetItResult]",
    )
    for of, text in ((K, "GetItResultItem"), (item, "str | None")):
        assert given({"type": "array", "items": of}) == (
            f"Sequence[{text}]",
            "ListResult[GetItResult]",
        )
    assert given({"type": "array", "items": S}) == (
        "Sequence[str]",
        "HandlerResult[GetItResult]",
    )
    assert given(S) == ("str", "HandlerResult[GetItResult]")
    assert given(S, result_type="m.x:Res") == ("str", "HandlerResult[m.x.Res]")
    assert given(K, values="python")[1] == "ObjectResult[GetItResult]"


def test_values_of_python_have_types_of_their_own() -> None:
    takes = _said(V, values="python")
    assert takes["GetItArguments"] == {"at": "str"}
    assert takes["GetItHandlerArguments"] == {"at": "date"}
    assert "GetItHandlerArguments" not in _said(P, values="python")
    assert "GetItHandlerArguments" not in _said(
        V, values="python", arguments_type="m:Args"
    )
    day = {"type": "object", "properties": {"d": DAY}}
    gives = _said(P, day, values="python")
    assert gives["GetItResult"] == {"d": "NotRequired[ReadOnly[str]]"}
    assert gives["GetItHandlerResult"] == {"d": "NotRequired[ReadOnly[date]]"}
    assert gives["__call__"][1] == "ObjectResult[GetItHandlerResult]"
    text = _said(P, DAY, values="python")
    assert (text["GetItResult"], text["GetItHandlerResult"]) == ("str", "date")


def test_no_class_is_called_as_another() -> None:
    """Nor as what the module has of its own."""

    def deep(schema: Schema) -> Schema:
        inner = [{"type": "object", "properties": {"v": schema}} for _ in range(2)]
        within = dict(zip(("result", "handler_arguments"), inner, strict=True))
        return {"type": "object", "properties": within}

    types = build_tool_types(
        "get",
        deep(DAY),
        deep(DAY),
        has_values=True,
        takes_class=False,
        result_class=None,
    )
    names = [one.name for one in types.objects]
    assert names == [
        "GetArguments",
        "GetResult2",
        "GetHandlerArguments2",
        "GetResult",
        "GetResultResult",
        "GetResultHandlerArguments",
        "GetHandlerArguments",
        "GetHandlerArgumentsResult",
        "GetHandlerArgumentsHandlerArguments",
        "GetHandlerResult",
        "GetHandlerResultResult",
        "GetHandlerResultHandlerArguments",
    ]
    assert [one.name for one in types.read_only] == names[3:6] + names[9:]
    assert types.reserved_names == [
        "GetArguments",
        "GetResult",
        "GetHandler",
        "GetHandlerArguments",
        "GetHandlerResult",
    ]
    assert {"Any", "Mapping", "Sequence", "TypedDict", "Unpack"} < {*RESERVED_NAMES}
