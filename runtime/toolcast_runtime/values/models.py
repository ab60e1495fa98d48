"""Arguments and results as classes of the team's own, by pydantic, imported only here.

Dataclasses, pydantic's models and TypedDicts: whatever its TypeAdapter takes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from .refusal import NotTaken

__all__ = ["ModelOfArguments", "ModelOfResult"]

_logger = logging.getLogger("toolcast")

_MOST_PROBLEMS = 10
_KINDS = ("string", "integer", "number", "boolean", "object", "array", "null")


class ModelOfArguments:
    """The class that a handler is given its arguments in.

    Args:
        class_: the class.
        schema: the JSON Schema of the tool's arguments.

    Raises:
        ImportError: pydantic is missing.
        ValueError: the class does not agree with the schema, or no value can be made of it.
    """

    def __init__(self, class_: type, schema: Mapping[str, Any]) -> None:
        self._adapter = _adapter(class_)
        _agree(class_, self._adapter, schema, is_result=False)

    def of(self, arguments: Mapping[str, Any]) -> Any:
        """An instance of the class.

        Raises:
            NotTaken: the class refuses an argument. Its text stays in the log.
        """
        from pydantic import ValidationError

        try:
            return self._adapter.validate_python(dict(arguments))
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
        keeps_values: dates and bytes stay what they are.

    Raises:
        ImportError: as `ModelOfArguments`; ValueError too.
    """

    def __init__(self, class_: type, schema: Any, *, keeps_values: bool) -> None:
        self._adapter = _adapter(class_)
        self._mode = "python" if keeps_values else "json"
        if isinstance(schema, Mapping):
            _agree(class_, self._adapter, schema, is_result=True)

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
    return TypeAdapter(class_)


def _agree(
    class_: type, adapter: Any, schema: Mapping[str, Any], *, is_result: bool
) -> None:
    """Refuses a class whose fields are not those that the schema names."""
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        model = adapter.json_schema(mode="serialization" if is_result else "validation")
    except PydanticInvalidForJsonSchema:
        return  # it says by no schema what it takes
    if "$ref" in model:
        model = model.get("$defs", {}).get(model["$ref"].rpartition("/")[2], {})
    fields, said = model.get("properties"), schema.get("properties")
    if not isinstance(fields, dict) or not isinstance(said, Mapping):
        return
    needed, promised = set(model.get("required", ())), set(schema.get("required", ()))
    if is_result:
        is_open = schema.get("additionalProperties", True) is not False
        lacking = sorted(promised - fields.keys())
        beyond = [] if is_open else sorted(fields.keys() - said.keys())
        wrong = [f"it has no `{name}`, which is required" for name in lacking]
        wrong += [f"`{name}` is not in `returns`" for name in beyond]
    else:
        is_open = model.get("additionalProperties") is True
        dropped = [] if is_open else sorted(said.keys() - fields.keys())
        wrong = [f"it has no `{name}`, which callers may send" for name in dropped]
        wrong += [
            f"it needs `{name}`, which callers need not send"
            for name in sorted(needed - promised)
        ]
    for name in fields.keys() & said.keys():
        one, other = _kind(fields[name]), _kind(said[name])
        if one and other and one != other and {one, other} != {"integer", "number"}:
            wrong.append(f"`{name}` is of type {one}, and {other} in the spec")
    if wrong:
        said_wrong = "; ".join(wrong)
        raise ValueError(
            f"{class_.__name__} does not agree with the spec: {said_wrong}"
        )


def _kind(schema: Any) -> str | None:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind if isinstance(kind, str) and kind in _KINDS else None


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
    named = f"`{place[:160]}`" if place else "the whole"
    return f"{named} is valid by the schema, and refused by the tool"
