"""The types of a tool as `tools/<tool>.py` says them, and as its definition asks for them.

The module is read and not imported: what its imports for type checkers name need not be here.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from ..values.annotated_types import (
    Array,
    Choice,
    ObjectType,
    OneOf,
    PythonType,
    Table,
    is_keyword_argument,
)
from ..values.types_of_tool import ToolTypes, types_of_tool


def types_asked_for(definition: Mapping[str, Any], has_clients: bool) -> dict[str, Any]:
    """What the module of a definition has to say: its classes and its functions.

    Args:
        definition: the tool's.
        has_clients: whether calls are made as a client.
    """
    mcp = definition["mcp"]
    takes = definition.get("arguments_type", "").replace(":", ".")
    makes = definition.get("result_type", "").replace(":", ".")
    types = types_of_tool(
        mcp["name"],
        mcp["inputSchema"],
        mcp.get("outputSchema"),
        has_values=definition.get("values") == "python",
        takes_class=bool(takes),
        result_class=makes.rpartition(".")[2] or None,
    )
    made = f"{types.gives.handlers}[{makes or types.gives.name}]"
    results = (types.results, types.gives)
    client = ", client" if has_clients else ""
    handler = definition.get("handler")
    return {
        **{one.name: _fields(one, one in types.read_only) for one in types.objects},
        **{one.name: _text(one.type) for one in results if one.type is not None},
        "__call__": [
            _taken(types, takes, definition.get("uses", ())),
            made if types.gives.name else "object",
        ],
        "call": [
            _sent(types, has_clients),
            f"Coroutine[Any, Any, {types.results.name or 'Any'}]",
            "from ..registry import REGISTRY",
            f"response = REGISTRY.call_tool({mcp['name']!r}, arguments{client})",
            "return tool_result(response)",
        ],
        "_check": [] if handler is None else [handler],
    }


def types_said(text: str, uses: Collection[str]) -> dict[str, Any]:
    """What a module says, in the form of `types_asked_for`.

    Args:
        text: the module's.
        uses: the resources of the handler, whose types no definition has.
    """
    tree = ast.parse(text)
    said: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.ClassDef(name, [ast.Name("TypedDict")], body=body):
                fields = (one for one in body if isinstance(one, ast.AnnAssign))
                said[name] = {
                    ast.unparse(f.target): _shown(f.annotation) for f in fields
                }
            case ast.Assign(
                [ast.Name(name)], ast.Call(args=[_, ast.Dict(keys, types)])
            ):
                names = (ast.literal_eval(key) for key in keys if key is not None)
                said[name] = dict(zip(names, map(_shown, types), strict=True))
            case ast.AnnAssign(ast.Name(name), value=ast.expr() as type_):
                said[name] = _shown(type_)
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    handler, call = functions["__call__"], functions["call"]
    for one in handler.args.kwonlyargs:
        one.annotation = None if one.arg in uses else one.annotation
    checked = ast.walk(functions.get("_check", ast.Pass()))
    return {
        **said,
        "__call__": _texts(handler.args, handler.returns),
        "call": _texts(call.args, call.returns, *call.body[1:]),
        "_check": [
            f"{node.module}:{alias.name}"
            for node in checked
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ],
    }


def _texts(*nodes: ast.AST | None) -> list[str]:
    return [ast.unparse(one) for one in nodes if one is not None]


def _taken(types: ToolTypes, class_: str, uses: Collection[str]) -> str:
    """The parameters of the handler, without the types of what it uses."""
    members = types.given.members
    if class_ or not _are_keywords(types):
        whole = "arguments_" if "arguments" in uses else "arguments"
        parts = ["self", f"{whole}: {class_ or types.given.name}", "/"]
        return ", ".join([*parts, *(["*", *uses] if uses else [])])
    needed = [key for key, one in members.items() if one.is_required]
    left = [key for key in members if key not in needed]
    keys = [f"{key}: {_text(members[key].type)}" for key in needed]
    keys += [f"{key}: {_text(members[key].type)}=..." for key in left]
    return ", ".join(["self", "/", *(["*", *keys, *uses] if keys or uses else [])])


def _sent(types: ToolTypes, has_clients: bool) -> str:
    """The parameters of `call`."""
    client, name = ["client: str"] if has_clients else [], types.own[0]
    if not _are_keywords(types):
        return ", ".join([*client, f"arguments: {name}", "/"])
    return ", ".join([*client, *["/"][: len(client)], f"**arguments: Unpack[{name}]"])


def _are_keywords(types: ToolTypes) -> bool:
    return all(map(is_keyword_argument, types.arguments.members))


def _fields(made: ObjectType, is_read_only: bool) -> dict[str, str]:
    fields = {}
    for key, member in made.members.items():
        text = _text(member.type)
        text = f"ReadOnly[{text}]" if is_read_only else text
        fields[key] = text if member.is_required else f"NotRequired[{text}]"
    return fields


def _text(type_: PythonType) -> str:
    match type_:
        case OneOf(members):
            return " | ".join(map(_text, members))
        case Choice(values):
            return f"Literal[{', '.join(map(repr, values))}]"
        case Array(item):
            return f"Sequence[{_text(item)}]"
        case Table(value):
            return f"Mapping[str, {_text(value)}]"
        case _:
            return type_.name


def _shown(type_: ast.expr) -> str:
    """A type's text; one that is named before it is there stands between quotation marks."""
    match type_:
        case ast.Subscript(ast.Name("NotRequired" | "ReadOnly" as word), inner):
            return f"{word}[{_shown(inner)}]"
        case ast.Constant(str(text)):
            return ast.unparse(ast.parse(text, mode="eval"))
        case _:
            return ast.unparse(type_)
