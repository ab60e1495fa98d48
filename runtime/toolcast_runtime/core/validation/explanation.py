"""Conversion of the validator's errors to short messages that help a model fix its call."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .compiled import describe_format
from .references import as_mapping

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MAX_NAMES_SHOWN = 10
"""Maximum number of names or values that a message lists."""
_MAX_BRANCH_PROBLEMS = 3
"""Maximum number of problems of the closest alternative that a message lists."""
_MAX_NESTED_BRANCHES = 3
"""Maximum number of nested alternatives that a message explains."""
_MAX_COMPARED = 200
"""Maximum length of a name, and maximum number of names, compared for a suggestion."""
_MAX_PROBLEM_CHARACTERS = 600
"""Maximum length of one problem's message."""
_TYPE_NAMES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}
_LIMIT_MESSAGES = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} members",
    "maxProperties": "must have at most {} members",
    "uniqueItems": "must not repeat an item",
    "pattern": "must match {}",
}


class Explanation:
    """Messages for the errors of one schema's validator."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def explain(self, error: ValidationError, nested: int = 0) -> Iterator[str]:
        """Yield the messages for an error; each names the invalid part and the rule.

        Args:
            error: an error of the validator.
            nested: how many alternatives (`anyOf`, `oneOf`) contain the error.
        """
        for message in self._build_messages(error, nested):
            if len(message) > _MAX_PROBLEM_CHARACTERS:
                message = message[: _MAX_PROBLEM_CHARACTERS - 3] + "..."
            yield message

    def _build_messages(self, error: ValidationError, nested: int) -> Iterator[str]:
        path = _format_path(error.instance_path)
        subject = _format_subject(path)
        kind: Any = error.kind
        keyword, details = kind.name, kind.as_dict()
        if keyword == "required":
            yield self._explain_required(error, path, details["property"])
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            declared = self._get_declared_names(error)
            for name in details["unexpected"][:_MAX_NAMES_SHOWN]:
                hint = _suggest_name(name, declared)
                yield f"`{_join_path(path, name)}` is not a parameter{hint}"
        elif keyword == "type":
            types = _format_types(details["types"])
            yield f"{subject} must be {types}{_format_condition(error)}"
        elif keyword == "enum":
            yield f"{subject} {_format_enum(details['options'], error.instance)}"
        elif keyword == "const":
            yield f"{subject} must be {_format_value(details['expected_value'])}"
        elif keyword in ("anyOf", "oneOf"):
            yield self._explain_alternatives(error, path, keyword, details, nested)
        elif keyword == "not":
            yield f"{subject} must not {_format_forbidden(details['schema'])}"
        elif keyword == "propertyNames":
            name_error = details["error"]
            name = _format_value(name_error.instance)
            message = next(self._build_messages(name_error, nested + 1), "")
            # The nested message begins with "the value", which here is the name that the
            # message already states.
            reason = message.removeprefix("the value ")
            yield f"{subject} has the name {name}, which {reason}"
        elif keyword == "contains":
            yield f"{subject} {self._explain_contains(error)}"
        elif keyword == "falseSchema" and "additional" in str(error.schema_path[-1:]):
            yield f"{subject} has a parameter that is not declared"
        elif keyword == "falseSchema":
            yield f"{subject} is not allowed{_format_condition(error)}"
        elif keyword in ("additionalItems", "unevaluatedItems"):
            yield f"{subject} has more items than are allowed"
        elif keyword == "format":
            description = describe_format(details["format"])
            yield f"{subject} must be {description}{_format_condition(error)}"
        elif keyword == "pattern" and "error" in details:
            yield f"{subject} takes too long to match with the schema's `pattern`"
        else:
            template = _LIMIT_MESSAGES.get(keyword, f"violates `{keyword}` {{}}")
            limits = ", ".join(_format_value(limit) for limit in details.values())
            predicate = _fix_plural(template.format(limits))
            yield f"{subject} {predicate}".rstrip() + _format_condition(error)

    def _explain_required(self, error: ValidationError, path: str, name: str) -> str:
        message = f"`{_join_path(path, name)}` is required"
        # The keyword is an object in `dependentRequired`, and an array in `required`.
        for other, names in as_mapping(self._get_subschema(error.schema_path)).items():
            if (
                other in as_mapping(error.instance)
                and isinstance(names, (list, tuple))
                and name in names
            ):
                return f"{message} when `{_join_path(path, other)}` is given"
        return message + _format_condition(error)

    def _explain_alternatives(
        self,
        error: ValidationError,
        path: str,
        keyword: str,
        details: Mapping[str, Any],
        nested: int,
    ) -> str:
        """Return why no alternative matches, or why several of `oneOf` match."""
        branches: list[list[ValidationError]] = [
            list(errors) for errors in details.get("context", ())
        ]
        schemas = self._get_subschema(error.schema_path)
        schemas = schemas if isinstance(schemas, (list, tuple)) else ()
        matching = [i for i, errors in enumerate(branches) if not errors]
        subject = _format_subject(path)
        # If an alternative matches, the keyword is `oneOf` and more than one matched.
        if matching:
            names = [_describe_branch(i, schemas) for i in matching[:_MAX_NAMES_SHOWN]]
            listed = " and ".join(names)
            return f"{subject} matches {listed} of `{keyword}` and may match only one"
        if not branches or nested >= _MAX_NESTED_BRANCHES:
            return f"{subject} does not match the schema's `{keyword}`"
        message = _find_common_message(error, branches)
        if message is not None:
            return message
        nearest = min(
            range(len(branches)), key=lambda i: _measure_distance(error, branches[i])
        )
        problems: list[str] = []
        for branch_error in branches[nearest][:_MAX_BRANCH_PROBLEMS]:
            problems += self._build_messages(branch_error, nested + 1)
        more = len(branches[nearest]) - _MAX_BRANCH_PROBLEMS
        rest = f"; and {more} more" if more > 0 else ""
        return (
            f"{subject} matches none of the {len(branches)} alternatives of `{keyword}`;"
            f" {_describe_branch(nearest, schemas)} comes nearest:"
            f" {'; '.join(problems[:_MAX_BRANCH_PROBLEMS])}{rest}"
        )

    def _explain_contains(self, error: ValidationError) -> str:
        schema = as_mapping(self._get_subschema(error.schema_path[:-1]))
        contains = _format_value(schema.get("contains", {}))
        minimum, maximum = schema.get("minContains", 1), schema.get("maxContains")
        if error.schema_path[-1:] == ["maxContains"]:
            return f"must have at most {maximum} items that match {contains}"
        return f"must have at least {minimum} items that match {contains}"

    def _get_declared_names(self, error: ValidationError) -> list[str]:
        """Return the names in `properties` of the schema that an error belongs to."""
        schema = as_mapping(self._get_subschema(error.schema_path[:-1]))
        return list(as_mapping(schema.get("properties")))

    def _get_subschema(self, path: Sequence[str | int]) -> Any:
        """Return the part of the schema at a path; None if there is none."""
        part = self._schema
        for step in path:
            if isinstance(part, Mapping) and step in part:
                part = part[step]
            elif isinstance(part, (list, tuple)) and isinstance(step, int):
                part = part[step] if step < len(part) else None
            else:
                return None
        return part


def _find_common_message(
    error: ValidationError, branches: list[list[ValidationError]]
) -> str | None:
    """Return one message for all alternatives if they differ in only one way.

    They may differ in the type of the value, in one required name, or in the value of a
    discriminator.
    """
    # If some alternatives are for the value's type, compare only those.
    same_type = [errors for errors in branches if not _has_type_error(error, errors)]
    branches = same_type or branches
    firsts = [errors[0] for errors in branches]
    kinds: list[Any] = [first.kind for first in firsts]
    keywords = {kind.name for kind in kinds}
    path = _format_path(error.instance_path)
    if keywords == {"type"} and all(
        first.instance_path == error.instance_path for first in firsts
    ):
        types = [name for kind in kinds for name in kind.as_dict()["types"]]
        return f"{_format_subject(path)} must be {_format_types(types)}"
    if len(branches) == 1:
        return None
    if keywords == {"required"} and all(
        len(errors) == 1 and errors[0].instance_path == error.instance_path
        for errors in branches
    ):
        missing = [
            f"`{_join_path(path, kind.as_dict()['property'])}`" for kind in kinds
        ]
        return f"one of {_format_list(missing)} is required"
    discriminators: list[ValidationError] = []
    for errors in branches:
        discriminator = _find_discriminator(error, errors)
        if discriminator is None:
            return None
        discriminators.append(discriminator)
    paths = {tuple(discriminator.instance_path) for discriminator in discriminators}
    if len(paths) == 1:
        options = [
            o for discriminator in discriminators for o in _options(discriminator)
        ]
        subject = _format_subject(_format_path(list(paths.pop())))
        return f"{subject} {_format_enum(options, discriminators[0].instance)}"
    return None


def _find_discriminator(
    error: ValidationError, errors: list[ValidationError]
) -> ValidationError | None:
    """Return an alternative's first `const` or `enum` error near its root, or None.

    Such a keyword, for example in a property `type`, probably identifies the alternative.
    """
    depth = len(error.instance_path)
    for branch_error in errors:
        if branch_error.kind.name in ("const", "enum") and (
            len(branch_error.instance_path) <= depth + 1
        ):
            return branch_error
    return None


def _options(error: ValidationError) -> list[Any]:
    """Return the allowed values of an error about `enum` or `const`."""
    kind: Any = error.kind
    details = kind.as_dict()
    if "options" in details:
        return list(details["options"])
    return [details["expected_value"]]


def _measure_distance(
    error: ValidationError, errors: list[ValidationError]
) -> tuple[int, ...]:
    """Return a sort key for an alternative's errors; the lowest key is the closest match.

    The key contains, in this order: a wrong type, a wrong discriminator, the number of errors,
    and their depth.
    """
    has_type_error = _has_type_error(error, errors)
    has_other_discriminator = _find_discriminator(error, errors) is not None
    depth = max(len(branch_error.instance_path) for branch_error in errors)
    # Negate the depth: the deeper the errors are, the larger is the part that matches.
    return has_type_error, has_other_discriminator, len(errors), -depth


def _has_type_error(error: ValidationError, errors: list[ValidationError]) -> bool:
    """Return whether an alternative's errors state that the value itself has a wrong type."""
    depth = len(error.instance_path)
    return any(
        branch_error.kind.name == "type" and len(branch_error.instance_path) == depth
        for branch_error in errors
    )


