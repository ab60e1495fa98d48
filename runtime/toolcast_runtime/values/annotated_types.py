"""Python types for JSON values, names of classes, and schemas that apply to one value."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any, NamedTuple

from .python_values import PythonValues


@dataclass(frozen=True)
class NamedType:
    """Type that is written as a single name, such as `str`, `None` or `Any`."""

    name: str


@dataclass(frozen=True)
class Choice:
    """`Literal` of strings, integers and booleans."""

    values: tuple[str | int | bool, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self._kinds == other._kinds

    def __hash__(self) -> int:
        return hash(self._kinds)

    @property
    def _kinds(self) -> tuple[tuple[str, str | int | bool | None], ...]:
        # Compare with the Python type: `1 == True`, but `Literal[1]` and `Literal[True]` are
        # different types.
        return tuple((type(value).__name__, value) for value in self.values)


@dataclass(frozen=True)
class Array:
    """`Sequence` of items of one type."""

    item: PythonType


@dataclass(frozen=True)
class Table:
    """`Mapping` from strings to values: an object without declared properties."""

    value: PythonType


@dataclass(frozen=True)
class ObjectName:
    """Reference to a TypedDict by its name."""

    name: str


@dataclass(frozen=True)
class OneOf:
    """Union `A | B`; create it with `one_of`."""

    members: tuple[PythonType, ...]


PythonType = NamedType | Choice | Array | Table | ObjectName | OneOf
ANY = NamedType("Any")
SCALARS = {
    "string": NamedType("str"),
    "integer": NamedType("int"),
    "number": NamedType("float"),
    "boolean": NamedType("bool"),
    "null": NamedType("None"),
}
"""Types of JSON values other than objects and arrays, by JSON Schema's type name."""


@dataclass(frozen=True)
class Member:
    """Member of a TypedDict.

    Attributes:
        type: the type of the value.
        is_required: whether every valid object has the member.
        wider: the keywords of the member's schema that the type cannot express.
    """

    type: PythonType
    is_required: bool
    wider: tuple[str, ...] = ()


@dataclass
class ObjectType:
    """TypedDict, whose members are set after its name is chosen.

    Attributes:
        name: the name of the class.
        members: the members by name, in the order of the schema.
        wider: the keywords of the schema that the type cannot express.
    """

    name: str
    members: Mapping[str, Member] = field(default_factory=dict)
    wider: tuple[str, ...] = ()


def make_union(members: Sequence[PythonType]) -> PythonType:
    """Return the union of types without redundant members.

    `Any` replaces all other members; `str` and `int` replace literals of their values. `float`
    replaces `int` (Python's typing specification, special cases for float and complex).
    """
    if len(members) == 1:
        return members[0]
    distinct: dict[PythonType, None] = {}
    for member in members:
        types = member.members if isinstance(member, OneOf) else (member,)
        distinct.update(dict.fromkeys(types))
    choices = [type_ for type_ in distinct if isinstance(type_, Choice)]
    if len(choices) > 1:
        values = {(type(v), v): v for choice in choices for v in choice.values}
        all_choices = Choice(tuple(values.values()))
        distinct = {
            all_choices if type_ in choices else type_: None for type_ in distinct
        }
        choices = [all_choices]
    for choice in choices:
        for name, kind in (("str", str), ("int", int)):
            if NamedType(name) in distinct and all(
                isinstance(v, kind) for v in choice.values
            ):
                distinct.pop(choice, None)
    if ANY in distinct or not distinct:
        return ANY
    if NamedType("float") in distinct:
        distinct.pop(NamedType("int"), None)
    remaining = tuple(distinct)
    return remaining[0] if len(remaining) == 1 else OneOf(remaining)


def is_literal(value: Any) -> bool:
    """Return whether a value can be in a `Literal`: None, str, bool or a 64-bit int."""
    is_small = isinstance(value, int) and -(2**63) < value < 2**63
    return value is None or isinstance(value, str) or is_small


COMBINED = ("anyOf", "oneOf")
_KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")


class SchemaNode(NamedTuple):
    """All schemas that apply to one value, with its depth in the root schema.

    Attributes:
        parts: the schemas that apply: the schema itself, the schemas that it references, and
            those in `allOf`.
        depth: the number of enclosing objects and arrays.
        name_parts: the property names and other terms that the name of a class is built from.
        left: the `anyOf` and `oneOf` keywords from which an alternative was already selected,
            as pairs of the `id()` of their schema and the keyword.
    """

    parts: tuple[Mapping[str, Any], ...]
    depth: int
    name_parts: tuple[str, ...]
    left: frozenset[tuple[int, str]] = frozenset()

    @property
    def key(self) -> tuple[Any, ...]:
        """Hashable identity of the schemas, by the `id()` of each."""
        return (tuple(map(id, self.parts)), self.left)

    @property
    def first(self) -> Mapping[str, Any]:
        """First of the schemas, the value's own; empty if there is none."""
        return self.parts[0] if self.parts else {}

    def values(self, keyword: str) -> Iterator[Any]:
        """Yield the value of a keyword in each part that has it."""
        return (part[keyword] for part in self.parts if keyword in part)

    @property
    def kinds(self) -> list[str]:
        """JSON Schema types that every `type` allows; empty without a valid `type`."""
        allowed: list[set[str]] = []
        order: list[str] = []
        for value in self.values("type"):
            kinds = [value] if isinstance(value, str) else value
            if not isinstance(kinds, list):
                continue
            named = [kind for kind in kinds if isinstance(kind, str) and kind in _KINDS]
            order += [kind for kind in named if kind not in order]
            # `number` also allows integers, so that `number` and `integer` have `integer` in
            # common.
            allowed.append({*named, *(["integer"] if "number" in named else [])})
        if not allowed:
            return []
        common = set.intersection(*allowed)
        if "number" in common:
            common.discard("integer")
        found = [kind for kind in order if kind in common]
        return found + sorted(common.difference(found))


