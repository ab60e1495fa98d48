"""A handler that is given Python's values, or instances of a class, and gives such back.

Classes are the team's own, by pydantic, imported only here: dataclasses, pydantic's models and
TypedDicts, whatever its TypeAdapter takes. The spec's schema is what callers are shown. A class
has to take whatever it lets through, or to give nothing that it does not; where neither schema
says so for certain nothing is found.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.calls.handlers import load_class
from ..core.context import ArgumentConversionError, ToolResponse
from ..core.definitions.tool import Tool
from ..core.validation.references import References
from .python_values import PythonValues, WrittenBytes, conversion_of, encoding_of

_logger = logging.getLogger("toolcast")

_MAX_PROBLEMS = 10
"""Problems of one value that are reported."""
_TAKEN = {
    "date": ("date", "date-time"),
    "datetime": ("date-time",),
    "time": ("time",),
    "timedelta": ("duration",),
    "UUID": ("uuid",),
    "Decimal": (),  # the schema of such a field has a number besides
    "bytes": ("binary",),
}
"""The formats of the fields that take a Python value, by its type."""

_HELD = frozenset(("date", "date-time", "time", "duration", "uuid"))
"""The formats that a field of a Python type is held to."""

_LOWER = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
_UPPER = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
_EXACT = ("pattern", "multipleOf")
_COMBINED = ("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_MAX_LEVELS = 20
"""Levels of nested models that are compared with the spec."""

Schema = Mapping[str, Any]


class ModelOfArguments:
    """The class that a handler is given its arguments in.

    Args:
        class_: the class.
        schema: the JSON Schema of the tool's arguments.
        has_values: texts of formats are Python's values.

    Raises:
        ImportError: pydantic is missing.
        ValueError: the class does not agree with the schema, or no value can be made of it.
    """

    def __init__(self, class_: type, schema: Schema, *, has_values: bool) -> None:
        self._adapter = _adapter(class_)
        self._has_values = has_values
        model = _own_schema(self._adapter, "validation")
        _agreed(class_, model, schema, is_result=False, has_values=has_values)
        self._fields = _fields(model)

    def of(self, arguments: Mapping[str, Any]) -> Any:
        """An instance of the class.

        Raises:
            ArgumentConversionError: the class refuses an argument, or has no field for it. What it says
                stays untold: it may hold secrets.
        """
        from pydantic import ValidationError

        if self._fields is not None:
            unknown = [name for name in arguments if name not in self._fields]
            if unknown:
                raise ArgumentConversionError(
                    [f"`{name[:160]}` is not a parameter" for name in unknown]
                )
        try:
            if self._has_values:
                return self._adapter.validate_python(dict(arguments))
            # A strict class takes a text for a date from JSON alone.
            return self._adapter.validate_json(json.dumps(arguments))
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False)
            _logger.info(
                "arguments are refused by their class: %s",
                "; ".join(f"{one['loc']}: {one['type']}" for one in found[:10]),
            )
            places = dict.fromkeys(_place(one["loc"], arguments) for one in found)
            raise ArgumentConversionError(
                [_refused(place) for place in places][:_MAX_PROBLEMS]
            ) from None


class ModelOfResult:
    """The class that a handler gives its result in.

    Args:
        class_: the class.
        schema: the JSON Schema of the result; None without one.
        has_values: dates and bytes stay what they are.

    Raises:
        ImportError: as `ModelOfArguments`; ValueError too.
    """

    def __init__(self, class_: type, schema: Any, *, has_values: bool) -> None:
        self._adapter = _adapter(class_)
        self._mode = "python" if has_values else "json"
        model = _own_schema(self._adapter, "serialization")
        if isinstance(schema, Mapping):
            _agreed(class_, model, schema, is_result=True, has_values=has_values)

    def plain(self, result: Any) -> Any:
        """What the class says as a mapping.

        Raises:
            pydantic.ValidationError: it is no instance of the class.
        """
        made = self._adapter.validate_python(result)
        return self._adapter.dump_python(made, mode=self._mode, by_alias=True)


def _adapter(class_: type) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError as error:
        raise ImportError(
            f"{class_.__name__} needs pydantic: pip install 'toolcast-runtime[models]'"
        ) from error
    if any(base.__module__.startswith("pydantic.v1") for base in class_.__mro__):
        raise ValueError(
            f"{class_.__name__} is a model of pydantic.v1, and not of pydantic"
        )
    return TypeAdapter(class_)


def _agreed(class_: type, model: Schema | None, schema: Schema, **way: bool) -> None:
    """Refuses a class that does not agree with what callers are shown."""
    wrong = disagreements(model, schema, **way) if model is not None else []
    if wrong:
        said = "; ".join(wrong[:_MAX_PROBLEMS])
        raise ValueError(f"{class_.__name__} does not agree with the spec: {said}")


def _own_schema(adapter: Any, mode: str) -> Schema | None:
    """The JSON Schema of a class; None where it says by none what it takes."""
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        found: Schema = adapter.json_schema(mode=mode)
    except PydanticInvalidForJsonSchema:
        return None
    return found


def _fields(model: Schema | None) -> frozenset[str] | None:
    """The names that a class has fields for; None where it takes any, or does not say."""
    if model is None:
        return None
    if "$ref" in model:
        model = model["$defs"][model["$ref"].rpartition("/")[2]]
    if is_open(model) or "properties" not in model:
        return None
    return frozenset(model["properties"])


def _place(steps: Sequence[str | int], arguments: Any) -> str:
    """The part of a way that is in the arguments: the rest is of the class."""
    text, found = "", arguments
    for step in steps:
        if isinstance(found, Mapping) and isinstance(step, str) and step in found:
            text += f".{step}" if text else step
        elif isinstance(found, list) and isinstance(step, int) and step < len(found):
            text += f"[{step}]"
        else:
            break
        found = found[step]
    return text


def _refused(place: str) -> str:
    if not place:
        return "they are valid by the schema, and refused by the tool"
    return f"`{place[:160]}` is valid by the schema, and refused by the tool"


def disagreements(
    model: Schema, said: Schema, *, is_result: bool, has_values: bool
) -> list[str]:
    """Where a class does not agree with a spec, each in words that go on after its name.

    Args:
        model: the JSON Schema of the class, as pydantic gives it.
        said: that of the spec.
        is_result: the class is given back, and not taken.
        has_values: texts of formats are Python's values.
    """
    compared = _ModelComparison(model, said, is_result, has_values)
    return list(dict.fromkeys(compared.problems(model, said, "", 0)))


class _ModelComparison:
    def __init__(
        self, model: Schema, said: Schema, is_result: bool, has_values: bool
    ) -> None:
        self._of_model, self._of_spec = References(model), References(said)
        self._is_result = is_result
        self._has_values = has_values
        self._seen: set[tuple[int, int]] = set()

    def problems(self, model: Any, said: Any, place: str, level: int) -> Iterator[str]:
        models, is_none = _alternatives(model, self._of_model)
        saids, is_null = _alternatives(said, self._of_spec)
        if not models or not saids or level > _MAX_LEVELS:
            return
        named = f"`{place}`" if place else "it"
        if self._is_result and is_none and not is_null:
            yield f"{named} may be None, and `returns` does not let it be null"
        if not self._is_result and is_null and not is_none:
            yield f"{named} may be null, which the class does not take"
        kinds = [_kind(one) for one in models], [_kind(one) for one in saids]
        if None in kinds[0] or None in kinds[1]:
            return
        given, taken = kinds if self._is_result else kinds[::-1]
        if not any(
            g == t or (g, t) == ("integer", "number") for g in given for t in taken
        ):
            of_class, of_spec = (" or ".join(map(str, one)) for one in kinds)
            yield f"{named} is of type {of_class}, and {of_spec} in the spec"
        elif len(models) == len(saids) == 1 and kinds[0] == kinds[1]:
            pair = (id(models[0]), id(saids[0]))
            if pair not in self._seen:
                self._seen.add(pair)
                yield from self._alike(models[0], saids[0], place, level)

    def _alike(
        self, model: Schema, said: Schema, place: str, level: int
    ) -> Iterator[str]:
        """Two schemas for values of one type."""
        named = f"`{place}`" if place else "it"
        choices, options = _choices(model), _choices(said)
        if self._is_result:
            for choice in choices or ():
                if options is not None and choice not in options:
                    yield f"{named} may be {_shown(choice)}, which `returns` does not allow"
        elif options is not None:
            for option in options:
                if choices is not None and option not in choices:
                    yield f"{named} does not take {_shown(option)}, which callers may send"
        elif choices is not None:
            yield f"{named} takes a few values only, and the spec has no `enum`"
        else:
            yield from _narrower(model, said, named)
        if _kind(said) == "string" and options is None:
            yield from self._formats(model, said, named)
        elif _kind(said) == "object":
            yield from self._members(model, said, place, level)
        elif _kind(said) == "array":
            items = model.get("items"), said.get("items")
            yield from self.problems(*items, f"{place}[]", level + 1)

    def _formats(self, model: Schema, said: Schema, named: str) -> Iterator[str]:
        of_class, of_spec = model.get("format"), said.get("format")
        conversion = conversion_of(said)
        if self._has_values and conversion is not None and not self._is_result:
            if of_class not in _TAKEN[conversion.type]:
                value = f"a Python {conversion.type}"
                yield f"{named} is given as {value}, which it does not take"
        elif of_class == "binary":
            if encoding_of(said) and not self._has_values:
                yield f"{named} is bytes, which are given and taken with `values: python`"
        elif (
            of_class in _HELD
            and of_class != of_spec
            and "pattern" not in said
            and (of_spec in _HELD or not self._is_result)
        ):
            spec = of_spec or "none"
            yield f"{named} is of format {of_class}, and {spec} in the spec"

    def _members(
        self, model: Schema, said: Schema, place: str, level: int
    ) -> Iterator[str]:
        fields, names = model.get("properties"), said.get("properties")
        if not isinstance(fields, Mapping) or not isinstance(names, Mapping):
            return
        at = f"{place}." if place else ""
        here = f"`{place}`" if place else "it"
        needed, promised = model.get("required", ()), said.get("required", ())
        if self._is_result:
            for name in promised:
                if name not in fields:
                    yield f"{here} has no `{at}{name}`, which is required"
            if said.get("additionalProperties", True) is False:
                for name in fields:
                    if name not in names:
                        yield f"`{at}{name}` is not in `returns`"
        else:
            if not is_open(model):
                for name in names:
                    if name not in fields:
                        yield f"{here} has no `{at}{name}`, which callers may send"
            if not any(word in said for word in _COMBINED):
                for name in needed:
                    if name not in promised:
                        yield f"{here} needs `{at}{name}`, which callers need not send"
        for name in fields:
            if name in names:
                yield from self.problems(
                    fields[name], names[name], f"{at}{name}", level + 1
                )


def is_open(model: Schema) -> bool:
    """Whether a class keeps what it has no field for."""
    return bool(model.get("additionalProperties", False))


def _alternatives(schema: Any, references: References) -> tuple[list[Schema], bool]:
    """The schemas that a value other than null may be valid by, and whether null is.

    There are none where that is not said in so many words.
    """
    found: list[Schema] = []
    waiting, steps, is_null = [schema], 0, False
    while waiting:
        part, steps = waiting.pop(0), steps + 1
        if not isinstance(part, Mapping) or steps > 50:
            return [], False
        named = part.get("$ref")
        if isinstance(named, str):
            try:
                waiting.append(references.resolve(named))
            except LookupError:
                return [], False
            continue
        branches = next((part[w] for w in ("anyOf", "oneOf") if w in part), None)
        if isinstance(branches, list) and "properties" not in part:
            waiting += branches
            continue
        kinds = part.get("type")
        if isinstance(kinds, list):
            waiting += [{**part, "type": kind} for kind in kinds]
        elif kinds == "null":
            is_null = True
        else:
            is_null = is_null or (kinds is None and None in part.get("enum", ()))
            found.append(part)
    return found, is_null


def _kind(schema: Schema) -> str | None:
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    kinds = {type(one) for one in _choices(schema) or () if one is not None}
    return "string" if kinds == {str} else None


def _choices(schema: Schema) -> Sequence[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return (
        [one for one in listed if one is not None] if isinstance(listed, list) else None
    )


def _narrower(model: Schema, said: Schema, named: str) -> Iterator[str]:
    """The limits of a field that callers are not told."""
    for word in (*_LOWER, *_UPPER, *_EXACT):
        limit, told = model.get(word), said.get(word)
        if limit is None or (word.endswith("imum") and _other(word) in said):
            continue
        is_told = told is not None and (
            told == limit
            or (word in _LOWER and told > limit)
            or (word in _UPPER and told < limit)
        )
        if not is_told:
            yield f"{named} takes `{word}: {_shown(limit)}`, which the spec does not say"


def _other(word: str) -> str:
    """`minimum` for `exclusiveMinimum`, and the reverse."""
    if word.startswith("exclusive"):
        return word.removeprefix("exclusive").lower()
    return f"exclusive{word.capitalize()}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def typed_function(
    function: Callable[..., Any], tool: Tool, package: str | None
) -> Callable[..., Any]:
    """A function for plain JSON values around a handler that is given others.

    Args:
        function: the handler.
        tool: says which values, and which classes, it is given and gives.
        package: the package that has to define its classes.

    Raises:
        ImportError: a class cannot be had, or is not the package's own; AttributeError,
            TypeError and ValueError too, where it does not agree with the tool's schemas.
    """
    values = PythonValues(tool.handler_parameters) if tool.has_python_values else None
    written = WrittenBytes(tool.returns) if tool.has_python_values else None
    model: ModelOfArguments | None = None
    result_model: ModelOfResult | None = None
    if tool.arguments_type is not None:
        model = ModelOfArguments(
            load_class(tool.arguments_type, package),
            tool.handler_parameters,
            has_values=tool.has_python_values,
        )
    if tool.result_type is not None:
        result_model = ModelOfResult(
            load_class(tool.result_type, package),
            tool.returns,
            has_values=tool.has_python_values,
        )

    def given(arguments: Mapping[str, Any]) -> Any:
        converted = arguments if values is None else values.of(arguments)
        return converted if model is None else model.of(converted)

    def plain(result: Any) -> Any:
        if isinstance(result, ToolResponse):
            if result.result is None:
                return result
            return replace(result, result=plain(result.result))
        if result_model is not None:
            result = result_model.plain(result)
        return result if written is None else written.of(result)

    async def awaited(result: Awaitable[Any]) -> Any:
        return plain(await result)

    @functools.wraps(function)
    def typed(*mapping: Any, **keywords: Any) -> Any:
        if mapping:
            result = function(given(mapping[0]), **keywords)
        else:
            resources = {name: keywords.pop(name) for name in tool.uses}
            result = function(**given(keywords), **resources)
        return awaited(result) if inspect.isawaitable(result) else plain(result)

    if model is not None:
        typed.__signature__ = _with_one(function)  # type: ignore[attr-defined]
    return typed


def _with_one(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function whose first parameter is given by its place."""
    first, *others = inspect.signature(function).parameters.values()
    if first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise TypeError("it takes no argument by its place")
    return inspect.Signature([first.replace(kind=first.POSITIONAL_ONLY), *others])
