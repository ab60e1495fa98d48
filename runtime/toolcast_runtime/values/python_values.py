"""Conversion of arguments to Python values, and of bytes in results to strings, by schema.

Dates, times, durations, UUIDs and decimals are recognized by `format`, bytes by `contentEncoding`.
JSON Schema Validation 2020-12, section 8.3, defines its values: base16, base32 and base64 of
RFC 4648, and base64 with line breaks and quoted-printable of RFC 2045. Two formats of OpenAPI also
mean base64.
"""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..core.context import ArgumentConversionError
from ..core.validation.compiled import (
    ASSERTED_FORMATS,
    PartValidators,
    compile_schema,
)
from ..core.validation.explanation import shorten_path
from ..core.validation.limits import measure_value
from ..core.validation.references import (
    REFERENCES,
    References,
    list_applied_subschemas,
    list_subschemas,
    resolve_pointer,
)

_URL_LETTERS = str.maketrans("-_", "+/")
# Characters that quoted-printable text must not contain. Source: RFC 2045, section 6.7.
_NOT_QUOTED = re.compile(r"[^\t\r\n -~]|=(?![0-9A-Fa-f]{2}|\r?\n)|\r(?!\n)")


class Encoding(NamedTuple):
    """Encoding of bytes as a string.

    Attributes:
        name: the encoding's name, as the end of a message `must be ...`.
        decode: returns the bytes of a string; raises ValueError if it is not encoded so.
        encode: returns the string for bytes.
    """

    name: str
    decode: Callable[[str], bytes]
    encode: Callable[[bytes], str]


def _decode_base64(text: str) -> bytes:
    return _decode_padded(text.replace("\r", "").replace("\n", ""))


def _decode_base64url(text: str) -> bytes:
    """Decode base64url with or without padding, which most encoders omit."""
    if "+" in text or "/" in text:
        raise ValueError
    if "=" not in text:
        text += "=" * (-len(text) % 4)
    return _decode_padded(text.translate(_URL_LETTERS))


def _decode_padded(text: str) -> bytes:
    # Python's strict mode accepts padding after a complete group of four characters, so check
    # the length separately.
    if len(text) % 4 or text.endswith("==="):
        raise ValueError
    return binascii.a2b_base64(text, strict_mode=True)


def _decode_quoted_printable(text: str) -> bytes:
    if _NOT_QUOTED.search(text):
        raise ValueError
    return binascii.a2b_qp(text)


def _encode_quoted_printable(value: bytes) -> str:
    # Python copies the first kind of line break in the value. RFC 2045 requires CRLF.
    lines = binascii.b2a_qp(value, istext=False).decode("ascii")
    return lines.replace("\r", "").replace("\n", "\r\n")


def _encode_to_str(encode: Callable[[bytes], bytes]) -> Callable[[bytes], str]:
    return lambda value: encode(value).decode("ascii")


def _case_insensitive(
    name: str, decode: Callable[..., bytes], encode: Callable[[bytes], bytes]
) -> Encoding:
    return Encoding(name, partial(decode, casefold=True), _encode_to_str(encode))


ENCODINGS: Mapping[str, Encoding] = {
    "base64": Encoding("base64", _decode_base64, _encode_to_str(base64.b64encode)),
    "base64url": Encoding(
        "base64url", _decode_base64url, _encode_to_str(base64.urlsafe_b64encode)
    ),
    "base32": _case_insensitive("base32", base64.b32decode, base64.b32encode),
    "base32hex": _case_insensitive(
        "base32hex", base64.b32hexdecode, base64.b32hexencode
    ),
    "base16": _case_insensitive("base16", base64.b16decode, base64.b16encode),
    "quoted-printable": Encoding(
        "quoted-printable", _decode_quoted_printable, _encode_quoted_printable
    ),
}
"""The encodings that are converted to bytes, by `contentEncoding`."""

# OpenAPI's format `binary` is missing: it means raw octets, which JSON strings cannot contain.
_FORMATS = {"byte": "base64", "base64": "base64", "base64url": "base64url"}


def get_encoding(schema: Mapping[str, Any]) -> Encoding | None:
    """Return the encoding of a schema's strings; None if they are not encoded bytes."""
    name = schema.get("contentEncoding")
    if isinstance(name, str) and name in ENCODINGS:
        return ENCODINGS[name]
    format_ = schema.get("format")
    encoding = _FORMATS.get(format_) if isinstance(format_, str) else None
    return None if encoding is None else ENCODINGS[encoding]