def find_tag(member: Any) -> str:
    """Return the first string `const` of a union member's properties, for its class name."""
    properties = member.get("properties") if isinstance(member, dict) else None
    if not isinstance(properties, dict):
        return ""
    for schema in properties.values():
        if isinstance(schema, dict) and isinstance(schema.get("const"), str):
            return str(schema["const"])
    return ""


class ConditionalTexts:
    """Finder of values that are converted to Python values only under a condition.

    Conditions are keywords such as `if`, `dependentSchemas` and `anyOf`.

    Args:
        root: the schema that the handler's values are converted by.
    """

    def __init__(self, root: Any) -> None:
        self._values = PythonValues(root)

    def may_be(self, node: SchemaNode) -> bool:
        """Return whether a condition can convert the value at a node or a value inside it."""
        return any(True for _ in self._conditional(node))

    def members(self, node: SchemaNode, names: Iterable[str]) -> Iterator[str]:
        """Yield the members that are converted by a condition or by a pattern of their name.

        A member's own schema in `properties` is not considered.
        """
        own = filter(self._values.is_converting, node.parts)
        schemas: list[Any] = [*own, *self._conditional(node)]
        for name in names if schemas else ():
            declared = {
                id(properties[name])
                for properties in node.values("properties")
                if name in properties
            }
            if any(
                self._values.is_converting(schema) and id(schema) not in declared
                for schema in self._values.get_member_schemas(schemas, name)
            ):
                yield name

    def _conditional(self, node: SchemaNode) -> Iterator[Mapping[str, Any]]:
        """Yield the conditional schemas of a value that convert it or a value inside it."""
        waiting: list[Any] = []
        for part in filter(self._values.is_converting, node.parts):
            waiting += _branches(part, node)
        seen = set[int]()
        while waiting:
            schema = waiting.pop()
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            waiting += [self._values.resolve(schema.get("$ref"))]
            waiting += [*schema.get("allOf", ()), *_branches(schema, node)]


def _branches(schema: Mapping[str, Any], node: SchemaNode) -> Iterator[Any]:
    yield from (schema.get("then"), schema.get("else"))
    for keyword in ("dependentSchemas", "dependencies"):
        yield from schema.get(keyword, {}).values()
    for keyword in COMBINED:
        # Skip `anyOf` and `oneOf` whose matching alternatives are known: these alternatives are
        # already in `node.parts`.
        if (id(schema), keyword) not in node.left:
            yield from schema.get(keyword, ())


# With class names of this length, the generated line
# `        | Callable[[XxxArguments], object]` has at most 88 characters.
_MAX_CLASS_CHARACTERS = 48
# With class names of this length, the generated line `class XxxYyyyy(TypedDict):` has at most
# 88 characters.
_MAX_NESTED_CLASS_CHARACTERS = 66
_NAME_WORDS = re.compile(r"[A-Za-z0-9]+")


def class_name(tool: str) -> str:
    """Return the class name of a tool, `DelegateTask` for `delegate_task`.

    The name is a valid identifier. Long names are cut and end with digits of a hash.
    """
    words = _NAME_WORDS.findall(tool)
    name = "".join(word[0].upper() + word[1:] for word in words)
    if not name or name[0].isdigit() or iskeyword(name):
        name = f"Tool{name}"
    if len(name) > _MAX_CLASS_CHARACTERS:
        digest = hashlib.sha256(tool.encode()).hexdigest()[:8]
        name = f"{name[: _MAX_CLASS_CHARACTERS - 8]}{digest}"
    return name


def nested_class_name(first: str, words: Sequence[str]) -> str:
    """Return the name of a nested class.

    `FindNotes` with `filter` and `price range` becomes `FindNotesFilterPriceRange`. Long names are
    cut and end with digits of a hash.

    Args:
        first: the name of the outer class.
        words: strings to append; only their ASCII letters and digits are used.
    """
    kept = [word for text in words for word in _NAME_WORDS.findall(text)]
    name = first + "".join(word[0].upper() + word[1:] for word in kept)
    if len(name) > _MAX_NESTED_CLASS_CHARACTERS:
        digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()
        name = f"{name[: _MAX_NESTED_CLASS_CHARACTERS - 8]}{digest[:8]}"
    return name


def is_keyword_argument(parameter: str) -> bool:
    """Return whether a handler can declare a keyword parameter with this name."""
    return (
        parameter.isascii()
        and parameter.isidentifier()
        and not iskeyword(parameter)
        and not parameter.startswith("__")
        and parameter != "self"
    )
