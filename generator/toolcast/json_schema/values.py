"""Values of a spec (defaults, examples) against its schemas, within bounded time.

A schema that is not sound checks nothing here: what is wrong with it has a rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any, NoReturn

from ..model.spec_schema import KINDS
from ..reading.tree import Path
from .graph import JsonSchema
from .metaschema import problems_with_schema, validator_class
from .patterns import pattern

__all__ = ["ValueChecker", "patterns_of"]

_MOST_REFERENCES = 20_000
_MOST_PROBLEMS = 3
_QUICK = {
    "2020-12": "Draft202012Validator",
    "2019-09": "Draft201909Validator",
    "draft-07": "Draft7Validator",
    "draft-06": "Draft6Validator",
    "draft-04": "Draft4Validator",
}


class _TooMuch(Exception):
    """A check followed more references than any honest schema has."""


class ValueChecker:
    """Checks values against one schema and its parts.

    A pattern that could take long on a text is passed over, as is one that only ECMA-262
    knows. A quick engine tells whether there is a problem, and jsonschema which, as it does
    for schemas with patterns or references, whose bounds the quick one does not share.
    """

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema

    @cached_property
    def _validator(self) -> Any:
        return _validator(self._schema) if _is_sound(self._schema) else None

    @cached_property
    def _is_simple(self) -> bool:
        schema = self._schema
        return (
            schema.dialect in _QUICK
            and not schema.references
            and next(patterns_of(schema), None) is None
        )

    def problems(self, value: Any, path: Path = ()) -> list[str]:
        """What is wrong with a value by the subschema at a path; empty when nothing is."""
        if self._is_surely_valid(value, path) or self._validator is None:
            return []
        subschema = self._schema.at(path)
        _FOLLOWED.count = 0
        try:
            errors = self._validator.evolve(schema=subschema).iter_errors(value)
            return list(_first(map(_worded, errors)))
        except (_TooMuch, RecursionError, OverflowError):
            return ["it takes the schema too long to check it"]

    def _is_surely_valid(self, value: Any, path: Path) -> bool:
        import jsonschema_rs

        if not self._is_simple:
            return False
        kind = getattr(jsonschema_rs, _QUICK[self._schema.dialect or ""])
        try:
            engine = kind(
                self._schema.at(path), validate_formats=False, retriever=_refuse
            )
            return bool(engine.is_valid(value))
        except (ValueError, OverflowError, RecursionError):
            return False  # a schema that is none, or a text that is not Unicode


def _refuse(address: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {address}")


def patterns_of(schema: JsonSchema) -> Iterator[tuple[Path, str, bool]]:
    """Every regular expression: its path, its text, and whether it is a key."""
    yield from schema.patterns


def _is_sound(schema: JsonSchema) -> bool:
    return (
        schema.dialect is not None
        and all(reference.target is not None for reference in schema.references)
        and not schema.loops
        and not any(pattern(text).error for _, text, _ in patterns_of(schema))
        and next(problems_with_schema(schema), None) is None
    )


class _Followed:
    count = 0


_FOLLOWED = _Followed()


def _validator(schema: JsonSchema) -> Any:
    from referencing import Registry

    return _bounded(schema.dialect or "2020-12")(schema.value, registry=Registry())


@cache
def _bounded(dialect: str) -> Any:
    """The dialect's validator class, with references counted and patterns bounded."""
    from jsonschema import validators

    kind = validator_class(dialect)

    def counted(function: Any) -> Any:
        def follow(*given: Any) -> Any:
            _FOLLOWED.count += 1
            if _FOLLOWED.count > _MOST_REFERENCES:
                raise _TooMuch
            return function(*given)

        return follow

    def matched(validator: Any, text: str, value: Any, subschema: Any) -> Any:
        if isinstance(value, str) and pattern(text).is_quick(len(value)):
            yield from kind.VALIDATORS["pattern"](validator, text, value, subschema)

    def keyed(function: Any) -> Any:
        def check(validator: Any, given: Any, value: Any, subschema: Any) -> Any:
            longest = max(map(len, value), default=0) if isinstance(value, dict) else 0
            patterns = subschema.get("patternProperties", {})
            if all(pattern(text).is_quick(longest) for text in patterns):
                yield from function(validator, given, value, subschema) or ()

        return check

    replaced = {
        name: counted(function)
        for name, function in kind.VALIDATORS.items()
        if name in ("$ref", "$dynamicRef", "$recursiveRef")
    }
    for name in ("patternProperties", "additionalProperties", "unevaluatedProperties"):
        if name in kind.VALIDATORS:
            replaced[name] = keyed(kind.VALIDATORS[name])
    bounded: Any = validators.extend  # typeshed leaves it untyped
    return bounded(kind, {**replaced, "pattern": matched})


def _first(problems: Iterator[str]) -> Iterator[str]:
    for number, problem in enumerate(problems):
        if number == _MOST_PROBLEMS:
            return
        yield problem


def _worded(error: Any) -> str:
    """One error as a clause about `it`, or about the place in it."""
    import json

    keyword, expected = error.validator, error.validator_value
    place = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}"
        for step in error.absolute_path
    ).lstrip(".")
    where = f"`{place}` " if place else "it "
    if keyword == "required":
        missing = [name for name in expected if name not in error.instance]
        return f"{where}lacks `{missing[0]}`" if missing else f"{where}lacks a key"
    if keyword == "additionalProperties" and expected is False:
        known = error.schema.get("properties", {})
        extra = next((name for name in error.instance if name not in known), "")
        return f"{where}has `{extra}`, which is not a property"
    if keyword == "type":
        kinds = [expected] if isinstance(expected, str) else list(expected)
        return f"{where}must be {' or '.join(KINDS[kind] for kind in kinds)}"
    shown = json.dumps(expected, ensure_ascii=False)
    if keyword == "enum":
        return f"{where}must be one of {shown[:80]}"
    if keyword in ("anyOf", "oneOf", "allOf", "not", "if"):
        return f"{where}does not match `{keyword}`"
    return f"{where}breaks `{keyword}: {shown[:60]}`"
