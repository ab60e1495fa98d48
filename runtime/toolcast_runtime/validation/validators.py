"""Arguments and results against the tool's JSON Schemas and its actions.

Needs `jsonschema-rs`, imported at the first check. It follows JSON Schema 2020-12 and the
older drafts, matches patterns in linear time where they allow it and gives up on them at a
bound where they do not. References never leave the schema: no file and no address is opened.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..calls.untrusted_text import escaped
from ..tools.tool import Action, Tool
from .json_bounds import Size, measure
from .schema_visits import most_visits, multiplies

if TYPE_CHECKING:
    from jsonschema_rs import Registry, ValidationError

__all__ = ["Validators", "build", "compiled", "problems_with_actions"]

_logger = logging.getLogger("toolcast")

_MOST_PROBLEMS = 10
_MOST_EXPLAINED_VALUES = 1_000
_MOST_ERRORS = 10_000
_MOST_VISITS = 500
_MOST_BACKTRACKS = 100_000
_DIALECTS = {
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
}
_KINDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}
_LIMITS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "uniqueItems": "must not repeat an item",
    "pattern": "must match {}",
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
        problems = _problems(self._arguments, tool.name, tool.parameters, arguments)
        return problems or list(problems_with_actions(tool, arguments))

    def problems_with_result(self, tool: Tool, result: Any) -> list[str]:
        """What is wrong with a result; empty when nothing is or no schema is declared."""
        if tool.returns is None:
            return []
        return _problems(self._results, tool.name, tool.returns, result)


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


def compiled(schema: Any) -> Any:
    """The validator of a schema of anyone's, of jsonschema-rs.

    Args:
        schema: in any dialect; 2020-12 when it does not say.

    Raises:
        ValueError: it cannot be applied.
    """
    if multiplies(schema):
        raise ValueError("its references multiply beyond what can be followed")
    return build(schema)


def build(schema: Any, registry: Registry | None = None) -> Any:
    """The validator of a schema that is known not to multiply.

    Args:
        schema: in any dialect; 2020-12 when it does not say.
        registry: other schemas that it may refer to; by default it may to none.

    Raises:
        ValueError: it cannot be applied.
    """
    import jsonschema_rs

    named = schema.get("$schema", "") if isinstance(schema, Mapping) else ""
    dialect = next((d for d in _DIALECTS if d in str(named)), "")
    kind = getattr(jsonschema_rs, _DIALECTS.get(dialect, "Draft202012Validator"))
    return kind(
        schema,
        validate_formats=False,
        registry=registry,
        retriever=_refuse,
        pattern_options=jsonschema_rs.FancyRegexOptions(
            backtrack_limit=_MOST_BACKTRACKS
        ),
    )


def _refuse(address: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {address}")


def _problems(
    validators: dict[str, Any], name: str, schema: Any, value: Any
) -> list[str]:
    validator = validators.get(name)
    if validator is None:
        try:
            validator = validators[name] = compiled(schema)
        except Exception as error:
            # What cannot be checked is not let through. The text quotes the schema, which
            # may be a stranger's.
            text = escaped(str(error))
            _logger.error("the schema of %s cannot be applied: %s", name, text)
            return ["the value cannot be checked: the tool's schema cannot be applied"]
    size = measure(value)
    if size.problem is not None:
        return [f"the value cannot be taken: it has {size.problem}"]
    try:
        if validator.is_valid(value):
            return []
        return _explained(validator, schema, value, size)
    except (ValueError, TypeError) as error:
        return [f"not a JSON value: {error}"]


def _explained(validator: Any, schema: Any, value: Any, size: Size) -> list[str]:
    """What is wrong with a value that is not valid, in bounded time.

    The library finds all errors before it gives the first. In a large value that takes
    long, and where a schema leads to one place in several ways it is exponential.
    """
    import jsonschema_rs

    visits = most_visits(schema, size.levels, _MOST_VISITS)
    if visits is None:
        return ["the value does not match the schema"]
    if size.values > _MOST_EXPLAINED_VALUES or size.values * visits > _MOST_ERRORS:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as first:
            return list(_worded(first))[:_MOST_PROBLEMS]
    problems: list[str] = []
    for error in validator.iter_errors(value):
        problems.extend(_worded(error))
        if len(problems) >= _MOST_PROBLEMS:
            break
    return problems


def _worded(error: ValidationError) -> Iterator[str]:
    """One error in words that name the place and the rule, not the whole value."""
    place = _place(error.instance_path)
    kind: Any = error.kind
    keyword, details = kind.name, kind.as_dict()
    if keyword == "required":
        yield f"`{_join(place, details['property'])}` is required"
    elif keyword in ("additionalProperties", "unevaluatedProperties"):
        for name in details["unexpected"][:_MOST_PROBLEMS]:
            yield f"`{_join(place, name)}` is not a parameter"
    elif keyword == "type":
        wanted = " or ".join(_KINDS.get(kind, kind) for kind in details["types"])
        yield f"{_named(place)} must be {wanted}"
    elif keyword == "enum":
        choices = ", ".join(_shown(choice) for choice in details["options"])
        yield f"{_named(place)} must be one of {choices}"
    elif keyword == "const":
        yield f"{_named(place)} must be {_shown(details['expected_value'])}"
    elif keyword == "falseSchema" and "additional" in str(error.schema_path[-1:]):
        yield f"{_named(place)} has a parameter that is not declared"
    elif keyword == "pattern" and "error" in details:
        yield f"{_named(place)} takes too long to match with the schema's `pattern`"
    elif keyword == "falseSchema":
        yield f"{_named(place)} is not allowed"
    elif keyword in ("anyOf", "oneOf", "not", "propertyNames", "contains"):
        yield f"{_named(place)} does not match the schema's `{keyword}`"
    else:
        words = _LIMITS.get(keyword, f"breaks `{keyword}` {{}}")
        limits = ", ".join(_shown(limit) for limit in details.values())
        yield f"{_named(place)} {words.format(limits)}".rstrip()


def _place(path: list[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return _shortened(text)


def _join(place: str, name: str) -> str:
    return _shortened(f"{place}.{name}" if place else name)


def _shortened(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:78]}...{text[-79:]}"


def _named(place: str) -> str:
    return f"`{place}`" if place else "the value"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
