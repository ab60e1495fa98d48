"""Arguments and results as classes of the team's own, by pydantic, imported only here.

Dataclasses, pydantic's models and TypedDicts: whatever its TypeAdapter takes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.context import NotTaken
from .agreement import disagreements, is_open

_logger = logging.getLogger("toolcast")

_MOST_PROBLEMS = 10

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
            NotTaken: the class refuses an argument, or has no field for it. What it says
                stays untold: it may hold secrets.
        """
        from pydantic import ValidationError

        if self._fields is not None:
            unknown = [name for name in arguments if name not in self._fields]
            if unknown:
                raise NotTaken(
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
            raise NotTaken(
                [_refused(place) for place in places][:_MOST_PROBLEMS]
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
        said = "; ".join(wrong[:_MOST_PROBLEMS])
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
