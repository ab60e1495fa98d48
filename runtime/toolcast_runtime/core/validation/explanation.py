"""The validator's errors in words that a model can act on, of bounded length."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .compiled import wanted
from .references import mapping

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MAX_NAMES_SHOWN = 10
"""Names or values that a message lists."""
_MAX_BRANCH_PROBLEMS = 3
"""Problems of the closest alternative that a message lists."""
_MAX_NESTED_BRANCHES = 3
"""Levels of nested alternatives that a message explains."""
_MAX_COMPARED = 200
"""Length of a compared name, and number of names compared, for a suggestion."""
_MAX_PROBLEM_CHARACTERS = 600
"""Characters of one problem."""
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
    "minProperties": "must have at least {} members",
    "maxProperties": "must have at most {} members",
    "uniqueItems": "must not repeat an item",
    "pattern": "must match {}",
}
_DEPENDENCIES = ("dependentRequired", "dependencies")


class Explanation:
    """Words for the errors of one schema's validator."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def of(self, error: ValidationError, nested: int = 0) -> Iterator[str]:
        """One error, which stands in so many alternatives: the place and the rule."""
        for text in self._worded(error, nested):
            yield (
                text
                if len(text) <= _MAX_PROBLEM_CHARACTERS
                else text[: _MAX_PROBLEM_CHARACTERS - 3] + "..."
            )

    def _worded(self, error: ValidationError, nested: int) -> Iterator[str]:
        place = _place(error.instance_path)
        kind: Any = error.kind
        keyword, details = kind.name, kind.as_dict()
        if keyword == "required":
            yield self._required(error, place, details["property"])
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            known = self._names_beside(error)
            for name in details["unexpected"][:_MAX_NAMES_SHOWN]:
                meant = _meant(name, known)
                yield f"`{_join(place, name)}` is not a parameter{meant}"
        elif keyword == "type":
            yield f"{_named(place)} must be {_kinds(details['types'])}{_because(error)}"
        elif keyword == "enum":
            yield f"{_named(place)} {_one_of(details['options'], error.instance)}"
        elif keyword == "const":
            yield f"{_named(place)} must be {_shown(details['expected_value'])}"
        elif keyword in ("anyOf", "oneOf"):
            yield self._alternatives(error, place, keyword, details, nested)
        elif keyword == "not":
            yield f"{_named(place)} must not {_forbidden(details['schema'])}"
        elif keyword == "propertyNames":
            name = _shown(details["error"].instance)
            inner = next(self._worded(details["error"], nested + 1), "")
            why = inner.removeprefix("the value ")
            yield f"{_named(place)} has the name {name}, which {why}"
        elif keyword == "contains":
            yield f"{_named(place)} {self._contained(error)}"
        elif keyword == "falseSchema" and "additional" in str(error.schema_path[-1:]):
            yield f"{_named(place)} has a parameter that is not declared"
        elif keyword == "falseSchema":
            yield f"{_named(place)} is not allowed{_because(error)}"
        elif keyword in ("additionalItems", "unevaluatedItems"):
            yield f"{_named(place)} has more items than are allowed"
        elif keyword == "format":
            yield f"{_named(place)} must be {wanted(details['format'])}{_because(error)}"
        elif keyword == "pattern" and "error" in details:
            yield f"{_named(place)} takes too long to match with the schema's `pattern`"
        else:
            words = _LIMITS.get(keyword, f"breaks `{keyword}` {{}}")
            limits = ", ".join(_shown(limit) for limit in details.values())
            said = _one_of_them(words.format(limits))
            yield f"{_named(place)} {said}".rstrip() + _because(error)

    def _required(self, error: ValidationError, place: str, name: str) -> str:
        text = f"`{_join(place, name)}` is required"
        if error.schema_path[-1:] and error.schema_path[-1] in _DEPENDENCIES:
            needing = mapping(self._at(error.schema_path))
            given = [
                other
                for other in needing
                if other in mapping(error.instance)
                and isinstance(needing[other], (list, tuple))
                and name in needing[other]
            ]
            if given:
                return f"{text} when `{_join(place, given[0])}` is given"
        return text + _because(error)

    def _alternatives(
        self,
        error: ValidationError,
        place: str,
        keyword: str,
        details: Mapping[str, Any],
        nested: int,
    ) -> str:
        """Why none of the alternatives matches, or more than one of `oneOf`."""
        branches: list[list[ValidationError]] = [
            list(group) for group in details.get("context", ())
        ]
        schemas = self._at(error.schema_path)
        schemas = schemas if isinstance(schemas, (list, tuple)) else ()
        matching = [i for i, errors in enumerate(branches) if not errors]
        here = _named(place)
        if matching:
            listed = " and ".join(
                _branch(i, schemas) for i in matching[:_MAX_NAMES_SHOWN]
            )
            return f"{here} matches {listed} of `{keyword}` and may match only one"
        if not branches or nested >= _MAX_NESTED_BRANCHES:
            return f"{here} does not match the schema's `{keyword}`"
        shared = _said_by_all(error, branches)
        if shared is not None:
            return shared
        nearest = min(range(len(branches)), key=lambda i: _distance(error, branches[i]))
        problems: list[str] = []
        for inner in branches[nearest][:_MAX_BRANCH_PROBLEMS]:
            problems += self._worded(inner, nested + 1)
        more = len(branches[nearest]) - _MAX_BRANCH_PROBLEMS
        rest = f"; and {more} more" if more > 0 else ""
        return (
            f"{here} matches none of the {len(branches)} alternatives of `{keyword}`;"
            f" {_branch(nearest, schemas)} comes nearest:"
            f" {'; '.join(problems[:_MAX_BRANCH_PROBLEMS])}{rest}"
        )

    def _contained(self, error: ValidationError) -> str:
        schema = mapping(self._at(error.schema_path[:-1]))
        wanted = _shown(schema.get("contains", {}))
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        if error.schema_path[-1:] == ["maxContains"]:
            return f"must have at most {most} items that match {wanted}"
        return f"must have at least {least} items that match {wanted}"

    def _names_beside(self, error: ValidationError) -> list[str]:
        """The names that are declared where one is not."""
        schema = mapping(self._at(error.schema_path[:-1]))
        return list(mapping(schema.get("properties")))

    def _at(self, path: Sequence[str | int]) -> Any:
        found = self._schema
        for step in path:
            if isinstance(found, Mapping) and step in found:
                found = found[step]
            elif isinstance(found, (list, tuple)) and isinstance(step, int):
                found = found[step] if step < len(found) else None
            else:
                return None
        return found