def _describe_branch(index: int, schemas: Sequence[Any]) -> str:
    """Return the number of an alternative, with its title, definition or discriminator."""
    schema = as_mapping(schemas[index]) if index < len(schemas) else {}
    name = schema.get("title")
    if not isinstance(name, str) and isinstance(schema.get("$ref"), str):
        name = schema["$ref"].rpartition("/")[2]
    if not isinstance(name, str):
        # The first property with a `const` probably identifies the alternative.
        properties = list(as_mapping(schema.get("properties")).items())[
            :_MAX_NAMES_SHOWN
        ]
        name = next(
            (
                f"{key}: {_format_value(value['const'])}"
                for key, value in properties
                if isinstance(value, Mapping) and "const" in value
            ),
            None,
        )
    suffix = f" ({shorten_path(name)})" if isinstance(name, str) and name else ""
    return f"number {index + 1}{suffix}"


def _format_forbidden(schema: Any) -> str:
    """Return a verb phrase for the subschema of `not`, as a completion of `must not`."""
    schema = as_mapping(schema)
    if set(schema) == {"required"} and isinstance(schema["required"], list):
        names = _format_list([f"`{name}`" for name in schema["required"]], "and")
        together = " together" if len(schema["required"]) > 1 else ""
        return f"have {names}{together}"
    if set(schema) == {"type"}:
        types = schema["type"]
        return f"be {_format_types([types] if isinstance(types, str) else types)}"
    if set(schema) == {"const"}:
        return f"be {_format_value(schema['const'])}"
    if set(schema) == {"enum"} and isinstance(schema["enum"], list):
        return f"be {_format_list([_format_value(value) for value in schema['enum']])}"
    return f"match {_format_value(schema)}"


