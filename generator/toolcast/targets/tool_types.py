"""`tools/<tool>.py`: the types of a tool's arguments, results and handler, and its call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolcast_runtime.values.annotated_types import (
    PythonType,
    is_keyword_argument,
)
from toolcast_runtime.values.schema_types import SchemaTypes
from toolcast_runtime.values.tool_types import (
    TAKEN,
    Results,
    ToolTypes,
    types_of_tool,
)

from ..encoders.code import Code
from ..encoders.python import (
    encode_identifier,
    encode_import,
    encode_module_imports,
    encode_safe_text,
    encode_unbroken_string,
)
from ..encoders.python_types import (
    Type,
    build_module_type,
    build_named_type,
    build_subscript,
    encode_annotation,
    encode_call,
    encode_chained_call,
    encode_method_parameters,
    encode_parameters,
)
from ..model.model import Toolset, ToolSpec
from ..rendering.output_shape import PythonShape, View
from .target import Context, encode_header
from .type_text import RUNTIME_TYPES, TypePrinter, format_omitted_keywords


def render_types_file(
    toolset: Toolset, tool: ToolSpec, context: Context
) -> tuple[str, bytes]:
    """The path and the bytes of the types of a tool."""
    view = _types_view(toolset, tool)
    path = f"tools/{tool.module}.py"
    return path, context.render("registry/tool.py.jinja", view)


def _types_view(toolset: Toolset, tool: ToolSpec) -> View:
    has_values = toolset.has_python_values(tool)
    types = types_of_tool(
        tool.name,
        tool.listed_parameters,
        tool.listed_returns,
        has_values=has_values,
        takes_class=tool.arguments_type is not None,
        result_class=tool.result_type.function if tool.result_type else None,
        of_handler=(tool.parameters, tool.returns) if tool.picks else None,
    )
    own, results = types.own, types.results
    names = {one.name for one in types.objects} | {own[1], types.gives.name}
    printed = TypePrinter(names, has_values=has_values)
    views = [
        printed.view(
            one,
            _docstring(one.name, own, has_values),
            read_only=one in types.read_only,
        )
        for one in types.objects
    ]
    aliases = _aliases([results, types.gives], printed)
    # What a class can have as its fields can be keywords, too.
    has_keywords = all(map(is_keyword_argument, types.arguments.members))
    members = types.given.members
    needed = frozenset(k for k, one in members.items() if one.is_required)
    given = build_named_type("object")
    if tool.result_type is not None:
        given = build_subscript(
            types.gives.handlers, [build_module_type(*tool.result_type)]
        )
    elif types.gives.name:
        given = build_subscript(
            types.gives.handlers, [build_named_type(types.gives.name)]
        )
    used = {key: toolset.resources[key] for key in tool.uses}
    resources = {
        key: build_module_type(type_.module, type_.function)
        for key, type_ in used.items()
    }
    own_types = [*used.values(), *filter(None, (tool.arguments_type, tool.result_type))]
    place = ("    def __call__", f" -> {given.flat}: ...")
    whole = "arguments_" if "arguments" in resources else "arguments"
    if tool.arguments_type is not None:
        class_ = build_module_type(*tool.arguments_type)
        taken_by = encode_method_parameters({whole: class_}, None, *place, resources)
    elif has_keywords:
        typed = {key: printed.of(one.type) for key, one in members.items()}
        taken_by = encode_method_parameters(typed, needed, *place, resources)
    else:
        passed_whole = build_named_type(types.given.name)
        taken_by = encode_method_parameters(
            {whole: passed_whole}, None, *place, resources
        )
    call_result = results.name or "Any"
    handler = _handler(tool, printed, types, needed, given, resources)
    printed.add("collections.abc", "Coroutine")
    printed.add("typing", "Any", "Protocol")
    printed.add(RUNTIME_TYPES, "tool_result")
    if has_keywords:
        printed.add("typing", "Unpack")
    if handler is not None or own_types:
        printed.add("typing", "TYPE_CHECKING")
    if handler is not None and tool.arguments_type is None:
        printed.add(RUNTIME_TYPES, _form(resources))
    if types.gives.name:
        printed.add(RUNTIME_TYPES, types.gives.handlers)
    client = [("client", build_named_type("str"))] if toolset.clients else []
    by_place: tuple[str, Type | None] = ("/", None)
    values: list[tuple[str, Type | None]] = [*client, *([by_place] if client else [])]
    if has_keywords:
        values.append(
            ("**arguments", build_subscript("Unpack", [build_named_type(own[0])]))
        )
    else:
        values = [*client, ("arguments", build_named_type(own[0])), by_place]
    passed = [encode_unbroken_string(tool.name), encode_safe_text("arguments")]
    return View(
        _shape(own[2], views, aliases, tool, printed),
        header=encode_header(tool.source.file),
        name=encode_safe_text(tool.name),
        definition=encode_safe_text(f"{tool.module}.json"),
        collections_import=printed.imported("collections.abc"),
        dates_import=printed.imported("datetime"),
        decimal_import=printed.imported("decimal"),
        typing_import=printed.imported("typing"),
        uuid_import=printed.imported("uuid"),
        runtime_import=printed.imported(RUNTIME_TYPES),
        classes=views,
        aliases=aliases,
        resource_imports=encode_module_imports(
            sorted({type_.module for type_ in own_types}), indent=4
        ),
        handler_class=encode_identifier(own[2]),
        parameters=taken_by,
        given=encode_annotation(given),
        call_parameters=encode_parameters(
            values, "def call", f" -> Coroutine[Any, Any, {call_result}]:"
        ),
        call_result=encode_identifier(call_result),
        call=encode_call(
            "call_tool",
            [*passed, encode_safe_text("client")] if client else passed,
            "    response = REGISTRY.",
        ),
        has_clients=bool(toolset.clients),
        handler=handler,
    )


def describe_types(schema: Any, *, has_values: bool = False) -> dict[str, str]:
    """The generated type of each property of a schema; that of the whole under "".

    A property that may be left out has a question mark behind its type. What is behind the
    name of a class stands behind the type that names it.

    Args:
        schema: of a tool's arguments or results.
        has_values: texts of formats are Python's values.
    """
    types = SchemaTypes(schema, "Tool", TAKEN, has_values=has_values)
    root = types.arguments("ToolArguments")
    again = SchemaTypes(schema, "Tool", TAKEN, has_values=has_values)
    whole, _ = again.whole("ToolResult")
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
    return TypePrinter(()).of(type_).flat


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


def _docstring(name: str, own: Sequence[str], has_values: bool) -> Code:
    if name == own[0]:
        return encode_safe_text("What a call is given, exactly as the caller sent it.")
    if name in own[3:]:
        verb = "is given" if name == own[3] else "gives"
        how = ", in values of Python" if has_values else ""
        return encode_safe_text(f"What the handler {verb}{how}.")
    return encode_safe_text("What a call gives." if name == own[1] else "")


def _aliases(results: Sequence[Results], printed: TypePrinter) -> list[View]:
    """A name for each that is no class: what calls give, then what the handler gives."""
    found: dict[str, View] = {}
    for one in results:
        if one.type is None or one.name in found:
            continue
        printed.add("typing", "TypeAlias")
        before = f"{one.name}: TypeAlias = "
        who = "the handler" if found or one.has_values else "a call"
        found[one.name] = View(
            name=encode_identifier(one.name),
            type=encode_annotation(printed.evaluated(one.type), before),
            comment=format_omitted_keywords(one.wider),
            docstring=encode_safe_text(f"What {who} gives."),
        )
    return list(found.values())


def _handler(
    tool: ToolSpec,
    printed: TypePrinter,
    types: ToolTypes,
    needed: frozenset[str],
    given: Type,
    resources: Mapping[str, Type],
) -> View | None:
    if tool.handler is None:
        return None
    arguments, results = types.given, types.gives
    function = tool.handler.function

    def local(name: str) -> str:
        """A name that is not the handler's own."""
        return f"{name}_" if name == function else name

    form, sent, required, result = map(
        local, ("as_keywords", "arguments", "required", "result")
    )
    result_of = f"check_{function}_result"
    has_least = len(needed) < len(arguments.members) and all(
        map(is_keyword_argument, needed)
    )
    checked: list[tuple[str, Type | None]] = [
        (form, build_named_type(_form(resources)))
    ]
    checked.append((sent, build_named_type(arguments.name)))
    if tool.arguments_type is not None:
        has_least = False
        checked = [(sent, build_module_type(*tool.arguments_type))]
    if has_least and needed:
        checked.append((required, build_named_type("Any")))
    lent = {key: local(f"{key}_resource") for key in resources}
    checked += [(lent[key], type_) for key, type_ in resources.items()]
    least = {k: required for k in arguments.members if has_least and k in needed}
    margin, made = "        ", result if results.name else "_"
    before = f"{margin}{made} = "
    most = encode_chained_call(form, function, sent, lent, before, with_given=True)
    if tool.arguments_type is not None:
        most = encode_call(function, [encode_identifier(sent)], before, lent)
    return View(
        imported=encode_import(tool.handler.module, [function], indent=8),
        has_result=bool(results.name),
        result_name=encode_identifier(result_of),
        result_parameters=encode_parameters(
            [("result", given)], f"    def {result_of}", " -> None: ..."
        ),
        check_parameters=encode_parameters(checked, "    def _check", " -> None:"),
        has_least=has_least,
        least=encode_chained_call(
            form, function, sent, {**least, **lent}, f"{margin}_ = "
        ),
        result=encode_identifier(made),
        most=most,
        comparison=encode_call(result_of, [encode_identifier(result)], margin),
    )


