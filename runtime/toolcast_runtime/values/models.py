"""Handlers that receive Python values or an instance of a class, and return such values.

The classes belong to the project: dataclasses, Pydantic models, TypedDicts, and whatever else
Pydantic's TypeAdapter accepts. Callers get the spec's schema, which the class must match (see
`model_comparison`).
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.calls.handlers import load_class
from ..core.context import ArgumentConversionError, ToolResponse
from ..core.definitions.tool import Tool
from .model_comparison import Schema, find_mismatches, is_open
from .python_values import BytesEncoder, PythonValues

_logger = logging.getLogger("toolcast")

MAX_PROBLEMS = 10
"""Maximum number of reported problems of one value."""
_MAX_LOGGED_ERRORS = 10
"""Maximum number of a class's validation errors that are logged."""
_MAX_NAME_CHARACTERS = 160
"""Maximum length of a name or path in a message."""


class ArgumentsModel:
    """Project class in which a handler receives its arguments.

    Args:
        class_: the class.
        schema: the JSON Schema of the tool's arguments.
        has_values: whether strings with a format are Python values.

    Raises:
        ImportError: Pydantic is not installed.
        ValueError: the class does not match the schema, or Pydantic does not support it.
    """

    def __init__(self, class_: type, schema: Schema, *, has_values: bool) -> None:
        self._adapter = _make_adapter(class_)
        self._has_values = has_values
        class_schema = _build_schema(self._adapter, "validation")
        _validate_class(
            class_, class_schema, schema, is_result=False, has_values=has_values
        )
        self._fields = _get_fields(class_schema)

    def build(self, arguments: Mapping[str, Any]) -> Any:
        """Return an instance of the class.

        Raises:
            ArgumentConversionError: the class rejects an argument, or has no field for it. The
                error does not contain the class's message, which may contain secrets.
        """
        from pydantic import ValidationError

        if self._fields is not None:
            unknown = [name for name in arguments if name not in self._fields]
            if unknown:
                raise ArgumentConversionError(
                    [
                        f"`{name[:_MAX_NAME_CHARACTERS]}` is not a parameter"
                        for name in unknown
                    ]
                )
        try:
            if self._has_values:
                return self._adapter.validate_python(dict(arguments))
            # Validate JSON text, because a class in Pydantic's strict mode accepts a string
            # for a date only from JSON.
            return self._adapter.validate_json(json.dumps(arguments))
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False)
            _logger.info(
                "arguments are rejected by their class: %s",
                "; ".join(
                    f"{entry['loc']}: {entry['type']}"
                    for entry in errors[:_MAX_LOGGED_ERRORS]
                ),
            )
            paths = dict.fromkeys(
                format_path(entry["loc"], arguments) for entry in errors
            )
            raise ArgumentConversionError(
                [_format_rejection(path) for path in paths][:MAX_PROBLEMS]
            ) from None


class ResultModel:
    """Project class of which a handler returns an instance as its result.

    Args:
        class_: the class.
        schema: the JSON Schema of the result; None if the tool has none.
        has_values: whether dates and bytes remain Python values.

    Raises:
        ImportError: Pydantic is not installed.
        ValueError: the class does not match the schema, or Pydantic does not support it.
    """

    def __init__(self, class_: type, schema: Any, *, has_values: bool) -> None:
        self._adapter = _make_adapter(class_)
        self._mode = "python" if has_values else "json"
        class_schema = _build_schema(self._adapter, "serialization")
        if isinstance(schema, Mapping):
            _validate_class(
                class_, class_schema, schema, is_result=True, has_values=has_values
            )

    def dump(self, result: Any) -> Any:
        """Convert a result, an instance of the class, to a dict or other plain value.

        Raises:
            pydantic.ValidationError: the result is not an instance of the class.
        """
        instance = self._adapter.validate_python(result)
        return self._adapter.dump_python(instance, mode=self._mode, by_alias=True)


def _make_adapter(class_: type) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError as error:
        raise ImportError(
            f"{class_.__name__} needs pydantic: pip install 'toolcast-runtime[models]'"
        ) from error
    # Pydantic's TypeAdapter does not support models of the v1 API.
    if any(base.__module__.startswith("pydantic.v1") for base in class_.__mro__):
        raise ValueError(
            f"{class_.__name__} is a model of pydantic.v1; help: derive it from a class of"
            " pydantic"
        )
    return TypeAdapter(class_)


