"""What is wrong with a value by a schema, and with a schema by that of its dialect.

Values of a spec (defaults, examples) are checked within bounded time, by the validator that
checks the arguments of calls when the tool is served, jsonschema-rs. A schema that is not valid
itself checks nothing: that has rules of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from toolcast_runtime.core.validation.bounds import Work
from toolcast_runtime.core.validation.compiled import PartValidators, wanted
from toolcast_runtime.core.validation.limits import measure, most_visits

from ..reading.tree import Path
from ..suggestions import (
    constraint,
    did_you_mean,
    dotted,
    kind_of,
    kinds,
    quoted_list,
)
from .dialects import metaschema
from .graph import JsonSchema

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MOST_VALUES = 2_000


class Refusal(NamedTuple):
    """One thing that is wrong with a value.

    Attributes:
        path: the way to the part of the value that is refused.
        value: that part.
        keyword: the keyword that refuses it; `false` for the schema that allows nothing.
        expected: what the keyword asks for; None where the validator gives no value.
        names: the keys that are missing or not allowed.
        schema_path: the way to the keyword in its own schema.
        within: the refusals of each alternative of `anyOf` or `oneOf`.
    """

    path: Path
    value: Any
    keyword: str
    expected: Any
    names: tuple[str, ...]
    schema_path: Path
    within: tuple[Refusal, ...] = ()


def refusals(
    validator: Any, value: Any, most_values: int = _MOST_VALUES
) -> Iterator[Refusal]:
    """What a validator refuses in a value, each thing once.

    The validator finds everything before it gives the first, which can take much time and
    memory. In a value of more than `most_values` values it is asked for the first alone.
    """
    if measure(value).values > most_values:
        first = first_refusal(validator, value)
        yield from () if first is None else (first,)
        return
    seen: set[tuple[Path, str, tuple[str, ...]]] = set()
    for error in validator.iter_errors(value):
        refusal = _refusal(error)
        if refusal is not None:
            key = refusal.path, refusal.keyword, refusal.names
            if key not in seen:
                seen.add(key)
                yield refusal


def first_refusal(validator: Any, value: Any) -> Refusal | None:
    """The first thing that a validator refuses in a value; None when there is none.

    A pattern whose match takes too long is no fault of the value and not counted.
    """
    import jsonschema_rs

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return _refusal(error)
    return None


def _refusal(error: ValidationError) -> Refusal | None:
    kind: Any = error.kind
    details = kind.as_dict()
    if "error" in details and kind.name != "propertyNames":
        return None
    if kind.name == "propertyNames":
        inner = _refusal(details["error"])
        if inner is None or not isinstance(inner.value, str):
            return inner
        return inner._replace(path=(*error.instance_path, inner.value))
    steps = tuple(error.schema_path)
    keyword = "false" if kind.name == "falseSchema" else kind.name
    names = details.get("unexpected") or details.get("property") or ()
    return Refusal(
        tuple(error.instance_path),
        error.instance,
        keyword,
        next(iter(details.values()), None),
        (names,) if isinstance(names, str) else tuple(names),
        steps,
        tuple(
            inner
            for group in details.get("context", ())
            for inner in map(_refusal, group)
            if inner is not None
        ),
    )


TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

SchemaProblem = tuple[Path, str, str]
"""The path of a value in the schema, what is wrong with it, and what to do."""


def problems_with_schema(schema: JsonSchema) -> Iterator[SchemaProblem]:
    """The problems of a schema by the metaschema of its dialect; none for an unknown one."""
    if schema.dialect is None:
        return
    if schema.is_valid:
        for path in schema.wrong_addresses:
            help_ = "remove it: a tool's schema needs no address"
            yield path, f"`{path[-1]}` is not an address (a URI reference)", help_
        return
    validator = metaschema(schema.dialect)
    seen: set[Path] = set()
    for start in ((), *schema.named):
        whole = "what a `$ref` names" if start else "the schema"
        for refusal in map(_nearest, refusals(validator, schema.at(start))):
            path = (*start, *refusal.path)
            if path not in seen:
                seen.add(path)
                yield (path, *_schema_worded(refusal, whole))


def _nearest(refusal: Refusal) -> Refusal:
    """The deepest refusal inside of an `anyOf`, where that is more precise."""
    while refusal.within:
        deepest = max(refusal.within, key=lambda inner: len(inner.path))
        if len(deepest.path) == len(refusal.path):
            break
        refusal = deepest
    return refusal


def _schema_worded(refusal: Refusal, whole: str) -> tuple[str, str]:
    path, value, keyword = refusal.path, refusal.value, refusal.keyword
    name = f"`{path[-1]}`" if path else whole
    if path and isinstance(path[-1], int) and len(path) > 1:
        name = f"an entry of `{path[-2]}`"
    if path and (path[-1] == "type" or path[-2:-1] == ("type",)):
        if isinstance(value, str):
            meant = did_you_mean(value, TYPES) or f"the types are {quoted_list(TYPES)}"
            return f"`{value[:40]}` is no type of JSON Schema", meant
        return f"{name} must be a type or a list of different types", ""
    if keyword == "type":
        wanted = kinds(refusal.expected)
        return f"{name} must be {wanted}, not {kind_of(value)}", _old_limit(path, value)
    if keyword in ("anyOf", "oneOf"):
        return f"{name} cannot be {kind_of(value)}", ""
    if keyword == "uniqueItems":
        return f"{name} names something twice", "remove one of the two"
    return f"{name} {constraint(keyword, refusal.expected)}", ""


def _old_limit(path: Path, value: Any) -> str:
    if path[-1:] in (("exclusiveMinimum",), ("exclusiveMaximum",)) and value is True:
        limit = str(path[-1]).removeprefix("exclusive").lower()
        return f"give `{path[-1]}` the number itself, and remove `{limit}`"
    if path[-1:] == ("required",) and isinstance(value, bool):
        return "list the names in `required` of the object that has the properties"
    return ""


_MOST_VISITS = 500


class ValueChecker:
    """Checks values against one schema and its parts.

    Args:
        schema: any.
        asserts_formats: whether a text has to be of its `format`.
    """

    def __init__(self, schema: JsonSchema, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._validators = PartValidators(schema.value, asserts_formats=asserts_formats)

    def problem(self, value: Any, path: Path = ()) -> str:
        """What is wrong with a value by the subschema at a path; empty when nothing is."""
        if not self._schema.is_sound:
            return ""
        size = measure(value)
        excess = size.problem or self._work.excess(value, size, self._schema.at(path))
        if excess:
            return f"it cannot be checked: {excess}"
        try:
            validator = self._validators.of(tuple(path))
        except ValueError:
            return ""  # a regular expression that is none
        if validator.is_valid(value):
            return ""
        # Alternatives that come back to themselves have errors without end.
        if most_visits(self._schema.value, size.levels, _MOST_VISITS) is None:
            return "it does not match the schema"
        refusal = first_refusal(validator, value)
        return "" if refusal is None else _value_worded(refusal)

    @cached_property
    def _work(self) -> Work:
        return Work(self._schema.value)


def _value_worded(refusal: Refusal) -> str:
    """One refusal as a clause about `it`, or about the place in it."""
    keyword, expected = refusal.keyword, refusal.expected
    place = dotted(refusal.path)
    where = f"`{place}` " if place else "it "
    if keyword == "required":
        return f"{where}lacks `{refusal.names[0]}`"
    if refusal.names:
        return f"{where}has `{refusal.names[0]}`, which is not a property"
    if keyword == "type":
        return f"{where}must be {kinds(expected)}"
    if keyword == "format":
        return f"{where}must be {wanted(expected)}"
    if keyword == "false":
        return f"{where}is not allowed"
    if keyword in ("anyOf", "oneOf", "not", "contains"):
        return f"{where}does not match `{keyword}`"
    shown = json.dumps(expected, ensure_ascii=False)
    if keyword == "enum":
        return f"{where}must be one of {shown[:80]}"
    return f"{where}breaks `{keyword}: {shown[:60]}`"
