"""What is wrong with a value by a schema, and with a schema by that of its dialect.

Whether it is valid is decided within bounded time by jsonschema-rs, which checks the arguments of
calls as well. What that refused is put into words by `jsonschema`, whose errors know their place,
their schema and what is wrong in each alternative. That is plain Python, so it is asked about
small values only, has every pattern matched by jsonschema-rs (Python's `re` has no bound) and does
not see schemas with what it would take long for. Where it is not asked, or finds nothing, the words of
jsonschema-rs stand. A schema that is not valid itself checks nothing: that has rules of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from toolcast_runtime.core.validation.compiled import PartValidators, build, wanted
from toolcast_runtime.core.validation.explanation import shortened
from toolcast_runtime.core.validation.limits import measure, most_visits

from ..parsing.tree import Path
from ..suggestions import (
    describe_value,
    did_you_mean,
    format_path,
    format_quoted_list,
    format_types,
)
from .dialects import METASCHEMAS, metaschema
from .graph import JsonSchema

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema import ValidationError

_MOST_VALUES = 2_000
_MOST_CHARACTERS = 200_000


def refusals(
    validator: Any, words: Any, value: Any, most_values: int = _MOST_VALUES
) -> Iterator[ValidationError]:
    """What is wrong with a value that is refused, each thing once.

    Args:
        validator: of jsonschema-rs, which has refused the value.
        words: the same schema's of `worded`, if it has one.
        value: any.
        most_values: jsonschema-rs finds everything before it gives the first, which can take
            much time and memory: in a value of more than this it is asked for the first alone.
    """
    from referencing.exceptions import Unresolvable

    size, found = measure(value), list[Any]()
    is_small = size.values <= _MOST_VALUES and size.characters <= _MOST_CHARACTERS
    if words is not None and is_small:
        with suppress(ArithmeticError, RecursionError, Unresolvable):
            found = list(words.iter_errors(value))
    seen: set[tuple[Path, Any]] = set()
    for error in found or _of_engine(validator, value, size.values <= most_values):
        key = tuple(error.path), error.validator
        if key not in seen:
            seen.add(key)
            yield error


def worded(schema: Any, dialect: str, *, asserts_formats: bool = False) -> Any:
    """The validator of `jsonschema` for a schema whose references all lead within it.

    Args:
        schema: without `$schema` below its root, and `patternProperties`.
        dialect: the schema's, of `DIALECTS`.
        asserts_formats: whether a text has to be of its `format`.
    """
    from jsonschema import validators
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it ships no types

    keywords = {"pattern": _asked("pattern"), "propertyNames": _names}
    if asserts_formats:
        keywords["format"] = _asked("format")
    library: Any = validators
    kind = library.extend(getattr(library, METASCHEMAS[dialect][0]), keywords)
    # A part that names its dialect is given to that dialect's own validator, which uses `re`.
    schema = {key: inner for key, inner in schema.items() if key != "$schema"}
    # The registry that is taken where none is given would fetch what it does not know.
    return kind(schema, registry=REGISTRY)


def _asked(keyword: str) -> Callable[..., Iterator[ValidationError]]:
    """A keyword as jsonschema-rs decides on it, in its words."""

    def errors(_: Any, expected: Any, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, str):
            yield from _of_engine(_alone(keyword, expected), value, False)

    return errors


def _names(validator: Any, names: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    """`propertyNames`, each error at the name that it is about."""
    for name in value if isinstance(value, dict) else ():
        yield from validator.descend(name, names, path=name)


@lru_cache(maxsize=100)
def _alone(keyword: str, expected: str) -> Any:
    return build({keyword: expected}, asserts_formats=True)


def _of_engine(validator: Any, value: Any, every: bool) -> Iterator[ValidationError]:
    """What jsonschema-rs finds wrong with a value, or the first thing, in its words.

    A pattern whose match takes too long is no fault of the value and not counted.
    """
    import jsonschema_rs

    errors: Iterable[Any] = ()
    if every:
        errors = validator.iter_errors(value)
    else:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            errors = (error,)
    return filter(None, map(_translated, errors))


def _translated(error: jsonschema_rs.ValidationError) -> ValidationError | None:
    """An error of jsonschema-rs as one of `jsonschema`."""
    import jsonschema

    kind: Any = error.kind
    details = kind.as_dict()
    if kind.name == "propertyNames":
        inner = _translated(details["error"])
        if inner is not None and isinstance(inner.instance, str):
            inner.path.append(inner.instance)
        return inner
    if "error" in details:
        return None
    return jsonschema.ValidationError(
        error.message,
        validator=kind.name,
        path=error.instance_path,
        instance=error.instance,
        validator_value=next(iter(details.values()), None),
        schema_path=error.schema_path,
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
    validator, words = metaschema(schema.dialect), _metaschema_words(schema.dialect)
    seen: set[Path] = set()
    for start in ((), *schema.named):
        part = schema.at(start)
        if validator.is_valid(part):
            continue
        whole = "what a `$ref` names" if start else "the schema"
        for error in map(_deepest, refusals(validator, words, part)):
            path = (*start, *error.absolute_path)
            if path not in seen:
                seen.add(path)
                yield (path, *_schema_worded(error, whole))


@cache
def _metaschema_words(dialect: str) -> Any:
    import jsonschema

    # Its parts name their dialect, and match what stands in a schema by `re`: its patterns are
    # simple ones.
    kind: Any = getattr(jsonschema, METASCHEMAS[dialect][0])
    return worded(kind.META_SCHEMA, dialect)


def _deepest(error: ValidationError) -> ValidationError:
    """The deepest error inside of an `anyOf`, where that is more precise."""
    while error.context:
        deepest = max(error.context, key=lambda inner: len(inner.path))
        if not deepest.path:
            break
        error = deepest
    return error


def _schema_worded(error: ValidationError, whole: str) -> tuple[str, str]:
    path, value = tuple(error.absolute_path), error.instance
    name = f"`{path[-1]}`" if path else whole
    if path and isinstance(path[-1], int) and len(path) > 1:
        name = f"an entry of `{path[-2]}`"
    if path and (path[-1] == "type" or path[-2:-1] == ("type",)):
        if isinstance(value, str):
            meant = (
                did_you_mean(value, TYPES)
                or f"the types are {format_quoted_list(TYPES)}"
            )
            return f"`{value[:40]}` is no type of JSON Schema", meant
        return f"{name} must be a type or a list of different types", ""
    if error.validator == "type":
        asked = format_types(types_of(error))
        return f"{name} must be {asked}, not {describe_value(value)}", _old_limit(
            path, value
        )
    return f"{name}: {shortened(error.message)}", ""


def types_of(error: ValidationError) -> list[str]:
    """The types that an error of `type` asks for."""
    types: Any = error.validator_value
    return [types] if isinstance(types, str) else list(types)


def _old_limit(path: Path, value: Any) -> str:
    if path[-1:] in (("exclusiveMinimum",), ("exclusiveMaximum",)) and value is True:
        limit = str(path[-1]).removeprefix("exclusive").lower()
        return f"give `{path[-1]}` the number itself, and remove `{limit}`"
    if path[-1:] == ("required",) and isinstance(value, bool):
        return "list the names in `required` of the object that has the properties"
    return ""


_MOST_VISITS = 500
_MOST_STEPS = 100_000
_NOT_WORDED = frozenset(
    "patternProperties unevaluatedItems unevaluatedProperties".split()
)
"""The first by `re`; for the others `jsonschema` tries again, at each level, what is below."""


class ValueChecker:
    """Checks values against one schema and its parts.

    Args:
        schema: any.
        asserts_formats: whether a text has to be of its `format`.
    """

    def __init__(self, schema: JsonSchema, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._asserts_formats = asserts_formats
        self._validators = PartValidators(schema.value, asserts_formats=asserts_formats)

    def problem(self, value: Any, path: Path = ()) -> str:
        """What is wrong with a value; empty when nothing is.

        Args:
            value: a JSON value.
            path: the way to the part that it is checked by, which has a default; the whole
                schema where it is empty.
        """
        if not self._schema.is_sound:
            return ""
        size = measure(value)
        excess = size.problem or self._schema.work.excess(
            value, size, self._schema.at(path)
        )
        if excess:
            return f"it cannot be checked: {excess}"
        try:
            validator = self._validators.of(tuple(path))
        except ValueError:
            return ""  # a regular expression that is none
        if validator.is_valid(value):
            return ""
        # Alternatives that come back to themselves have errors without end.
        visits = most_visits(self._schema.value, size.levels, _MOST_VISITS)
        if visits is None:
            return "it does not match the schema"
        from jsonschema.exceptions import best_match

        steps = size.values * max(visits * self._schema.work.most_options, size.values)
        words = None
        if steps <= _MOST_STEPS and self._words is not None:
            words = self._words
            words = words.evolve(schema=self._schema.at(path)) if path else words
        error = best_match(refusals(validator, words, value, most_values=0))
        return "" if error is None else _value_worded(error)

    @cached_property
    def _words(self) -> Any:
        """The validator of `worded`; None for a schema that it does not take."""
        schema = self._schema
        for path, part in schema.subschemas.items():
            if not _NOT_WORDED.isdisjoint(part) or (path and "$schema" in part):
                return None
        if schema.dialect is None or not isinstance(schema.value, dict):
            return None
        return worded(
            schema.value, schema.dialect, asserts_formats=self._asserts_formats
        )


def _value_worded(error: ValidationError) -> str:
    """One error as a clause about `it`, or about the place in it."""
    place = format_path(tuple(error.absolute_path))
    subject = f"`{place}`" if place else "it"
    if error.validator == "type":
        return f"{subject} must be {format_types(types_of(error))}"
    if error.validator == "format":
        return f"{subject} must be {wanted(str(error.validator_value))}"
    message = shortened(error.message)
    return f"{subject}: {message}" if place else message
