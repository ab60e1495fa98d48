"""`tools/<tool>.py`: the types of a tool's arguments, results and handler, and its call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolcast_runtime.tools.module_names import module_name

from ..encoders.code import Code
from ..encoders.names import class_name, is_keyword_argument
from ..encoders.python import (
    identifier,
    imported,
    modules_imported,
    one_string,
    words,
)
from ..encoders.python_types import (
    Type,
    annotation,
    applied,
    call_of,
    named_in,
    parameters,
    signature,
)
from ..facts.types.python_type import (
    ANY,
    Array,
    ObjectName,
    ObjectType,
    OneOf,
    PythonType,
    Table,
)
from ..facts.types.schema_types import SchemaTypes
from ..model.model import Toolset, ToolSpec
from ..rendering.output_shape import PythonShape
from .printed_types import RUNTIME_TYPES, DictView, PrintedTypes, wider
from .target import Context, header

__all__ = ["shown_types", "types_file"]

_EMPTY = words("")
# What a generated module has of its own: no class is called so.
_TAKEN = """
    Any Callable Coroutine HandlerForm HandlerResult ListResult Literal Mapping NotRequired
    ObjectResult Protocol ReadOnly ResourceHandlerForm Sequence TypeAlias TypedDict Unpack
""".split()


class AliasView(NamedTuple):
    """A name for a type."""

    name: Code
    type: Code
    has_comment: bool
    comment: Code


class HandlerView(NamedTuple):
    """How a type checker compares the handler with its spec."""

    imported: Code
    has_result: bool
    result_name: Code
    result_parameters: Code
    check_parameters: Code
    has_least: bool
    least: Code
    result: Code
    most: Code
    comparison: Code


class TypesView(NamedTuple):
    """The types of one tool."""

    header: Code
    name: Code
    definition: Code
    collections_import: Code
    typing_import: Code
    runtime_import: Code
    classes: Sequence[DictView]
    has_result_alias: bool
    result_alias: AliasView | None
    has_resources: bool
    resource_imports: Code
    handler_class: Code
    parameters: Code
    given: Code
    call_parameters: Code
    call_result: Code
    call: Code
    as_whom: Code
    has_handler: bool
    handler: HandlerView | None
    shape: PythonShape


class _Results(NamedTuple):
    """What a tool gives.

    Attributes:
        name: its class or alias; empty without a schema that says something.
        type: of the alias; None when it is a class.
        wider: what the alias does not say.
        handlers: the alias of `handler_types` for what its handler may give.
        objects: the classes.
    """

    name: str
    type: PythonType | None
    wider: Sequence[str]
    handlers: str
    objects: Sequence[ObjectType]


def types_file(toolset: Toolset, tool: ToolSpec, context: Context) -> tuple[str, bytes]:
    """The path and the bytes of the types of a tool."""
    view = _types_view(toolset, tool)
    path = f"tools/{module_name(tool.name)}.py"
    return path, context.render("registry/tool.py.jinja", view)


def _types_view(toolset: Toolset, tool: ToolSpec) -> TypesView:
    name = class_name(tool.name)
    own = [f"{name}Arguments", f"{name}Result", f"{name}Handler"]
    types = SchemaTypes(tool.parameters, name, [*_TAKEN, *own[1:]])
    arguments = types.arguments(own[0])
    taken = [*_TAKEN, own[2], *(one.name for one in types.objects)]
    results = _results(tool.returns, own[1], taken)
    names = {one.name for one in [*types.objects, *results.objects]} | {own[1]}
    printed = PrintedTypes(names)
    views = [printed.view(one, _docstring(one.name, own)) for one in types.objects] + [
        printed.view(one, _docstring(one.name, own), read_only=True)
        for one in results.objects
    ]
    alias = _alias(results, printed)
    # What a class can have as its fields can be keywords, too.
    has_keywords = all(map(is_keyword_argument, arguments.members))
    needed = frozenset(k for k, one in arguments.members.items() if one.is_required)
    given = printed.name("object")
    if results.name:
        given = printed.of_one(results.handlers, results.name)
    used = {key: toolset.resources[key] for key in tool.uses}
    resources = {
        key: named_in(type_.module, type_.function) for key, type_ in used.items()
    }
    place = ("    def __call__", f" -> {given.flat}: ...")
    if has_keywords:
        members = {key: printed.of(one.type) for key, one in arguments.members.items()}
        taken_by = parameters(members, needed, *place, resources)
    else:
        mapping = {"arguments": printed.name(own[0])}
        taken_by = parameters(mapping, None, *place, resources)
    call_result = results.name or "Any"
    # The types are of JSON: they say nothing of a handler that is given other values.
    is_typed = toolset.has_python_values(tool) or tool.arguments_type is not None
    handler = None
    if not is_typed and tool.result_type is None:
        handler = _handler(tool, printed, arguments, results, needed, given, resources)
    printed.add("collections.abc", "Coroutine")
    printed.add("typing", "Any", "Protocol")
    printed.add(RUNTIME_TYPES, "tool_result")
    if has_keywords:
        printed.add("typing", "Unpack")
    if handler is not None or used:
        printed.add("typing", "TYPE_CHECKING")
    if handler is not None:
        printed.add(RUNTIME_TYPES, _form(resources))
    if results.name:
        printed.add(RUNTIME_TYPES, results.handlers)
    client = [("client", printed.name("str"))] if toolset.clients else []
    by_place: tuple[str, Type | None] = ("/", None)
    values: list[tuple[str, Type | None]] = [*client, *([by_place] if client else [])]
    if has_keywords:
        values.append(("**arguments", printed.of_one("Unpack", own[0])))
    else:
        values = [*client, ("arguments", printed.name(own[0])), by_place]
    passed = [one_string(tool.name), words("arguments")]
    return TypesView(
        header=header(f"{toolset.folder}/{tool.name}.yaml"),
        name=words(tool.name),
        definition=words(f"{module_name(tool.name)}.json"),
        collections_import=printed.imported("collections.abc"),
        typing_import=printed.imported("typing"),
        runtime_import=printed.imported(RUNTIME_TYPES),
        classes=views,
        has_result_alias=alias is not None,
        result_alias=alias,
        has_resources=bool(used),
        resource_imports=modules_imported(
            sorted({type_.module for type_ in used.values()}), indent=4
        ),
        handler_class=identifier(own[2]),
        parameters=taken_by,
        given=annotation(given),
        call_parameters=signature(
            values, "def call", f" -> Coroutine[Any, Any, {call_result}]:"
        ),
        call_result=identifier(call_result),
        call=call_of(
            "call_tool",
            [*passed, words("client")] if client else passed,
            "    response = REGISTRY.",
        ),
        as_whom=words(" as a client of the toolset" if client else ""),
        has_handler=handler is not None,
        handler=handler,
        shape=_shape(own[2], views, alias, tool, handler is not None),
    )


def shown_types(schema: Any) -> dict[str, str]:
    """The generated type of each property of a schema; that of the whole under "".

    A property that may be left out has a question mark behind its type. What is behind the
    name of a class stands behind the type that names it.
    """
    types = SchemaTypes(schema, "Tool", _TAKEN)
    root = types.arguments("ToolArguments")
    whole, _ = SchemaTypes(schema, "Tool", _TAKEN).whole("ToolResult")
    classes = {
        one.name: "".join(
            f" {key!r}: {_text(member.type)}{'' if member.is_required else '?'}"
            for key, member in one.members.items()
        )
        for one in types.objects
    }
    shown = {
        key: _with_classes(_text(one.type) + ("" if one.is_required else "?"), classes)
        for key, one in root.members.items()
    }
    return {**shown, "": _text(whole)}


def _text(type_: PythonType) -> str:
    return PrintedTypes(()).of(type_).flat


def _with_classes(text: str, classes: dict[str, str]) -> str:
    """A type's text and those of the classes that it is made of."""
    found: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name in re.findall(r"\w+", waiting.pop(), re.ASCII):
            if name in classes and name not in found:
                found[name] = classes[name]
                waiting.append(classes[name])
    return "".join([text, *(f"; {name}{shown}" for name, shown in found.items())])


