"""Arguments and results against the tool's JSON Schemas and its actions.

Needs `jsonschema`, imported at the first check. References never leave the schema: the
registry is empty, so no file and no address is ever opened.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from .tool import Action, Tool

__all__ = ["Validators", "problems_with_actions"]

_logger = logging.getLogger("toolcast")

_MOST_PROBLEMS = 10
_KINDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}


class Validators:
    """The compiled validators of a toolset, each built when it is first needed."""

    def __init__(self) -> None:
        self._arguments: dict[str, Any] = {}
        self._results: dict[str, Any] = {}

    def problems_with_arguments(
        self, tool: Tool, arguments: Mapping[str, Any]
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is."""
        validator = self._arguments.get(tool.name)
        if validator is None:
            validator = _validator(tool.parameters)
            self._arguments[tool.name] = validator
        problems = _problems(validator, arguments)
        return problems or list(problems_with_actions(tool, arguments))

    def problems_with_result(self, tool: Tool, result: Any) -> list[str]:
        """What is wrong with a result; empty when nothing is or no schema is declared."""
        if tool.returns is None:
            return []
        validator = self._results.get(tool.name)
        if validator is None:
            validator = _validator(tool.returns)
            self._results[tool.name] = validator
        return _problems(validator, result)


def problems_with_actions(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What the chosen action misses, and what it does not take."""
    if tool.action_parameter is None:
        return
    chosen = arguments.get(tool.action_parameter)
    action = tool.actions.get(chosen) if isinstance(chosen, str) else None
    if action is None:
        return
    for name in action.requires:
        if name not in arguments:
            yield f"`{name}` is required for {tool.action_parameter} `{chosen}`"
    if action.requires_any and not any(n in arguments for n in action.requires_any):
        choices = ", ".join(f"`{name}`" for name in action.requires_any)
        yield f"{tool.action_parameter} `{chosen}` needs at least one of {choices}"
    for name in _not_taken(tool.action_parameter, action, arguments):
        yield f"`{name}` is not taken by {tool.action_parameter} `{chosen}`"


def _not_taken(
    parameter: str, action: Action, arguments: Mapping[str, Any]
) -> Iterator[str]:
    if action.accepts is None:
        return
    taken = {parameter, *action.requires, *action.requires_any, *action.accepts}
    yield from (name for name in arguments if name not in taken)


def _validator(schema: Any) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    kind = validator_for(schema, default=Draft202012Validator)
    return kind(schema, registry=Registry())


def _problems(validator: Any, value: Any) -> list[str]:
    problems: list[str] = []
    try:
        for error in validator.iter_errors(value):
            problems.extend(_worded(error))
            if len(problems) >= _MOST_PROBLEMS:
                break
    except Exception:
        # A pattern that Python lacks, a reference that leads out of the schema or round in
        # circles: what cannot be checked is not let through.
        _logger.exception("a schema cannot be applied")
        return ["the value cannot be checked: the tool's schema cannot be applied"]
    return problems


def _worded(error: Any) -> Iterator[str]:
    """One error in words that name the place and the rule, not the whole value."""
    place = _place(error.absolute_path)
    keyword, expected, value = error.validator, error.validator_value, error.instance
    if keyword == "required":
        missing = [name for name in expected if name not in value]
        # jsonschema gives one error for each missing name; its text quotes that name.
        named = [n for n in missing if error.message.startswith(f"{n!r} is")]
        for name in named or missing:
            yield f"`{_join(place, name)}` is required"
    elif keyword == "additionalProperties" and expected is False:
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        for name in value:
            if name not in known and not patterns:
                yield f"`{_join(place, str(name))}` is not a parameter"
        if patterns:
            yield f"{_named(place)} has properties that are not allowed"
    elif keyword == "type":
        kinds = [expected] if isinstance(expected, str) else list(expected)
        wanted = " or ".join(_KINDS.get(kind, str(kind)) for kind in kinds)
        yield f"{_named(place)} must be {wanted}"
    elif keyword == "enum":
        choices = ", ".join(_shown(choice) for choice in expected)
        yield f"{_named(place)} must be one of {choices}"
    elif keyword == "const":
        yield f"{_named(place)} must be {_shown(expected)}"
    elif keyword in ("anyOf", "oneOf", "allOf", "not", "if"):
        yield f"{_named(place)} does not match the schema's `{keyword}`"
    else:
        yield f"{_named(place)} breaks `{keyword}` {_shown(expected)}"


def _place(path: Any) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _named(place: str) -> str:
    return f"`{place}`" if place else "the value"


def _shown(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
