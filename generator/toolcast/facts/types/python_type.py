"""Python types as values: what is generated, what handlers say, and what `diff` compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ANY",
    "Array",
    "Choice",
    "Member",
    "ObjectName",
    "ObjectType",
    "OneOf",
    "Plain",
    "PythonType",
    "Table",
    "is_literal",
    "one_of",
]


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