def _said_by_all(
    error: ValidationError, branches: list[list[ValidationError]]
) -> str | None:
    """One sentence for all alternatives, where they differ in one thing alone."""
    of_this_kind = [errors for errors in branches if not _is_other_kind(error, errors)]
    branches = of_this_kind or branches
    firsts = [errors[0] for errors in branches]
    kinds: list[Any] = [first.kind for first in firsts]
    names = {kind.name for kind in kinds}
    here = _named(_place(error.instance_path))
    if names == {"type"} and all(
        first.instance_path == error.instance_path for first in firsts
    ):
        wanted = [name for kind in kinds for name in kind.as_dict()["types"]]
        return f"{here} must be {_kinds(wanted)}"
    if len(branches) == 1:
        return None
    if names == {"required"} and all(
        len(errors) == 1 and errors[0].instance_path == error.instance_path
        for errors in branches
    ):
        place = _place(error.instance_path)
        missing = [f"`{_join(place, kind.as_dict()['property'])}`" for kind in kinds]
        return f"one of {_listed(missing)} is required"
    chosen = [_discriminator(error, errors) for errors in branches]
    paths = {tuple(inner.instance_path) for inner in chosen if inner is not None}
    if len(paths) == 1 and None not in chosen:
        options = [o for inner in chosen if inner is not None for o in _options(inner)]
        value = next(inner.instance for inner in chosen if inner is not None)
        place = _place(list(paths.pop()))
        return f"{_named(place)} {_one_of(options, value)}"
    return None


def _discriminator(
    error: ValidationError, errors: list[ValidationError]
) -> ValidationError | None:
    """What a member is wrong in that says which alternative is meant."""
    depth = len(error.instance_path)
    for inner in errors:
        if inner.kind.name in ("const", "enum") and (
            len(inner.instance_path) <= depth + 1
        ):
            return inner
    return None


def _options(error: ValidationError) -> list[Any]:
    kind: Any = error.kind
    details = kind.as_dict()
    if "options" in details:
        return list(details["options"])
    return [details["expected_value"]]


def _distance(error: ValidationError, errors: list[ValidationError]) -> tuple[int, ...]:
    """How far a value is from an alternative: kind, discriminator, number, depth."""
    is_other_kind = _is_other_kind(error, errors)
    is_other = _discriminator(error, errors) is not None
    deepest = max(len(inner.instance_path) for inner in errors)
    return is_other_kind, is_other, len(errors), -deepest


