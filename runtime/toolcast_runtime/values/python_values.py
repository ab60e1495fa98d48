"""Arguments as Python's values, and results' bytes as texts, as their schemas say, in depth.

Dates, times, durations, UUIDs and decimals are found by `format`, bytes by an encoding: base16, 32 and 64
of RFC 4648, which JSON Schema Validation 2020-12, section 8.3, has for `contentEncoding` beside
what RFC 2045 has: base64 with line breaks, and quoted-printable. Two formats of OpenAPI name
base64, too.
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
    list_in_place,
    list_subschemas,
    resolve_pointer,
)

_URL_LETTERS = str.maketrans("-_", "+/")
# What may not stand in a text by RFC 2045, section 6.7.
_NOT_QUOTED = re.compile(r"[^\t\r\n -~]|=(?![0-9A-Fa-f]{2}|\r?\n)|\r(?!\n)")


class Encoding(NamedTuple):
    """How bytes are a text.

    Attributes:
        name: it, as the end of `must be`.
        decode: raises ValueError for a text that is not of it.
        encode: the text of bytes.
    """

    name: str
    decode: Callable[[str], bytes]
    encode: Callable[[bytes], str]


def _base64(text: str) -> bytes:
    return _padded(text.replace("\r", "").replace("\n", ""))


def _base64url(text: str) -> bytes:
    """With or without its padding, which most writers leave out."""
    if "+" in text or "/" in text:
        raise ValueError
    if "=" not in text:
        text += "=" * (-len(text) % 4)
    return _padded(text.translate(_URL_LETTERS))


def _padded(text: str) -> bytes:
    # Python's own strictness lets padding follow what needs none.
    if len(text) % 4 or text.endswith("==="):
        raise ValueError
    return binascii.a2b_base64(text, strict_mode=True)


def _unquoted(text: str) -> bytes:
    if _NOT_QUOTED.search(text):
        raise ValueError
    return binascii.a2b_qp(text)


def _quoted(value: bytes) -> str:
    # Which line break it takes for its own depends on the first one in the value.
    lines = binascii.b2a_qp(value, istext=False).decode("ascii")
    return lines.replace("\r", "").replace("\n", "\r\n")


def _said_by(encode: Callable[[bytes], bytes]) -> Callable[[bytes], str]:
    return lambda value: encode(value).decode("ascii")


def _in_any_case(
    name: str, decode: Callable[..., bytes], encode: Callable[[bytes], bytes]
) -> Encoding:
    return Encoding(name, partial(decode, casefold=True), _said_by(encode))


ENCODINGS: Mapping[str, Encoding] = {
    "base64": Encoding("base64", _base64, _said_by(base64.b64encode)),
    "base64url": Encoding("base64url", _base64url, _said_by(base64.urlsafe_b64encode)),
    "base32": _in_any_case("base32", base64.b32decode, base64.b32encode),
    "base32hex": _in_any_case("base32hex", base64.b32hexdecode, base64.b32hexencode),
    "base16": _in_any_case("base16", base64.b16decode, base64.b16encode),
    "quoted-printable": Encoding("quoted-printable", _unquoted, _quoted),
}
"""Those that bytes become, by the names of `contentEncoding`."""

# `binary` is raw octets, which JSON has no text for.
_FORMATS = {"byte": "base64", "base64": "base64", "base64url": "base64url"}


def encoding_of(schema: Mapping[str, Any]) -> Encoding | None:
    """How a schema's texts are bytes; None where they are not."""
    name = schema.get("contentEncoding")
    if isinstance(name, str) and name in ENCODINGS:
        return ENCODINGS[name]
    format_ = schema.get("format")
    named = _FORMATS.get(format_) if isinstance(format_, str) else None
    return None if named is None else ENCODINGS[named]


_DURATION = re.compile(
    r"P(?:(\d+)W|(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)", re.ASCII
)
_MAX_DIGITS = 12
"""Digits of one part of a duration."""


class Conversion(NamedTuple):
    """How a text becomes a value.

    Attributes:
        convert: raises ValueError or OverflowError for what Python cannot hold.
        wanted: what it takes, as the end of `must be`.
        type: the name of the value's type.
    """

    convert: Callable[[str], Any]
    wanted: str
    type: str


def _duration(text: str) -> timedelta:
    """A duration of fixed length: years and months have none."""
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError
    parts = [part or "0" for part in found.groups()]
    if any(len(part) > _MAX_DIGITS for part in parts):
        raise OverflowError
    weeks, days, hours, minutes, seconds = map(int, parts)
    return timedelta(days, seconds, 0, 0, minutes, hours, weeks)


