"""Python's types for JSON values: their names, the place in a schema that each stands for, and what conditions say of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any, NamedTuple

from .python_values import PythonValues


@dataclass(frozen=True)
class Plain:
    """A type that is one name: `str`, `int`, `float`, `bool`, `None` or `Any`."""

    name: str


@dataclass(frozen=True)
class Choice:
    """`Literal` of texts, whole numbers, truth values and None."""

    values: tuple[str | int | bool | None, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self._kinds == other._kinds

    def __hash__(self) -> int:
        return hash(self._kinds)

    @property
    def _kinds(self) -> tuple[tuple[str, str | int | bool | None], ...]:
        # 1 and True are equal, and not the same type.
        return tuple((type(value).__name__, value) for value in self.values)


@dataclass(frozen=True)
class Array:
    """`Sequence` of what its items are."""

    item: PythonType


@dataclass(frozen=True)
class Table:
    """`Mapping` of texts to values: an object whose members are not named."""

    value: PythonType


@dataclass(frozen=True)
class ObjectName:
    """A TypedDict, by its name."""

    name: str


@dataclass(frozen=True)
class OneOf:
    """`A | B`; made by `one_of`."""

    members: tuple[PythonType, ...]


PythonType = Plain | Choice | Array | Table | ObjectName | OneOf
ANY = Plain("Any")
SCALARS = {
    "string": Plain("str"),
    "integer": Plain("int"),
    "number": Plain("float"),
    "boolean": Plain("bool"),
    "null": Plain("None"),
}
"""The types of JSON's values that have nothing within them."""


@dataclass(frozen=True)
class Member:
    """A member of a TypedDict.

    Attributes:
        type: of its value.
        is_required: every valid object has it.
        wider: the keywords of its schema that the type does not say.
    """

    type: PythonType
    is_required: bool
    wider: tuple[str, ...] = ()


@dataclass
class ObjectType:
    """A TypedDict; its members are filled in after its name is known.

    Attributes:
        name: the class.
        members: by name, in the order of the schema.
        wider: the keywords of its schema that the type does not say.
    """

    name: str
    members: Mapping[str, Member] = field(default_factory=dict)
    wider: tuple[str, ...] = ()


def one_of(members: Sequence[PythonType]) -> PythonType:
    """One of several types, each once; `Any` takes in all others, `str` all texts.

    `float` has `int` in it. Source: Python's typing specification, special cases for float.
    """
    if len(members) == 1:
        return members[0]
    each: dict[PythonType, None] = {}
    for member in members:
        inner = member.members if isinstance(member, OneOf) else (member,)
        each.update(dict.fromkeys(inner))
    choices = [one for one in each if isinstance(one, Choice)]
    if len(choices) > 1:
        values = {(type(v), v): v for choice in choices for v in choice.values}
        all_choices = Choice(tuple(values.values()))
        each = {all_choices if one in choices else one: None for one in each}
        choices = [all_choices]
    for choice in choices:
        for name, kind in (("str", str), ("int", int)):
            if Plain(name) in each and all(isinstance(v, kind) for v in choice.values):
                each.pop(choice, None)
    if ANY in each or not each:
        return ANY
    if Plain("float") in each:
        each.pop(Plain("int"), None)
    distinct = tuple(each)
    return distinct[0] if len(distinct) == 1 else OneOf(distinct)


def is_literal(value: Any) -> bool:
    """Whether mypy takes the value in a `Literal`: none of the large whole numbers."""
    is_small = isinstance(value, int) and -(2**63) < value < 2**63
    return value is None or isinstance(value, str) or is_small


COMBINED = ("anyOf", "oneOf")
_KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")


class Place(NamedTuple):
    """A schema and where it stands.

    Attributes:
        parts: the schemas that all hold for a value: the one that stands there, those that
            it refers to, and those of `allOf`.
        depth: how many objects and arrays are around it.
        words: what a class for it is called after.
        left: the combined keywords that were followed already, by the id of their schema.
    """

    parts: tuple[Mapping[str, Any], ...]
    depth: int
    words: tuple[str, ...]
    left: frozenset[tuple[int, str]] = frozenset()

    @property
    def key(self) -> tuple[Any, ...]:
        return (tuple(map(id, self.parts)), self.left)

    @property
    def first(self) -> Mapping[str, Any]:
        """The schema that stands there, for what is noted of it as a whole."""
        return self.parts[0] if self.parts else {}

    def values(self, keyword: str) -> Iterator[Any]:
        """The values of a keyword, in all parts that have it."""
        return (part[keyword] for part in self.parts if keyword in part)

    @property
    def kinds(self) -> list[str]:
        """The kinds of value that every `type` allows; empty when there is none."""
        allowed: list[set[str]] = []
        order: list[str] = []
        for value in self.values("type"):
            kinds = [value] if isinstance(value, str) else value
            if not isinstance(kinds, list):
                continue
            named = [kind for kind in kinds if isinstance(kind, str) and kind in _KINDS]
            order += [kind for kind in named if kind not in order]
            # A whole number is a number.
            allowed.append({*named, *(["integer"] if "number" in named else [])})
        if not allowed:
            return []
        both = set.intersection(*allowed)
        if "number" in both:
            both.discard("integer")
        found = [kind for kind in order if kind in both]
        return found + sorted(both.difference(found))