def _is_other_kind(error: ValidationError, errors: list[ValidationError]) -> bool:
    """Whether an alternative is for values of another type."""
    depth = len(error.instance_path)
    return any(
        inner.kind.name == "type" and len(inner.instance_path) == depth
        for inner in errors
    )


def _branch(index: int, schemas: Sequence[Any]) -> str:
    """An alternative by its number, and what it is called or told from others by."""
    schema = mapping(schemas[index]) if index < len(schemas) else {}
    name = schema.get("title")
    if not isinstance(name, str) and isinstance(schema.get("$ref"), str):
        name = schema["$ref"].rpartition("/")[2]
    if not isinstance(name, str):
        # The first constant tells it from the others.
        properties = list(mapping(schema.get("properties")).items())[:_MAX_NAMES_SHOWN]
        constants = (f"{n}: {_shown(p['const'])}" for n, p in properties if _is_one(p))
        name = next(constants, None)
    said = f" ({shortened(name)})" if isinstance(name, str) and name else ""
    return f"number {index + 1}{said}"


def _is_one(schema: Any) -> bool:
    return isinstance(schema, Mapping) and "const" in schema


def _forbidden(schema: Any) -> str:
    """What `not` forbids, as the end of a sentence."""
    schema = mapping(schema)
    if set(schema) == {"required"} and isinstance(schema["required"], list):
        names = _listed([f"`{name}`" for name in schema["required"]], "and")
        together = " together" if len(schema["required"]) > 1 else ""
        return f"have {names}{together}"
    if set(schema) == {"type"}:
        types = schema["type"]
        return f"be {_kinds([types] if isinstance(types, str) else types)}"
    if set(schema) == {"const"}:
        return f"be {_shown(schema['const'])}"
    if set(schema) == {"enum"} and isinstance(schema["enum"], list):
        return f"be {_listed([_shown(option) for option in schema['enum']])}"
    return f"match {_shown(schema)}"


def _one_of_them(words: str) -> str:
    """`at least 1 item`, not `1 items`."""
    return words[:-1] if words.endswith((" 1 characters", " 1 items")) else words


def _because(error: ValidationError) -> str:
    """The condition that a rule belongs to."""
    for step in reversed(error.schema_path[:-1]):
        if step in ("then", "else"):
            matches = "matches" if step == "then" else "does not match"
            return f" (the schema's `if` {matches})"
        if step in ("properties", "items", "$defs"):
            break
    return ""


def _one_of(options: Sequence[Any], value: Any) -> str:
    choices = list(dict.fromkeys(map(_shown, options[: _MAX_NAMES_SHOWN + 1])))
    if len(choices) == 1 and len(options) == 1:
        return f"must be {choices[0]}"
    texts = [option for option in options if isinstance(option, str)]
    if len(options) <= _MAX_NAMES_SHOWN + 1:
        meant = _meant(value, texts) if len(options) > 3 else ""
        return f"must be one of {', '.join(choices)}{meant}"
    more = len(options) - _MAX_NAMES_SHOWN
    listed = ", ".join(choices[:_MAX_NAMES_SHOWN])
    return f"must be one of {listed} and {more:,} more{_meant(value, texts)}"


def _meant(value: Any, known: Sequence[str]) -> str:
    """The known name that was probably meant, as the end of a sentence."""
    if not isinstance(value, str) or len(value) > _MAX_COMPARED:
        return ""
    near = [name for name in known[:1_000] if len(name) <= _MAX_COMPARED]
    lowered = {name.lower(): name for name in near}
    if value.lower() in lowered:
        return f"; did you mean `{lowered[value.lower()]}`?"
    found = difflib.get_close_matches(value, near[:_MAX_COMPARED], 1)
    return f"; did you mean `{found[0]}`?" if found else ""


def _kinds(types: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(_KINDS.get(kind, kind) for kind in types))


def _listed(words: Sequence[str], last: str = "or") -> str:
    shown = list(dict.fromkeys(words[:_MAX_NAMES_SHOWN]))
    if len(words) > _MAX_NAMES_SHOWN:
        return f"{', '.join(shown)} and {len(words) - _MAX_NAMES_SHOWN:,} more"
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def _place(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return shortened(text)


def _join(place: str, name: str) -> str:
    return shortened(f"{place}.{name}" if place else name)


def shortened(text: str) -> str:
    """The name of a place, its middle left out where it is long."""
    return text if len(text) <= 160 else f"{text[:78]}...{text[-79:]}"


def _named(place: str) -> str:
    return f"`{place}`" if place else "the value"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
