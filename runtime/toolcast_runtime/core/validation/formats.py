"""The formats that arguments of calls are held to, and what each asks for in words.

JSON Schema Validation 2020-12, section 7.3; `jsonschema-rs` checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from .pattern_cost import PatternCost


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
"""All of JSON Schema; the others are told and not asserted."""

_PLAIN = PatternCost(2_000, 10.0)
# Named groups are compared with each other.
_REGEX = PatternCost(2_000, 60.0, 0.03)


def wanted(name: str) -> str:
    """What an asserted format asks for, as the end of `must be`."""
    what, example = ASSERTED[name]
    return f'{what} (`format: {name}`), such as "{example}"'


def format_cost(name: object) -> PatternCost | None:
    """What checking a text by a format costs; None for one that is not asserted."""
    if not isinstance(name, str) or name not in ASSERTED:
        return None
    return _REGEX if name == "regex" else _PLAIN


@cache
def format_checks(dialect: str) -> dict[str, Callable[[str], bool]]:
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
    return checks


def _any(text: str) -> bool:
    return True