def _fix_plural(message: str) -> str:
    """Return `at least 1 item` for `at least 1 items`."""
    is_singular = message.endswith((" 1 characters", " 1 items"))
    return message[:-1] if is_singular else message


def _format_condition(error: ValidationError) -> str:
    """Return text that states the `if` under which a violated rule applies; "" without `if`."""
    for step in reversed(error.schema_path[:-1]):
        if step in ("then", "else"):
            matches = "matches" if step == "then" else "does not match"
            return f" (the schema's `if` {matches})"
        # Stop at the enclosing property or item: conditions outside of it apply to the parent.
        if step in ("properties", "items", "$defs"):
            break
    return ""


def _format_enum(options: Sequence[Any], value: Any) -> str:
    """Return `must be one of ...`, perhaps with a suggestion for the invalid value."""
    choices = list(dict.fromkeys(map(_format_value, options[: _MAX_NAMES_SHOWN + 1])))
    if len(choices) == 1 and len(options) == 1:
        return f"must be {choices[0]}"
    names = [option for option in options if isinstance(option, str)]
    if len(options) <= _MAX_NAMES_SHOWN + 1:
        hint = _suggest_name(value, names) if len(options) > 3 else ""
        return f"must be one of {', '.join(choices)}{hint}"
    more = len(options) - _MAX_NAMES_SHOWN
    listed = ", ".join(choices[:_MAX_NAMES_SHOWN])
    return f"must be one of {listed} and {more:,} more{_suggest_name(value, names)}"


