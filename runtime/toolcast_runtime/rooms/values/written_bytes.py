"""Bytes in a result as texts of the encodings that its schema names, in depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.validation.references import REFERENCES, in_place
from .encodings import ENCODINGS, Encoding, encoding_of
from .python_values import PythonValues, for_item


class WrittenBytes:
    """Writes bytes where a schema has another encoding than base64, which all others get.

    Of the alternatives of a schema, which are for texts, all apply to bytes; the first
    that names an encoding decides.

    Args:
        schema: of the result.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._values = PythonValues(schema, _special)

    def of(self, result: Any) -> Any:
        """The result, such bytes as texts; nothing else is changed."""
        return self._value(result, [self._schema])

    def _value(self, value: Any, schemas: list[Any]) -> Any:
        applying = list(self._applying(schemas))
        if not applying:
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            encoding = next(filter(None, map(_special, applying)), None)
            return value if encoding is None else encoding.encode(bytes(value))
        if isinstance(value, (list, tuple)):
            return [
                self._value(one, for_item(applying, i)) for i, one in enumerate(value)
            ]
        if isinstance(value, dict):
            return {
                name: self._value(one, self._values.for_name(applying, name))
                for name, one in value.items()
            }
        return value

    def _applying(self, schemas: list[Any]) -> Iterator[Any]:
        waiting, seen = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop(0)
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            waiting += [self._values.target(schema.get(word)) for word in REFERENCES]
            waiting += in_place(schema)


def _special(schema: Mapping[str, Any]) -> Encoding | None:
    encoding = encoding_of(schema)
    return None if encoding is ENCODINGS["base64"] else encoding