def _docstring(name: str, own: Sequence[str]) -> Code:
    if name == own[0]:
        return words("What a call is given, exactly as the caller sent it.")
    return words("What a call gives." if name == own[1] else "")


def _results(schema: Any, name: str, taken: Sequence[str]) -> _Results:
    types = SchemaTypes(schema, name, taken)
    type_, left = types.whole(name)
    if not isinstance(schema, dict) or type_ == ANY:
        return _Results("", None, (), "", ())
    members = type_.members if isinstance(type_, OneOf) else (type_,)
    handlers = "HandlerResult"
    if any(isinstance(one, (ObjectName, Table)) for one in members):
        handlers = "ObjectResult"
    elif any(
        isinstance(one, Array) and isinstance(one.item, (ObjectName, OneOf))
        for one in members
    ):
        handlers = "ListResult"
    alias = None if type_ == ObjectName(name) else type_
    return _Results(name, alias, left, handlers, types.objects)


def _alias(results: _Results, printed: PrintedTypes) -> AliasView | None:
    if results.type is None:
        return None
    printed.add("typing", "TypeAlias")
    before = f"{results.name}: TypeAlias = "
    return AliasView(
        identifier(results.name),
        annotation(printed.evaluated(results.type), before),
        bool(results.wider),
        wider(results.wider),
    )