def _suggest_name(value: Any, names: Sequence[str]) -> str:
    """Return `; did you mean ...?` with the most similar name; "" if none is similar."""
    if not isinstance(value, str) or len(value) > _MAX_COMPARED:
        return ""
    candidates = [name for name in names[:1_000] if len(name) <= _MAX_COMPARED]
    by_lower_case = {name.lower(): name for name in candidates}
    if value.lower() in by_lower_case:
        return f"; did you mean `{by_lower_case[value.lower()]}`?"
    matches = difflib.get_close_matches(value, candidates[:_MAX_COMPARED], 1)
    return f"; did you mean `{matches[0]}`?" if matches else ""


def _format_types(types: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(_TYPE_NAMES.get(name, name) for name in types))


def _format_list(items: Sequence[str], conjunction: str = "or") -> str:
    listed = list(dict.fromkeys(items[:_MAX_NAMES_SHOWN]))
    if len(items) > _MAX_NAMES_SHOWN:
        return f"{', '.join(listed)} and {len(items) - _MAX_NAMES_SHOWN:,} more"
    if len(listed) == 1:
        return listed[0]
    return f"{', '.join(listed[:-1])} {conjunction} {listed[-1]}"


def _format_path(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return shorten_path(text)


def _join_path(path: str, name: str) -> str:
    return shorten_path(f"{path}.{name}" if path else name)


def shorten_path(text: str) -> str:
    """Return a path with its middle omitted if it is longer than 160 characters."""
    return text if len(text) <= 160 else f"{text[:78]}...{text[-79:]}"


def _format_subject(path: str) -> str:
    return f"`{path}`" if path else "the value"


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
