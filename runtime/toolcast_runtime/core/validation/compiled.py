"""Compilation of JSON Schemas to validators of `jsonschema-rs`, which is imported on first use.

The validators support JSON Schema 2020-12 and the earlier drafts. They match patterns in linear
time where possible, and stop backtracking at a limit otherwise. References never leave the
schema: no file is read and no URL is opened. Formats, if asserted, are those of JSON Schema
Validation 2020-12, section 7.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import quote

from .limits import exceeds_path_limit, has_oversized_patterns
from .references import Step, as_mapping, encode_references, format_pointer

if TYPE_CHECKING:
    from jsonschema_rs import Registry

# The strings of `format: decimal`: a JSON number without an exponent.
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_SCHEMA_URI = "json-schema:///schema"
_MAX_BACKTRACKS = 20_000
"""Maximum number of backtracking steps of the pattern engine for one match."""
_MAX_PATTERN_BYTES = 1024 * 1024
"""Maximum size of a compiled pattern."""
_DRAFT_VALIDATORS = {
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
}


class Format(NamedTuple):
    """Description of a format for error messages.

    Attributes:
        description: a noun phrase that completes `must be`.
        example: a valid string of the format.
    """

    description: str
    example: str


ASSERTED_FORMATS = {
    "date": Format("a date", "2026-11-22"),
    "date-time": Format(
        "a date and time with a time zone", "2026-11-22T14:30:00+01:00"
    ),
    "time": Format("a time with a time zone", "14:30:00Z"),
    "duration": Format("a duration", "P3DT12H"),
    "uuid": Format("a UUID", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    "decimal": Format("a decimal number as a string, without an exponent", "12.50"),
    "email": Format("an e-mail address", "ada@example.com"),
    "uri": Format("an absolute URI", "https://example.com/a?b=c"),
    "ipv4": Format("an IPv4 address", "192.0.2.1"),
    "ipv6": Format("an IPv6 address", "2001:db8::1"),
    "regex": Format("a regular expression of ECMA-262", "^[a-z]+$"),
}
"""The formats that strings are checked against, by name."""

FORMATS = (
    *ASSERTED_FORMATS,
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
"""The formats of JSON Schema, and OpenAPI's `decimal`; only `ASSERTED_FORMATS` are checked."""


def compile_schema(schema: Any, *, asserts_formats: bool = False) -> Any:
    """Return the validator of an untrusted schema.

    Args:
        schema: a schema in any dialect; 2020-12 unless `$schema` names another one.
        asserts_formats: whether strings must match their `format`.

    Raises:
        ValueError: the schema is invalid, or validating with it could take too long.
    """
    if exceeds_path_limit(schema):
        raise ValueError("its references expand to too many paths")
    if has_oversized_patterns(schema):
        raise ValueError("its patterns together exceed the size limit")
    return build_validator(schema, asserts_formats=asserts_formats)


def build_validator(
    schema: Any, registry: Registry | None = None, *, asserts_formats: bool = False
) -> Any:
    """Return the validator of a schema that is known to have bounded references.

    Args:
        schema: a schema in any dialect; see `compile_schema`.
        registry: other schemas that it may refer to; None for no other schemas.
        asserts_formats: whether strings must match their `format`.

    Raises:
        ValueError: the schema is invalid.
    """
    import jsonschema_rs

    schema_uri = schema.get("$schema", "") if isinstance(schema, Mapping) else ""
    draft = next((d for d in _DRAFT_VALIDATORS if d in str(schema_uri)), "")
    class_name = _DRAFT_VALIDATORS.get(draft, "Draft202012Validator")
    validator_class = getattr(jsonschema_rs, class_name)
    return validator_class(
        encode_references(schema),
        validate_formats=asserts_formats,
        formats=_build_format_checks(draft) if asserts_formats else None,
        registry=registry,
        # An untrusted schema must not cause access to files or URLs.
        retriever=_reject_reference,
        pattern_options=jsonschema_rs.FancyRegexOptions(
            backtrack_limit=_MAX_BACKTRACKS,
            size_limit=_MAX_PATTERN_BYTES,
        ),
    )


class PartValidators:
    """Validators of a schema's subschemas, each built on first use.

    References in the subschemas are resolved in the whole schema, which must be known to
    have bounded references.
    """

    def __init__(self, schema: Any, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._asserts_formats = asserts_formats
        self._validators: dict[tuple[Step, ...], Any] = {}

    def get_validator(self, path: tuple[Step, ...]) -> Any:
        """Return the validator of the subschema at a path.

        Raises:
            ValueError: the subschema is invalid.
        """
        if path not in self._validators:
            pointer = quote(format_pointer(path), safe="/~")
            # Refer to the subschema instead of copying it, so that its own references are
            # resolved in the whole schema.
            part = {"$ref": f"{_SCHEMA_URI}#{pointer}"}
            if "$schema" in as_mapping(self._schema):
                part["$schema"] = self._schema["$schema"]
            self._validators[path] = build_validator(
                part, self._registry, asserts_formats=self._asserts_formats
            )
        return self._validators[path]

    @cached_property
    def _registry(self) -> Registry:
        import jsonschema_rs

        return jsonschema_rs.Registry([(_SCHEMA_URI, encode_references(self._schema))])


def _reject_reference(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {uri}")


def describe_format(name: str) -> str:
    """Return the description of an asserted format, as a completion of `must be`."""
    description, example = ASSERTED_FORMATS[name]
    return f'{description} (`format: {name}`), such as "{example}"'


@cache
def _build_format_checks(draft: str) -> dict[str, Callable[[str], bool]]:
    """Return check functions by format, which replace the validator's own checks.

    Args:
        draft: an earlier draft of JSON Schema, "" for 2020-12. Earlier drafts define fewer
            formats, but schemas use the newer ones anyway, so 2020-12's checks are added.
    """
    from jsonschema_rs import Draft202012Validator

    # The library would also check formats that Toolcast does not assert: accept any text.
    unasserted = FORMATS[len(ASSERTED_FORMATS) :]
    checks: dict[str, Callable[[str], bool]] = dict.fromkeys(unasserted, _accept_any)
    if draft:
        for name in ASSERTED_FORMATS:
            validator = Draft202012Validator({"format": name}, validate_formats=True)
            checks[name] = validator.is_valid
    checks["decimal"] = lambda text: _DECIMAL.fullmatch(text) is not None
    return checks


def _accept_any(text: str) -> bool:
    return True