def tag_of(member: Any) -> str:
    """The text that tells a member of a union from the others, for the name of its class."""
    properties = member.get("properties") if isinstance(member, dict) else None
    if not isinstance(properties, dict):
        return ""
    for schema in properties.values():
        if isinstance(schema, dict) and isinstance(schema.get("const"), str):
            return str(schema["const"])
    return ""


class ConditionalTexts:
    """Where what `if` and its like say of a value decides whether it is converted.

    Args:
        root: the schema that handlers' values are made by.
    """

    def __init__(self, root: Any) -> None:
        self._values = PythonValues(root)

    def may_be(self, place: Place) -> bool:
        """Whether a value of a place, or one within it, may be such a text."""
        return any(True for _ in self._conditional(place))

    def members(self, place: Place, names: Iterable[str]) -> Iterator[str]:
        """The members of an object that may be, or are by a pattern of their name."""
        own = filter(self._values.is_converting, place.parts)
        schemas: list[Any] = [*own, *self._conditional(place)]
        for name in names if schemas else ():
            named = {id(one[name]) for one in place.values("properties") if name in one}
            if any(
                self._values.is_converting(schema) and id(schema) not in named
                for schema in self._values.for_name(schemas, name)
            ):
                yield name

    def _conditional(self, place: Place) -> Iterator[Mapping[str, Any]]:
        """The schemas that hold for a value in some cases and convert what is in it."""
        waiting: list[Any] = []
        for part in filter(self._values.is_converting, place.parts):
            waiting += _branches(part, place)
        seen = set[int]()
        while waiting:
            schema = waiting.pop()
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            waiting += [self._values.target(schema.get("$ref"))]
            waiting += [*schema.get("allOf", ()), *_branches(schema, place)]


def _branches(schema: Mapping[str, Any], place: Place) -> Iterator[Any]:
    yield from (schema.get("then"), schema.get("else"))
    for keyword in ("dependentSchemas", "dependencies"):
        yield from schema.get(keyword, {}).values()
    for keyword in COMBINED:
        # Those that a type says are parts of the place themselves.
        if (id(schema), keyword) not in place.left:
            yield from schema.get(keyword, ())


# `        | Callable[[XxxArguments], object]` stays within a line.
_MAX_CLASS_CHARACTERS = 48
# `class XxxYyyyy(TypedDict):` stays within a line.
_MAX_NESTED_CLASS_CHARACTERS = 66
_NAME_WORDS = re.compile(r"[A-Za-z0-9]+")


def class_name(tool: str) -> str:
    """`delegate_task` is `DelegateTask`; always an identifier."""
    words = _NAME_WORDS.findall(tool)
    name = "".join(word[0].upper() + word[1:] for word in words)
    if not name or name[0].isdigit() or iskeyword(name):
        name = f"Tool{name}"
    if len(name) > _MAX_CLASS_CHARACTERS:
        # A line that defines it stays within a page's width.
        digest = hashlib.sha256(tool.encode()).hexdigest()[:8]
        name = f"{name[: _MAX_CLASS_CHARACTERS - 8]}{digest}"
    return name


def nested_class_name(first: str, words: Sequence[str]) -> str:
    """`FindNotes` and `filter`, `price range` are `FindNotesFilterPriceRange`.

    Args:
        first: a class name.
        words: any texts, of which letters and digits of ASCII are kept.
    """
    kept = [word for text in words for word in _NAME_WORDS.findall(text)]
    name = first + "".join(word[0].upper() + word[1:] for word in kept)
    if len(name) > _MAX_NESTED_CLASS_CHARACTERS:
        digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()
        name = f"{name[: _MAX_NESTED_CLASS_CHARACTERS - 8]}{digest[:8]}"
    return name


def is_keyword_argument(parameter: str) -> bool:
    """Whether a handler can take the parameter as a keyword of that name."""
    return (
        parameter.isascii()
        and parameter.isidentifier()
        and not iskeyword(parameter)
        and not parameter.startswith("__")
        and parameter != "self"
    )
