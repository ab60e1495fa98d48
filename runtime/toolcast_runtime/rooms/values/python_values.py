"""Arguments as Python's values, by the formats that their schema names, in depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from ...core.context import NotTaken
from ...core.validation.applicators import held_schemas
from ...core.validation.compiled import build, compiled
from ...core.validation.json_bounds import measure
from ...core.validation.references import REFERENCES, References
from .format_values import conversion_of

_ADDRESS = "urn:toolcast:arguments"
_CHOICES = ("anyOf", "oneOf")
_MOST_WORK = 100_000
"""Of values that are held against alternatives, counted at each."""

_MOST_PROBLEMS = 10


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
        self._pointers: dict[int, str] = {}
        self._converting = self._find_converting()
        self._validators: dict[int, Any] = {}
        self._patterns: dict[str, Any] = {}
        self._registry: Any = None

    def of(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, each text of a format as Python's value; nothing else is changed.

        Raises:
            NotTaken: Python cannot hold one of them.
        """
        reading = _Reading(self)
        found = reading.value(dict(arguments), [self.schema], "")
        if reading.problems:
            raise NotTaken(reading.problems)
        given: dict[str, Any] = found
        return given

    def is_converting(self, schema: Any) -> bool:
        """Whether a text within a schema, or one that it refers to, may be converted."""
        return id(schema) in self._converting

    def is_valid(self, schema: Any, value: Any) -> bool:
        """Whether a value is valid by one of the schema's parts, its formats asserted."""
        if not isinstance(schema, Mapping):
            return schema is not False
        validator = self._validators.get(id(schema))
        if id(schema) not in self._pointers:
            return True
        if validator is None:
            part = {
                "$ref": f"{_ADDRESS}#{quote(self._pointers[id(schema)], safe='/~')}"
            }
            if "$schema" in self.schema:
                part["$schema"] = self.schema["$schema"]
            validator = build(part, self._whole(), asserts_formats=True)
            self._validators[id(schema)] = validator
        return bool(validator.is_valid(value))

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
            self._patterns[pattern] = compiled({"pattern": pattern})
        return bool(self._patterns[pattern].is_valid(name))

    def target(self, reference: Any) -> Any:
        """What a reference names; None when it leads nowhere."""
        try:
            return self._references.target(reference)
        except (LookupError, AttributeError):
            return None

    def _whole(self) -> Any:
        if self._registry is None:
            import jsonschema_rs

            self._registry = jsonschema_rs.Registry([(_ADDRESS, self.schema)])
        return self._registry

    def _find_converting(self) -> set[int]:
        """The parts in which a text may be converted, by their identities."""
        holders: dict[int, list[int]] = {}
        found: list[int] = []
        waiting = [(self.schema, "")]
        while waiting:
            part, pointer = waiting.pop()
            if not isinstance(part, Mapping) or id(part) in self._pointers:
                continue
            self._pointers[id(part)] = pointer
            if self._conversion(part) is not None:
                found.append(id(part))
            inner = [
                (held, "".join(f"/{_escaped(step)}" for step in steps))
                for steps, held in held_schemas(part)
            ]
            waiting += [(held, pointer + steps) for held, steps in inner]
            references = [part[word] for word in REFERENCES if word in part]
            targets = [self.target(reference) for reference in references]
            # What stands where no schema is looked for is reached by a pointer alone.
            waiting += [
                (target, unquote(reference.partition("#")[2]))
                for reference, target in zip(references, targets, strict=True)
                if isinstance(reference, str) and reference.startswith("#/")
            ]
            for held in [*(held for held, _ in inner), *targets]:
                holders.setdefault(id(held), []).append(id(part))
        converting: set[int] = set()
        while found:
            one = found.pop()
            if one not in converting:
                converting.add(one)
                found += holders.get(one, ())
        return converting


class _Reading:
    """One call's arguments.

    Attributes:
        problems: what cannot be held.
    """

    def __init__(self, values: PythonValues) -> None:
        self._values = values
        self._left = _MOST_WORK
        self.problems: list[str] = []

    def value(self, value: Any, schemas: list[Any], place: str) -> Any:
        """A value by all the schemas that apply to it."""
        if not isinstance(value, (str, dict, list)):
            return value
        applying = list(self._applying(value, schemas, place))
        if not applying:
            return value
        if isinstance(value, str):
            return self._text(value, applying, place)
        if isinstance(value, list):
            return [
                self.value(item, for_item(applying, i), f"{place}[{i}]")
                for i, item in enumerate(value)
            ]
        return {
            name: self.value(
                item,
                self._values.for_name(applying, name),
                f"{place}.{name}" if place else name,
            )
            for name, item in value.items()
        }

    def _applying(self, value: Any, schemas: list[Any], place: str) -> Iterator[Any]:
        waiting, seen = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop(0)
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            waiting += [self._values.target(schema.get(word)) for word in REFERENCES]
            waiting += schema.get("allOf", ())
            for word in _CHOICES:
                waiting += self._chosen(schema.get(word, ()), value, place)
            if "if" in schema:
                is_so = self._is_valid(schema["if"], value, place)
                waiting.append(schema.get("then" if is_so else "else"))
            for word in ("dependentSchemas", "dependencies"):
                named = schema.get(word, {})
                if isinstance(value, dict):
                    waiting += [named[name] for name in named if name in value]

    def _chosen(self, branches: Any, value: Any, place: str) -> list[Any]:
        if not any(map(self._values.is_converting, branches)):
            return []
        return [b for b in branches if self._is_valid(b, value, place)]

    def _is_valid(self, schema: Any, value: Any, place: str) -> bool:
        # What one level asks of all that is below, the next one asks again.
        self._left -= 1 + measure(value).values
        if self._left < 0:
            self._refuse(place, "has too many alternatives")
            raise NotTaken(self.problems)
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
        shown = place if len(place) <= 160 else f"{place[:78]}...{place[-79:]}"
        problem = f"`{shown}` {why}"
        if problem not in self.problems and len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


def for_item(schemas: list[Any], index: int) -> list[Any]:
    """The schemas of arrays' schemas for the item at an index."""
    found: list[Any] = []
    for schema in schemas:
        items = schema.get("items")
        first = items if isinstance(items, list) else schema.get("prefixItems", [])
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        found.append(first[index] if index < len(first) else rest)
    return found


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