def _handler(
    tool: ToolSpec,
    printed: PrintedTypes,
    arguments: ObjectType,
    results: _Results,
    needed: frozenset[str],
    given: Type,
    resources: Mapping[str, Type],
) -> HandlerView | None:
    if tool.handler is None:
        return None
    function = tool.handler.function

    def local(name: str) -> str:
        """A name that is not the handler's own."""
        return f"{name}_" if name == function else name

    form, sent, left, result = map(local, ("form", "given", "left", "result"))
    result_of = f"result_of_{function}"
    has_least = len(needed) < len(arguments.members) and all(
        map(is_keyword_argument, needed)
    )
    checked: list[tuple[str, Type | None]] = [(form, printed.name(_form(resources)))]
    checked.append((sent, printed.name(arguments.name)))
    if has_least and needed:
        checked.append((left, printed.name("Any")))
    lent = {key: local(f"{key}_resource") for key in resources}
    checked += [(lent[key], type_) for key, type_ in resources.items()]
    least = {k: left for k in arguments.members if has_least and k in needed}
    margin, made = "        ", result if results.name else "_"
    return HandlerView(
        imported(tool.handler.module, [function], indent=8),
        bool(results.name),
        identifier(result_of),
        signature([("result", given)], f"    def {result_of}", " -> None: ..."),
        signature(checked, "    def _check", " -> None:"),
        has_least,
        applied(form, function, sent, {**least, **lent}, f"{margin}_ = "),
        identifier(made),
        applied(form, function, sent, lent, f"{margin}{made} = ", with_given=True),
        call_of(result_of, [identifier(result)], margin),
    )


def _form(resources: Mapping[str, Type]) -> str:
    return "ResourceHandlerForm" if resources else "HandlerForm"


def _shape(
    handler_class: str,
    views: Sequence[DictView],
    alias: AliasView | None,
    tool: ToolSpec,
    has_handler: bool,
) -> PythonShape:
    statements = ["docstring", "from __future__", "from collections.abc", "from typing"]
    statements.append(f"from {RUNTIME_TYPES}")
    if tool.uses:
        statements.append("if TYPE_CHECKING")
    for view in views:
        statements += [f"class {view.name}"] if view.is_class else [f"{view.name} ="]
        if not view.is_class and view.has_docstring:
            statements.append("docstring")
    if alias is not None:
        statements += [f"{alias.name}:", "docstring"]
    statements += [f"class {handler_class}", "def call"]
    calls = {"TypedDict", "REGISTRY.call_tool", "tool_result"}
    if has_handler and tool.handler is not None:
        statements.append("if TYPE_CHECKING")
        function = tool.handler.function
        calls |= {"form", "form_", "<Call>", f"result_of_{function}"}
    return PythonShape(tuple(statements), frozenset(calls))
