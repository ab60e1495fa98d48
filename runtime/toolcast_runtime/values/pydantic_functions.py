"""Handlers whose arguments are converted by their annotations, for `values: pydantic`.

The schema validates the arguments first. Then Pydantic converts them as `validate_call` does, and
results are serialized to JSON. Parameters annotated with the `Context` of FastMCP or of the official
SDK, and the result types of both, are left to the part `fastmcp`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, get_args, get_type_hints

from pydantic import ValidationError, validate_call
from pydantic_core import from_json

from ..core import optional
from ..core.context import ArgumentConversionError, Block, ToolResponse
from ..core.definitions.tool import Tool
from .models import MAX_PROBLEMS, format_path

LIFESPAN_DEPENDENCY = "lifespan_context"
"""Name of the dependency that becomes `lifespan_context` of FastMCP's `Context`."""

_CONTEXT_MODULES = ("fastmcp.server.context", "mcp.server.mcpserver.context")
_INJECTED_PACKAGES = ("fastmcp", "uncalled_for", "docket")
"""Packages whose objects, as defaults, are dependencies that FastMCP injects."""
_RESOLVER_MODULE = "mcp.server.mcpserver.resolve"
_PRIVATE_ERRORS = ("value_error", "assertion_error")
"""Pydantic error types whose message is the text of an exception in project code."""


def convert_function(
    function: Callable[..., Any], tool: Tool, provided: Collection[str] = ()
) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Wrap a handler, so that it is called with JSON values and returns JSON values.

    Args:
        function: the handler.
        tool: the tool, or a resource or prompt as a tool.
        provided: the names of the lifespan's dependencies.

    Returns:
        The function, and the names of the dependencies that it gets as keywords.

    Raises:
        TypeError: a parameter has a default that only FastMCP can replace.
        pydantic.PydanticUserError: Pydantic does not support an annotation.
    """
    hints = _get_hints(function)
    parameters = inspect.signature(function).parameters
    contexts = {
        name: library
        for name, parameter in parameters.items()
        if (library := _find_context(hints.get(name), parameter.default)) is not None
    }
    others = [name for name in parameters if name not in (*contexts, *tool.uses)]
    convert = _build_converter(
        [parameters[name] for name in others], hints, is_text=tool.kind == "prompt"
    )
    build_response = optional.fastmcp.build_converter(tool, hints.get("return", Any))
    # The context gets the value of an adapted FastMCP lifespan if there is one, otherwise all
    # dependencies of the toolset.
    shared = [LIFESPAN_DEPENDENCY] if LIFESPAN_DEPENDENCY in provided else provided
    properties = tool.parameters.get("properties", ())
    shared = [name for name in shared if contexts and name not in properties]
    uses = tuple(dict.fromkeys((*tool.uses, *shared)))

    def convert_result(result: Any) -> Any:
        if isinstance(result, ToolResponse | Block):
            return result
        return build_response(list(result) if inspect.isgenerator(result) else result)

    async def await_result(result: Any) -> Any:
        try:
            if inspect.isasyncgen(result):
                return convert_result([item async for item in result])
            return convert_result(await result)
        except Exception as error:
            raise optional.fastmcp.translate_error(error) from error

    @functools.wraps(function)
    def call_handler(**keywords: Any) -> Any:
        dependencies = {name: keywords.pop(name) for name in uses}
        arguments = convert(keywords)
        arguments |= {name: dependencies[name] for name in tool.uses}
        if contexts:
            lifespan = {name: dependencies[name] for name in shared}
            value = lifespan.get(LIFESPAN_DEPENDENCY, lifespan)
            for name, library in contexts.items():
                arguments[name] = optional.fastmcp.make_context(library, value)
        try:
            result = function(**arguments)
            if inspect.isawaitable(result) or inspect.isasyncgen(result):
                return await_result(result)
            return convert_result(result)
        except Exception as error:
            raise optional.fastmcp.translate_error(error) from error

    keywords = inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD)
    signature = inspect.Signature([keywords])
    call_handler.__signature__ = signature  # type: ignore[attr-defined]
    return call_handler, uses


def _get_hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return a callable's annotations as types; unresolved if a name is not defined."""
    is_function = inspect.isroutine(function) or hasattr(function, "__wrapped__")
    target = function if is_function else type(function).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return dict(getattr(target, "__annotations__", {}))