_DURATION = re.compile(
    r"P(?:(\d+)W|(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)", re.ASCII
)
_MAX_DIGITS = 12
"""Maximum number of digits of one number in a duration."""


class Conversion(NamedTuple):
    """Conversion of strings to Python values.

    Attributes:
        convert: returns the value of a string; raises ValueError or OverflowError if Python
            cannot represent it.
        expected: the accepted strings, as the end of a message `must be ...`.
        type: the name of the value's type.
    """

    convert: Callable[[str], Any]
    expected: str
    type: str


def _parse_duration(text: str) -> timedelta:
    """Parse an ISO 8601 duration of weeks, days, hours, minutes and seconds.

    Raises:
        ValueError: the text is no such duration. Years and months have no fixed length.
        OverflowError: a number has more than 12 digits.
    """
    match = _DURATION.fullmatch(text)
    if match is None or text.endswith(("P", "T")):
        raise ValueError
    parts = [part or "0" for part in match.groups()]
    if any(len(part) > _MAX_DIGITS for part in parts):
        raise OverflowError
    weeks, days, hours, minutes, seconds = map(int, parts)
    return timedelta(days, seconds, 0, 0, minutes, hours, weeks)


def _parse_upper(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Wrap a parser so that it accepts lower case: RFC 3339 allows `t` and `z` in times."""
    return lambda text: parse(text.upper())


def _parse_decimal(text: str) -> Decimal:
    if len(text) > _MAX_DECIMAL_CHARACTERS:
        raise OverflowError
    return Decimal(text)


_MAX_DECIMAL_CHARACTERS = 100
"""Maximum length of a decimal number."""
_LIMITS = "of the years 1 to 9999, without a leap second"
_CONVERSIONS: Mapping[str, tuple[Callable[[str], Any], str, str]] = {
    "date": (date.fromisoformat, " of the years 1 to 9999", "date"),
    "date-time": (_parse_upper(datetime.fromisoformat), f" {_LIMITS}", "datetime"),
    "time": (_parse_upper(time.fromisoformat), " without a leap second", "time"),
    "duration": (_parse_duration, " without years and months", "timedelta"),
    "uuid": (uuid.UUID, "", "UUID"),
    "decimal": (
        _parse_decimal,
        f" of at most {_MAX_DECIMAL_CHARACTERS} characters",
        "Decimal",
    ),
}
"""The parser, the restrictions, and the type's name of each converted format."""


def get_conversion(schema: Mapping[str, Any]) -> Conversion | None:
    """Return the conversion of a schema's strings; None if they remain strings."""
    encoding = get_encoding(schema)
    if encoding is not None:
        return Conversion(encoding.decode, encoding.name, "bytes")
    name = schema.get("format")
    if isinstance(name, str) and name in _CONVERSIONS:
        convert, restrictions, type_ = _CONVERSIONS[name]
        description, example = ASSERTED_FORMATS[name]
        expected = (
            f'{description}{restrictions} (`format: {name}`), such as "{example}"'
        )
        return Conversion(convert, expected, type_)
    return None


_ALTERNATIVES = ("anyOf", "oneOf")
_MAX_COMPARED_VALUES = 100_000
"""Maximum number of values that are validated against alternatives in one call."""

_MAX_PROBLEMS = 10
"""Maximum number of reported problems of one call."""


class PythonValues:
    """Conversion of arguments that are valid for one schema to Python values.

    If several schemas apply to a string, the first one with a format decides. Of alternatives,
    those apply that the value is valid for.

    Args:
        schema: the JSON Schema of the arguments, which must be valid.
        get_conversion: returns the conversion for a subschema; None for none.
    """

    def __init__(
        self,
        schema: Any,
        get_conversion: Callable[[Mapping[str, Any]], object] = get_conversion,
    ) -> None:
        self.schema = schema
        self._get_conversion = get_conversion
        self._references = References(schema)
        self._paths: dict[int, tuple[str | int, ...] | None] = {}
        self._converting = self._find_converting()
        self._validators = PartValidators(schema, asserts_formats=True)
        self._patterns: dict[str, Any] = {}

    def convert(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with their strings converted, and all else unchanged.

        Raises:
            ArgumentConversionError: Python cannot represent a value.
        """
        conversion = _ArgumentConversion(self)
        converted: dict[str, Any] = conversion.convert(dict(arguments), [self.schema])
        if conversion.problems:
            raise ArgumentConversionError(conversion.problems)
        return converted

    def is_converting(self, schema: Any) -> bool:
        """Return whether a subschema, or a schema that it contains or references, converts."""
        return id(schema) in self._converting

    def is_valid(self, subschema: Any, value: Any) -> bool:
        """Return whether a value is valid for a subschema, including formats.

        True also for a subschema whose path is unknown.
        """
        if not isinstance(subschema, Mapping):
            return subschema is not False
        path = self._paths.get(id(subschema))
        return path is None or bool(
            self._validators.get_validator(path).is_valid(value)
        )

    def get_member_schemas(self, schemas: list[Any], name: str) -> list[Any]:
        """Return the schemas that apply to a property, from all schemas of its object.

        For each schema these are the matching `properties` and `patternProperties`, otherwise
        `additionalProperties` (None if it is missing).
        """
        member_schemas: list[Any] = []
        for schema in schemas:
            properties = schema.get("properties", {})
            matches = [properties[name]] if name in properties else []
            for pattern, subschema in schema.get("patternProperties", {}).items():
                if self._matches(pattern, name):
                    matches.append(subschema)
            member_schemas += matches or [schema.get("additionalProperties")]
        return member_schemas

    def _matches(self, pattern: str, name: str) -> bool:
        if pattern not in self._patterns:
            self._patterns[pattern] = compile_schema({"pattern": pattern})
        return bool(self._patterns[pattern].is_valid(name))

    def resolve(self, reference: Any) -> Any:
        """Return the target of a reference; None if there is none."""
        try:
            return self._references.resolve(reference)
        except (LookupError, AttributeError):
            return None

    def _find_converting(self) -> set[int]:
        """Return the subschemas in which a string may be converted, by identity.

        Also stores the path of each subschema, for the validators.
        """
        parents: dict[int, list[int]] = {}
        converting_parts: list[int] = []
        queue: list[tuple[Any, tuple[str | int, ...] | None]] = [(self.schema, ())]
        while queue:
            part, path = queue.pop()
            if not isinstance(part, Mapping) or id(part) in self._paths:
                continue
            self._paths[id(part)] = path
            if self._get_conversion(part) is not None:
                converting_parts.append(id(part))
            subschemas = list(list_subschemas(part))
            for steps, subschema in subschemas:
                queue.append((subschema, None if path is None else path + steps))
            references = [part[word] for word in REFERENCES if word in part]
            targets = [self.resolve(reference) for reference in references]
            for reference, target in zip(references, targets, strict=True):
                # A JSON pointer may lead to a location that no keyword reaches, so add its
                # target to the queue.
                if isinstance(reference, str) and reference.startswith("#/"):
                    target_path = resolve_pointer(self.schema, unquote(reference[1:]))
                    queue.append((target, target_path))
            children = [subschema for _, subschema in subschemas]
            for child in [*children, *targets]:
                parents.setdefault(id(child), []).append(id(part))
        converting: set[int] = set()
        while converting_parts:
            part_id = converting_parts.pop()
            if part_id not in converting:
                converting.add(part_id)
                converting_parts += parents.get(part_id, ())
        return converting


class _ValueWalk:
    """Base class that walks through a value, with the schemas that apply at each path.

    Args:
        values: the schemas.

    Attributes:
        string_types: the types of the values to convert.
        array_types: the types of arrays.
    """

    string_types: Any
    array_types: Any

    def __init__(self, values: PythonValues) -> None:
        self._values = values

    def convert(self, value: Any, schemas: list[Any], path: str = "") -> Any:
        """Return a value, converted by all schemas that apply to it."""
        is_string = isinstance(value, self.string_types)
        if not is_string and not isinstance(value, (*self.array_types, dict)):
            return value
        applying = list(self._list_applying(value, schemas, path))
        if not applying:
            return value
        if is_string:
            return self._convert_string(value, applying, path)
        if isinstance(value, dict):
            prefix = f"{path}." if path else ""
            return {
                name: self.convert(
                    item,
                    self._values.get_member_schemas(applying, name),
                    f"{prefix}{name}",
                )
                for name, item in value.items()
            }
        return [
            self.convert(item, _get_item_schemas(applying, index), f"{path}[{index}]")
            for index, item in enumerate(value)
        ]

    def _list_applying(
        self, value: Any, schemas: list[Any], path: str
    ) -> Iterator[Any]:
        """Yield the schemas that apply to a value and may convert it or its content.

        References, `allOf` and applicable alternatives are included.
        """
        queue, seen = list(schemas), set[int]()
        while queue:
            schema = queue.pop(0)
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            queue += [self._values.resolve(schema.get(word)) for word in REFERENCES]
            queue += self._list_applied_subschemas(schema, value, path)

    def _list_applied_subschemas(
        self, schema: Any, value: Any, path: str
    ) -> Iterable[Any]:
        """Return the subschemas that apply to the same value."""
        raise NotImplementedError

    def _convert_string(self, text: Any, schemas: list[Any], path: str) -> Any:
        raise NotImplementedError


class _ArgumentConversion(_ValueWalk):
    """Conversion of one call's arguments.

    Attributes:
        problems: a message for each value that Python cannot represent.
    """

    string_types = (str,)
    array_types = (list,)

    def __init__(self, values: PythonValues) -> None:
        super().__init__(values)
        self._remaining = _MAX_COMPARED_VALUES
        self.problems: list[str] = []

    def _list_applied_subschemas(
        self, schema: Any, value: Any, path: str
    ) -> Iterable[Any]:
        """Yield the subschemas that apply to a value.

        Of `anyOf` and `oneOf` these are the alternatives that the value is valid for.
        """
        yield from schema.get("allOf", ())
        for keyword in _ALTERNATIVES:
            branches = schema.get(keyword, ())
            # Validate alternatives only if one of them converts strings, because validation
            # takes time.
            if any(map(self._values.is_converting, branches)):
                for branch in branches:
                    if self._is_valid(branch, value, path):
                        yield branch
        if "if" in schema:
            is_then = self._is_valid(schema["if"], value, path)
            yield schema.get("then" if is_then else "else")
        for keyword in ("dependentSchemas", "dependencies"):
            dependents = schema.get(keyword, {})
            if isinstance(value, dict):
                for name, dependent in dependents.items():
                    if name in value:
                        yield dependent

    def _is_valid(self, schema: Any, value: Any, path: str) -> bool:
        # Limit the total work: with nested alternatives the same value is validated again at
        # each level.
        self._remaining -= 1 + measure_value(value).values
        if self._remaining < 0:
            self._add_problem(path, "has too many alternatives")
            raise ArgumentConversionError(self.problems)
        return self._values.is_valid(schema, value)

    def _convert_string(self, text: str, schemas: list[Any], path: str) -> Any:
        for schema in schemas:
            conversion = get_conversion(schema)
            if conversion is not None:
                try:
                    return conversion.convert(text)
                except (ValueError, OverflowError):
                    self._add_problem(path, f"must be {conversion.expected}")
                    return None
        return text

    def _add_problem(self, path: str, text: str) -> None:
        problem = f"`{shorten_path(path)}` {text}"
        if problem not in self.problems and len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(problem)


class BytesEncoder(_ValueWalk):
    """Encoding of bytes in results whose schema has another encoding than base64.

    All other bytes are encoded as base64 later, by `to_plain_json`. A value with bytes cannot be
    validated against alternatives, so all of them apply; the first with an encoding decides.

    Args:
        schema: the JSON Schema of the result.
    """

    string_types = (bytes, bytearray, memoryview)
    array_types = (list, tuple)

    def __init__(self, schema: Any) -> None:
        super().__init__(PythonValues(schema, _get_special_encoding))

    def encode(self, result: Any) -> Any:
        """Encode the bytes in a result whose schema names an encoding other than base64.

        Other bytes and all other values are unchanged.
        """
        return self.convert(result, [self._values.schema])

    def _list_applied_subschemas(
        self, schema: Any, value: Any, path: str
    ) -> Iterable[Any]:
        return list_applied_subschemas(schema)

    def _convert_string(self, text: Any, schemas: list[Any], path: str) -> Any:
        for schema in schemas:
            encoding = _get_special_encoding(schema)
            if encoding is not None:
                return encoding.encode(bytes(text))
        return text


def _get_item_schemas(schemas: list[Any], index: int) -> list[Any]:
    """Return the schemas that apply to the item at an index, from all schemas of its array."""
    item_schemas: list[Any] = []
    for schema in schemas:
        items = schema.get("items")
        # Up to draft 2019-09 `items` may be an array, like `prefixItems` since then.
        if isinstance(items, list):
            first_items, other_items = items, schema.get("additionalItems")
        else:
            first_items, other_items = schema.get("prefixItems", []), items
        is_first = index < len(first_items)
        item_schemas.append(first_items[index] if is_first else other_items)
    return item_schemas


def _get_special_encoding(schema: Mapping[str, Any]) -> Encoding | None:
    """Return a schema's encoding if it is not base64."""
    encoding = get_encoding(schema)
    return None if encoding is ENCODINGS["base64"] else encoding
