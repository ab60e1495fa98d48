"""Validators of JSON Schemas, of `jsonschema-rs`, which is imported at the first one.

It follows JSON Schema 2020-12 and the older drafts, matches patterns in linear time where
they allow it and gives up on them at a bound where they do not. References never leave the
schema: no file and no address is opened. Formats, where they are asserted, are those of JSON
Schema Validation 2020-12, section 7.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import quote

from .limits import multiplies, patterns_are_too_large
from .references import Step, mapping, pointer

if TYPE_CHECKING:
    from jsonschema_rs import Registry

# A number of JSON without an exponent.
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_ADDRESS = "json-schema:///schema"
_MAX_BACKTRACKS = 20_000
"""Backtracking steps of the pattern engine for one match."""
_MAX_PATTERN_BYTES = 1024 * 1024
"""Size of a compiled pattern."""
_DIALECTS = {
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
}


class Format(NamedTuple):
    """What a format asks for.

    Attributes:
        what: it, as the end of `must be`.
        example: a text that is of it.
    """

    what: str
    example: str


ASSERTED = {
    "date": Format("a date", "2026-11-22"),
    "date-time": Format(
        "a date and time with a time zone", "2026-11-22T14:30:00+01:00"
    ),
    "time": Format("a time with a time zone", "14:30:00Z"),
    "duration": Format("a duration", "P3DT12H"),
    "uuid": Format("a UUID", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    "decimal": Format("a decimal number as text, without an exponent", "12.50"),
    "email": Format("an e-mail address", "ada@example.com"),
    "uri": Format("an absolute URI", "https://example.com/a?b=c"),
    "ipv4": Format("an IPv4 address", "192.0.2.1"),
    "ipv6": Format("an IPv6 address", "2001:db8::1"),
    "regex": Format("a regular expression of ECMA-262", "^[a-z]+$"),
}
"""The formats that are asserted, by their names."""

FORMATS = (
    *ASSERTED,
    "idn-email",
    "hostname",
    "idn-hostname",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
)
"""All of JSON Schema, and OpenAPI's `decimal`; the others are told and not asserted."""


def compiled(schema: Any, *, asserts_formats: bool = False) -> Any:
    """The validator of a schema of anyone's.

    Args:
        schema: in any dialect; 2020-12 when it does not say.
        asserts_formats: whether a text has to be of its `format`.

    Raises:
        ValueError: it cannot be applied.
    """
    if multiplies(schema):
        raise ValueError("its references multiply beyond what can be followed")
    if patterns_are_too_large(schema):
        raise ValueError("its patterns are too large together")
    return build(schema, asserts_formats=asserts_formats)


def build(
    schema: Any, registry: Registry | None = None, *, asserts_formats: bool = False
) -> Any:
    """As `compiled`, of a schema that is known not to multiply.

    Args:
        registry: other schemas that it may refer to; by default it may to none.
    """
    import jsonschema_rs

    named = schema.get("$schema", "") if isinstance(schema, Mapping) else ""
    dialect = next((d for d in _DIALECTS if d in str(named)), "")
    kind = getattr(jsonschema_rs, _DIALECTS.get(dialect, "Draft202012Validator"))
    return kind(
        schema,
        validate_formats=asserts_formats,
        formats=_format_checks(dialect) if asserts_formats else None,
        registry=registry,
        retriever=_refuse,
        pattern_options=jsonschema_rs.FancyRegexOptions(
            backtrack_limit=_MAX_BACKTRACKS,
            size_limit=_MAX_PATTERN_BYTES,
        ),
    )


class PartValidators:
    """The validators of the parts of a schema that is known not to multiply, each made once.

    References of the parts lead to what they name in the whole.
    """

    def __init__(self, schema: Any, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._asserts_formats = asserts_formats
        self._made: dict[tuple[Step, ...], Any] = {}

    def of(self, steps: tuple[Step, ...]) -> Any:
        """The validator of the part that some steps lead to.

        Raises:
            ValueError: it cannot be applied.
        """
        if steps not in self._made:
            part = {"$ref": f"{_ADDRESS}#{quote(pointer(steps), safe='/~')}"}
            if "$schema" in mapping(self._schema):
                part["$schema"] = self._schema["$schema"]
            self._made[steps] = build(
                part, self._registry, asserts_formats=self._asserts_formats
            )
        return self._made[steps]

    @cached_property
    def _registry(self) -> Registry:
        import jsonschema_rs

        return jsonschema_rs.Registry([(_ADDRESS, self._schema)])


def _refuse(address: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {address}")


def wanted(name: str) -> str:
    """What an asserted format asks for, as the end of `must be`."""
    what, example = ASSERTED[name]
    return f'{what} (`format: {name}`), such as "{example}"'


@cache
def _format_checks(dialect: str) -> dict[str, Callable[[str], bool]]:
    """The checks of formats in which a dialect's own differ.

    Args:
        dialect: of an older draft; empty for the present one. An older one has fewer
            formats; one that is written in it is meant all the same.
    """
    from jsonschema_rs import Draft202012Validator

    checks: dict[str, Callable[[str], bool]] = dict.fromkeys(
        FORMATS[len(ASSERTED) :], _any
    )
    if dialect:
        for name in ASSERTED:
            alone = Draft202012Validator({"format": name}, validate_formats=True)
            checks[name] = alone.is_valid
    checks["decimal"] = lambda text: _DECIMAL.fullmatch(text) is not None
    return checks


def _any(text: str) -> bool:
    return True