def _upper(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """RFC 3339 has `T` and `Z` in either case."""
    return lambda text: parse(text.upper())


def _decimal(text: str) -> Decimal:
    if len(text) > _MAX_DECIMAL_CHARACTERS:
        raise OverflowError
    return Decimal(text)


_MAX_DECIMAL_CHARACTERS = 100
"""Length of a decimal number."""
_LIMITS = "of the years 1 to 9999, without a leap second"
_CONVERSIONS: Mapping[str, tuple[Callable[[str], Any], str, str]] = {
    "date": (date.fromisoformat, " of the years 1 to 9999", "date"),
    "date-time": (_upper(datetime.fromisoformat), f" {_LIMITS}", "datetime"),
    "time": (_upper(time.fromisoformat), " without a leap second", "time"),
    "duration": (_duration, " without years and months", "timedelta"),
    "uuid": (uuid.UUID, "", "UUID"),
    "decimal": (
        _decimal,
        f" of at most {_MAX_DECIMAL_CHARACTERS} characters",
        "Decimal",
    ),
}


def conversion_of(schema: Mapping[str, Any]) -> Conversion | None:
    """How a schema's texts become values; None where they stay texts."""
    encoding = encoding_of(schema)
    if encoding is not None:
        return Conversion(encoding.decode, encoding.name, "bytes")
    name = schema.get("format")
    if isinstance(name, str) and name in _CONVERSIONS:
        convert, limits, type_ = _CONVERSIONS[name]
        what, example = ASSERTED_FORMATS[name]
        return Conversion(
            convert, f'{what}{limits} (`format: {name}`), such as "{example}"', type_
        )
    return None


_CHOICES = ("anyOf", "oneOf")
_MAX_COMPARED_VALUES = 100_000
"""Values that are matched against alternatives, counted for each alternative."""

_MAX_PROBLEMS = 10
"""Problems of one value that are reported."""


class PythonValues:
    """What becomes of the valid arguments of one schema.

    Where several schemas apply to one text the first that names a format decides; of
    alternatives those apply that the value is valid by.

    Args:
        schema: one that can be applied.
        conversion: what becomes of a schema's texts; None for nothing.
    """

    def __init__(
        self,
        schema: Any,
        conversion: Callable[[Mapping[str, Any]], object] = conversion_of,
    ) -> None:
        self.schema = schema
        self._conversion = conversion
        self._references = References(schema)
        self._places: dict[int, tuple[str | int, ...] | None] = {}
        self._converting = self._find_converting()
        self._validators = PartValidators(schema, asserts_formats=True)
        self._patterns: dict[str, Any] = {}

    def of(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, each text of a format as Python's value; nothing else is changed.

        Raises:
            ArgumentConversionError: Python cannot hold one of them.
        """
        reading = _Reading(self)
        found = reading.value(dict(arguments), [self.schema])
        if reading.problems:
            raise ArgumentConversionError(reading.problems)
        given: dict[str, Any] = found
        return given

    def is_converting(self, schema: Any) -> bool:
        """Whether a text within a schema, or one that it refers to, may be converted."""
        return id(schema) in self._converting

    def is_valid(self, schema: Any, value: Any) -> bool:
        """Whether a value is valid by one of the schema's parts, its formats asserted."""
        if not isinstance(schema, Mapping):
            return schema is not False
        steps = self._places.get(id(schema))
        return steps is None or bool(
            self._validators.get_validator(steps).is_valid(value)
        )

    def for_name(self, schemas: list[Any], name: str) -> list[Any]:
        """The schemas of objects' schemas for the member of a name."""
        found: list[Any] = []
        for schema in schemas:
            properties = schema.get("properties", {})
            own = [properties[name]] if name in properties else []
            patterns = schema.get("patternProperties", {})
            own += [s for p, s in patterns.items() if self._matches(p, name)]
            found += own or [schema.get("additionalProperties")]
        return found

    def _matches(self, pattern: str, name: str) -> bool:
        if pattern not in self._patterns:
            self._patterns[pattern] = compile_schema({"pattern": pattern})
        return bool(self._patterns[pattern].is_valid(name))

    def target(self, reference: Any) -> Any:
        """What a reference names; None when it leads nowhere."""
        try:
            return self._references.resolve(reference)
        except (LookupError, AttributeError):
            return None

    def _find_converting(self) -> set[int]:
        """The parts in which a text may be converted, by their identities."""
        holders: dict[int, list[int]] = {}
        found: list[int] = []
        waiting: list[tuple[Any, tuple[str | int, ...] | None]] = [(self.schema, ())]
        while waiting:
            part, place = waiting.pop()
            if not isinstance(part, Mapping) or id(part) in self._places:
                continue
            self._places[id(part)] = place
            if self._conversion(part) is not None:
                found.append(id(part))
            inner = list(list_subschemas(part))
            waiting += [
                (held, None if place is None else place + steps)
                for steps, held in inner
            ]
            references = [part[word] for word in REFERENCES if word in part]
            targets = [self.target(reference) for reference in references]
            # What stands where no schema is looked for is reached by a pointer alone.
            waiting += [
                (target, resolve_pointer(self.schema, unquote(reference[1:])))
                for reference, target in zip(references, targets, strict=True)
                if isinstance(reference, str) and reference.startswith("#/")
            ]
            for held in [*(held for _, held in inner), *targets]:
                holders.setdefault(id(held), []).append(id(part))
        converting: set[int] = set()
        while found:
            one = found.pop()
            if one not in converting:
                converting.add(one)
                found += holders.get(one, ())
        return converting


class _Walk:
    """A way through a value and the schemas that apply to each place of it.

    Args:
        values: the schemas.

    Attributes:
        texts: the types of what is converted.
        lists: those of arrays.
    """

    texts: Any
    lists: Any

    def __init__(self, values: PythonValues) -> None:
        self._values = values

    def value(self, value: Any, schemas: list[Any], place: str = "") -> Any:
        """A value by all the schemas that apply to it."""
        is_text = isinstance(value, self.texts)
        if not is_text and not isinstance(value, (*self.lists, dict)):
            return value
        applying = list(self._applying(value, schemas, place))
        if not applying:
            return value
        if is_text:
            return self._text(value, applying, place)
        if isinstance(value, dict):
            at = f"{place}." if place else ""
            return {
                name: self.value(
                    item, self._values.for_name(applying, name), f"{at}{name}"
                )
                for name, item in value.items()
            }
        return [
            self.value(item, _for_item(applying, i), f"{place}[{i}]")
            for i, item in enumerate(value)
        ]

    def _applying(self, value: Any, schemas: list[Any], place: str) -> Iterator[Any]:
        waiting, seen = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop(0)
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            waiting += [self._values.target(schema.get(word)) for word in REFERENCES]
            waiting += self._within(schema, value, place)

    def _within(self, schema: Any, value: Any, place: str) -> Iterable[Any]:
        """The schemas within one that apply to the same value."""
        raise NotImplementedError

    def _text(self, text: Any, schemas: list[Any], place: str) -> Any:
        raise NotImplementedError


class _Reading(_Walk):
    """One call's arguments.

    Attributes:
        problems: what cannot be held.
    """

    texts = (str,)
    lists = (list,)

    def __init__(self, values: PythonValues) -> None:
        super().__init__(values)
        self._left = _MAX_COMPARED_VALUES
        self.problems: list[str] = []

    def _within(self, schema: Any, value: Any, place: str) -> Iterable[Any]:
        """Of alternatives those that the value is valid by."""
        yield from schema.get("allOf", ())
        for word in _CHOICES:
            branches = schema.get(word, ())
            if any(map(self._values.is_converting, branches)):
                yield from [b for b in branches if self._is_valid(b, value, place)]
        if "if" in schema:
            is_so = self._is_valid(schema["if"], value, place)
            yield schema.get("then" if is_so else "else")
        for word in ("dependentSchemas", "dependencies"):
            named = schema.get(word, {})
            if isinstance(value, dict):
                yield from [named[name] for name in named if name in value]

    def _is_valid(self, schema: Any, value: Any, place: str) -> bool:
        # What one level asks of all that is below, the next one asks again.
        self._left -= 1 + measure_value(value).values
        if self._left < 0:
            self._refuse(place, "has too many alternatives")
            raise ArgumentConversionError(self.problems)
        return self._values.is_valid(schema, value)

    def _text(self, text: str, schemas: list[Any], place: str) -> Any:
        for schema in schemas:
            conversion = conversion_of(schema)
            if conversion is not None:
                try:
                    return conversion.convert(text)
                except (ValueError, OverflowError):
                    self._refuse(place, f"must be {conversion.wanted}")
                    return None
        return text

    def _refuse(self, place: str, why: str) -> None:
        problem = f"`{shorten_path(place)}` {why}"
        if problem not in self.problems and len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(problem)


class WrittenBytes(_Walk):
    """Writes bytes where a schema has another encoding than base64, which all others get.

    Of the alternatives of a schema, which are for texts, all apply to bytes; the first
    that names an encoding decides.

    Args:
        schema: of the result.
    """

    texts = (bytes, bytearray, memoryview)
    lists = (list, tuple)

    def __init__(self, schema: Any) -> None:
        super().__init__(PythonValues(schema, _special))

    def of(self, result: Any) -> Any:
        """The result, such bytes as texts; nothing else is changed."""
        return self.value(result, [self._values.schema])

    def _within(self, schema: Any, value: Any, place: str) -> Iterable[Any]:
        return list_in_place(schema)

    def _text(self, text: Any, schemas: list[Any], place: str) -> Any:
        encoding = next(filter(None, map(_special, schemas)), None)
        return text if encoding is None else encoding.encode(bytes(text))


def _for_item(schemas: list[Any], index: int) -> list[Any]:
    """The schemas of arrays' schemas for the item at an index."""
    found: list[Any] = []
    for schema in schemas:
        items = schema.get("items")
        first = items if isinstance(items, list) else schema.get("prefixItems", [])
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        found.append(first[index] if index < len(first) else rest)
    return found


def _special(schema: Mapping[str, Any]) -> Encoding | None:
    encoding = encoding_of(schema)
    return None if encoding is ENCODINGS["base64"] else encoding