def _form(resources: Mapping[str, Type]) -> str:
    return "ResourceHandlerForm" if resources else "HandlerForm"


def _shape(
    handler_class: str,
    views: Sequence[View],
    aliases: Sequence[View],
    tool: ToolSpec,
    printed: TypePrinter,
) -> PythonShape:
    statements = ["docstring", "from __future__", "from collections.abc"]
    modules = ("datetime", "decimal", "typing", "uuid", RUNTIME_TYPES)
    statements += [f"from {module}" for module in modules if printed.needs(module)]
    if tool.uses or tool.arguments_type is not None or tool.result_type is not None:
        statements.append("if TYPE_CHECKING")
    for view in views:
        statements += [f"class {view.name}"] if view.is_class else [f"{view.name} ="]
        if not view.is_class and view.has_docstring:
            statements.append("docstring")
    for alias in aliases:
        statements += [f"{alias.name}:", "docstring"]
    statements += [f"class {handler_class}", "def call"]
    calls = {"TypedDict", "REGISTRY.call_tool", "tool_result"}
    if tool.handler is not None:
        statements.append("if TYPE_CHECKING")
        function = tool.handler.function
        calls |= {"as_keywords", "as_keywords_", "<Call>", f"check_{function}_result"}
        if tool.arguments_type is not None:
            calls.add(function)
    return PythonShape(tuple(statements), frozenset(calls))
