"""Types in a tool's generated module: handler, call and result."""

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


def _format_types(
    parameters: Schema = NONE,
    returns: Any = None,
    *,
    has_clients: bool = False,
    **more: Any,
) -> dict[str, Any]:
    mcp = {"name": "get_it", "inputSchema": parameters}
    if returns is not None:
        mcp["outputSchema"] = returns
    return format_tool_types({"mcp": mcp, **more}, has_clients)


def test_generated_handler_type_has_keyword_parameters_or_one_mapping() -> None:
    """The mapping is for names that are not identifiers and for an `arguments_type`."""

    def format_parameters(parameters: Schema, **more: Any) -> str:
        return str(_format_types(parameters, **more)["__call__"][0])

    assert format_parameters(NONE) == "self, /"
    assert format_parameters(NONE, uses=["db"]) == "self, /, *, db"
    assert format_parameters(P) == "self, /, *, a: str, b: str=..."
    assert format_parameters(P, uses=["db"]) == "self, /, *, a: str, b: str=..., db"
    assert format_parameters(Q) == "self, arguments: GetItArguments, /"
    assert format_parameters(Q, uses=["arguments", "db"]) == (
        "self, arguments_: GetItArguments, /, *, arguments, db"
    )
    assert format_parameters(V) == "self, /, *, at: str"
    assert format_parameters(V, values="python") == "self, /, *, at: date"
    assert format_parameters(P, arguments_type="m:Args") == "self, arguments: m.Args, /"


def test_generated_call_has_typed_arguments_and_with_clients_a_client() -> None:
    types = _format_types(P)
    assert types["call"] == [
        "**arguments: Unpack[GetItArguments]",
        "Coroutine[Any, Any, Any]",
        "from ..registry import REGISTRY",
        "response = REGISTRY.call_tool('get_it', arguments)",
        "return tool_result(response)",
    ]
    assert types["GetItArguments"] == {"b": "NotRequired[str]", "a": "str"}
    assert types["_check"] == []
    typed = _format_types(P, has_clients=True, handler="h:f")
    assert typed["call"][0] == "client: str, /, **arguments: Unpack[GetItArguments]"
    assert (
        typed["call"][3] == "response = REGISTRY.call_tool('get_it', arguments, client)"
    )
    assert typed["_check"] == ["h:f"]
    assert _format_types(Q)["call"][0] == "arguments: GetItArguments, /"
    parameters = _format_types(Q, has_clients=True)["call"][0]
    assert parameters == "client: str, arguments: GetItArguments, /"


def test_generated_handler_return_type_is_derived_from_the_returns_schema() -> None:
    def format_result(returns: Any, **more: Any) -> tuple[Any, str]:
        types = _format_types(P, returns, **more)
        return types.get("GetItResult"), types["__call__"][1]

    item = {"anyOf": [S, {"type": "null"}]}
    untyped_schemas: list[Any] = [None, {}, True]
    for returns in untyped_schemas:
        assert format_result(returns) == (None, "object")
    assert format_result(K) == (
        {"k": "NotRequired[ReadOnly[str]]"},
        "ObjectResult[GetItResult]",
    )
    assert format_result({"type": "object"}) == (
        "Mapping[str, Any]",
        "ObjectResult[GetItResult]",
    )
    assert format_result({"anyOf": [K, {"type": "null"}]}) == (
        "GetItResultOption1 | None",
        "ObjectResult[GetItResult]",
    )
    for of, text in ((K, "GetItResultItem"), (item, "str | None")):
        assert format_result({"type": "array", "items": of}) == (
            f"Sequence[{text}]",
            "ListResult[GetItResult]",
        )
    assert format_result({"type": "array", "items": S}) == (
        "Sequence[str]",
        "HandlerResult[GetItResult]",
    )
    assert format_result(S) == ("str", "HandlerResult[GetItResult]")
    assert format_result(S, result_type="m.x:Res") == ("str", "HandlerResult[m.x.Res]")
    assert format_result(K, values="python")[1] == "ObjectResult[GetItResult]"


def test_values_python_adds_types_with_dates_for_the_handler() -> None:
    parameters = _format_types(V, values="python")
    assert parameters["GetItArguments"] == {"at": "str"}
    assert parameters["GetItHandlerArguments"] == {"at": "date"}
    conditional = {**P, "if": {}, "then": {"properties": {"a": DAY}}}
    parameters = _format_types(conditional, values="python")
    assert parameters["GetItHandlerArguments"] == {"b": "NotRequired[str]", "a": "Any"}
    assert "GetItHandlerArguments" not in _format_types(P, values="python")
    assert "GetItHandlerArguments" not in _format_types(
        V, values="python", arguments_type="m:Args"
    )
    day = {"type": "object", "properties": {"d": DAY}}
    returns = _format_types(P, day, values="python")
    assert returns["GetItResult"] == {"d": "NotRequired[ReadOnly[str]]"}
    assert returns["GetItHandlerResult"] == {"d": "NotRequired[ReadOnly[date]]"}
    assert returns["__call__"][1] == "ObjectResult[GetItHandlerResult]"
    text = _format_types(P, DAY, values="python")
    assert (text["GetItResult"], text["GetItHandlerResult"]) == ("str", "date")


def test_generated_class_names_are_unique() -> None:
    """They also differ from the names that the module imports."""

    def nest(schema: Schema) -> Schema:
        inner = [{"type": "object", "properties": {"v": schema}} for _ in range(2)]
        properties = dict(zip(("result", "handler_arguments"), inner, strict=True))
        return {"type": "object", "properties": properties}

    types = build_tool_types(
        "get",
        nest(DAY),
        nest(DAY),
        has_values=True,
        takes_class=False,
        result_class=None,
    )
    names = [class_.name for class_ in types.objects]
    assert (
        names
        == (
            "GetArguments GetResult2 GetHandlerArguments2 GetResult GetResultResult "
            "GetResultHandlerArguments GetHandlerArguments GetHandlerArgumentsResult "
            "GetHandlerArgumentsHandlerArguments GetHandlerResult GetHandlerResultResult "
            "GetHandlerResultHandlerArguments"
        ).split()
    )
    assert [class_.name for class_ in types.read_only] == names[3:6] + names[9:]
    assert types.reserved_names == [
        "GetArguments",
        "GetResult",
        "GetHandler",
        "GetHandlerArguments",
        "GetHandlerResult",
    ]
    assert {"Any", "Mapping", "Sequence", "TypedDict", "Unpack"} < {*RESERVED_NAMES}