def _validate_class(
    class_: type,
    class_schema: Schema | None,
    schema: Schema,
    *,
    is_result: bool,
    has_values: bool,
) -> None:
    """Raise ValueError if a class does not match the spec's schema."""
    if class_schema is None:
        return
    mismatches = find_mismatches(
        class_schema, schema, is_result=is_result, has_values=has_values
    )
    if mismatches:
        text = "; ".join(mismatches[:MAX_PROBLEMS])
        raise ValueError(f"{class_.__name__} does not match the spec: {text}")


def _build_schema(adapter: Any, mode: str) -> Schema | None:
    """Return the JSON Schema of a class; None if JSON Schema cannot express it."""
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        schema: Schema = adapter.json_schema(mode=mode)
    except PydanticInvalidForJsonSchema:
        return None
    return schema


def _get_fields(class_schema: Schema | None) -> frozenset[str] | None:
    """Return the names of a class's fields; None if it accepts any name, or is unknown."""
    if class_schema is None:
        return None
    if "$ref" in class_schema:
        name = class_schema["$ref"].rpartition("/")[2]
        class_schema = class_schema["$defs"][name]
    if is_open(class_schema) or "properties" not in class_schema:
        return None
    return frozenset(class_schema["properties"])


def format_path(steps: Sequence[str | int], arguments: Any) -> str:
    """Format the location of a Pydantic error as a path in the arguments: `items[0].name`.

    The path ends at the first step that does not exist in the arguments: Pydantic adds steps
    of its own, such as the name of a union's member.
    """
    path, value = "", arguments
    for step in steps:
        if isinstance(value, Mapping) and isinstance(step, str) and step in value:
            path += f".{step}" if path else step
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            path += f"[{step}]"
        else:
            break
        value = value[step]
    return path


def _format_rejection(path: str) -> str:
    if not path:
        return "the arguments match the schema, but the tool's class rejects them"
    path = path[:_MAX_NAME_CHARACTERS]
    return f"`{path}` matches the schema, but the tool's class rejects it"


def typed_function(
    function: Callable[..., Any], tool: Tool, package: str | None
) -> Callable[..., Any]:
    """Wrap a handler, so that it is called with JSON values and returns JSON values.

    Args:
        function: the handler.
        tool: declares the values and classes that the handler receives and returns.
        package: the package that must define these classes.

    Raises:
        ImportError: a class cannot be imported, or is not defined in the package.
        AttributeError: the module of a class does not have it.
        TypeError: the handler's first parameter is not positional.
        ValueError: a class does not match the tool's schemas.
    """
    values = PythonValues(tool.handler_parameters) if tool.has_python_values else None
    encoder = BytesEncoder(tool.returns) if tool.has_python_values else None
    model: ArgumentsModel | None = None
    result_model: ResultModel | None = None
    if tool.arguments_type is not None:
        model = ArgumentsModel(
            load_class(tool.arguments_type, package),
            tool.handler_parameters,
            has_values=tool.has_python_values,
        )
    if tool.result_type is not None:
        result_model = ResultModel(
            load_class(tool.result_type, package),
            tool.returns,
            has_values=tool.has_python_values,
        )

    def convert_arguments(arguments: Mapping[str, Any]) -> Any:
        converted = arguments if values is None else values.convert(arguments)
        return converted if model is None else model.build(converted)

    def convert_result(result: Any) -> Any:
        if isinstance(result, ToolResponse):
            if result.result is None:
                return result
            return replace(result, result=convert_result(result.result))
        if result_model is not None:
            result = result_model.dump(result)
        return result if encoder is None else encoder.encode(result)

    async def await_result(result: Awaitable[Any]) -> Any:
        return convert_result(await result)

    @functools.wraps(function)
    def call_handler(*positional: Any, **keywords: Any) -> Any:
        # `HandlerAdapter` passes the arguments either as one positional mapping, or as
        # keywords together with the dependencies.
        if positional:
            result = function(convert_arguments(positional[0]), **keywords)
        else:
            dependencies = {name: keywords.pop(name) for name in tool.uses}
            result = function(**convert_arguments(keywords), **dependencies)
        if inspect.isawaitable(result):
            return await_result(result)
        return convert_result(result)

    if model is not None:
        # `HandlerAdapter` decides by the signature how it passes the arguments.
        signature = _build_signature(function)
        call_handler.__signature__ = signature  # type: ignore[attr-defined]
    return call_handler


def _build_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return a function's signature in which the first parameter is positional-only.

    `HandlerAdapter` then passes all arguments as one mapping.

    Raises:
        TypeError: the first parameter cannot be positional.
    """
    first, *others = inspect.signature(function).parameters.values()
    if first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise TypeError("its first parameter must be positional")
    return inspect.Signature([first.replace(kind=first.POSITIONAL_ONLY), *others])