def _find_context(annotation: Any, default: Any) -> str | None:
    """Return the package (`fastmcp` or `mcp`) whose `Context` a parameter expects.

    None if the parameter expects an argument of the call.
    """
    for type_ in (annotation, *_list_members(annotation)):
        for base in type_.__mro__ if isinstance(type_, type) else ():
            if base.__name__ == "Context" and base.__module__ in _CONTEXT_MODULES:
                return base.__module__.partition(".")[0]
    return "fastmcp" if type(default).__name__ == "_CurrentContext" else None


def _list_members(annotation: Any) -> list[Any]:
    """Return the type arguments of an annotation, such as union members, at any depth."""
    members = []
    for member in get_args(annotation):
        members += [member, *_list_members(member)]
    return members


def _reject_injected(parameter: inspect.Parameter) -> None:
    for value in (parameter.default, *_list_members(parameter.annotation)):
        module = type(value).__module__
        if module.partition(".")[0] in _INJECTED_PACKAGES or module == _RESOLVER_MODULE:
            raise TypeError(
                f"the parameter `{parameter.name}` is injected by"
                f" `{type(value).__name__.strip('_')}`, which only its own server supports;"
                " help: provide the value by the toolset's lifespan"
            )


def _build_converter(
    parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], *, is_text: bool
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a function that converts arguments by annotations and adds defaults.

    The function raises ArgumentConversionError if Pydantic rejects an argument.

    Args:
        parameters: the parameters of the arguments.
        hints: their resolved annotations.
        is_text: whether each argument is a string, as for MCP prompts; a parameter of another
            type then also accepts the value as JSON text.
    """

    def collect(**arguments: Any) -> dict[str, Any]:
        return arguments

    keywords = []
    for parameter in parameters:
        # Make the parameters keyword-only: parameters without defaults may then follow others,
        # because a context between them was removed.
        is_plain = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        kind = parameter.KEYWORD_ONLY if is_plain else parameter.kind
        annotation = hints.get(parameter.name, Any)
        keywords.append(parameter.replace(kind=kind, annotation=annotation))
        _reject_injected(keywords[-1])
    collect.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    collect.__annotations__ = {k.name: k.annotation for k in keywords}
    validate = validate_call(collect)
    not_text = {k.name for k in keywords if is_text and k.annotation not in (str, Any)}

    def convert(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return validate(**arguments)
        except ValidationError as error:
            # Retry with JSON text parsed, for example "3" for an int; `convert` fails if the
            # arguments stay the same.
            parsed = {n: _parse_json(arguments[n]) for n in arguments if n in not_text}
            if {**arguments, **parsed} != arguments:
                return convert({**arguments, **parsed})
            problems = [
                _format_problem(entry, arguments)
                for entry in error.errors(include_url=False, include_context=False)
            ]
            raise ArgumentConversionError(problems[:MAX_PROBLEMS]) from None

    return convert


def _parse_json(value: Any) -> Any:
    """Return the value of JSON text; values that are not JSON text are returned unchanged."""
    try:
        return from_json(value)
    except (ValueError, TypeError):
        return value


def _format_problem(entry: Any, arguments: Mapping[str, Any]) -> str:
    *parents, last = entry["loc"] or [""]
    path = format_path(entry["loc"], arguments)
    if entry["type"].startswith("missing"):
        path = ".".join(filter(None, (format_path(parents, arguments), str(last))))
    if entry["type"] in _PRIVATE_ERRORS:
        return f"`{path}` matches the schema, but the tool's function rejects it"
    return f"`{path}`: {entry['msg']}"
