"""Types as they are printed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from toolcast_runtime.values.annotated_types import (
    Array,
    Choice,
    Member,
    ObjectName,
    ObjectType,
    OneOf,
    Plain,
    PythonType,
    Table,
    is_keyword_argument,
)

from ..encoders.code import Code
from ..encoders.python import encode_identifier, encode_import, encode_safe_text
from ..encoders.python_types import (
    Type,
    build_literal_type,
    build_named_type,
    build_subscript,
    build_union,
    encode_fields,
    encode_typed_dict,
    quote_type,
)
from ..rendering.output_shape import View

RUNTIME_TYPES = "toolcast_runtime.types"
"""The module of the runtime that generated types import."""
# A field of such a name would be what the types of the fields below it mean.
_TYPE_WORDS = frozenset("""
    str int float bool None Any Literal Mapping NotRequired ReadOnly Sequence
    """.split())


_VALUES = {
    "date": "datetime",
    "datetime": "datetime",
    "time": "datetime",
    "timedelta": "datetime",
    "UUID": "uuid",
    "Decimal": "decimal",
}
"""The modules of the types of Python's values."""


class TypePrinter:
    """Prints the types of one module.

    Args:
        classes: the names of its classes and aliases.
        has_values: whether Python's values are among them.
    """

    def __init__(self, classes: Collection[str], *, has_values: bool = False) -> None:
        self._words = (
            _TYPE_WORDS.union(_VALUES, ["bytes"]) if has_values else _TYPE_WORDS
        )
        self._classes = frozenset(classes)
        self._defined: set[str] = set()
        self._is_after_class = False
        self._imports: dict[str, set[str]] = {}
        self._printed: dict[PythonType, Type] = {}

    def add(self, module: str, *names: str) -> None:
        """Notes what is imported."""
        self._imports.setdefault(module, set()).update(names)

    def needs(self, module: str) -> bool:
        """Whether something of a module was printed."""
        return module in self._imports

    def imported(self, module: str) -> Code:
        """The line that imports what was printed of a module."""
        names = sorted(
            self._imports.get(module, ()),
            key=lambda name: (not name.isupper(), name.islower(), name),
        )
        return encode_import(module, names)

    def of(self, type_: PythonType) -> Type:
        """A type where it is not evaluated, or where all that it names is there."""
        printed = self._printed.get(type_)
        if printed is None:
            printed = self._printed[type_] = self._of(type_)
        return printed

    def _of(self, type_: PythonType) -> Type:
        match type_:
            case Plain(name):
                if name == "Any":
                    self.add("typing", name)
                elif name in _VALUES:
                    self.add(_VALUES[name], name)
                return build_named_type(name)
            case ObjectName(name):
                return build_named_type(name)
            case Choice(values):
                self.add("typing", "Literal")
                return build_literal_type(values)
            case Array(item):
                self.add("collections.abc", "Sequence")
                return build_subscript("Sequence", [self.of(item)])
            case Table(value):
                self.add("collections.abc", "Mapping")
                return build_subscript(
                    "Mapping", [build_named_type("str"), self.of(value)]
                )
            case OneOf(members):
                return build_union([self.of(member) for member in members])

    def evaluated(self, type_: PythonType) -> Type:
        """A type where it is evaluated at once: quoted when it names what comes later."""
        used = self._classes.intersection(_names_in(type_))
        printed = self.of(type_)
        return printed if used <= self._defined else quote_type(printed)

    def view(self, made: ObjectType, docstring: Code, read_only: bool = False) -> View:
        """A TypedDict; with `read_only` nobody sets its fields, so narrower ones fit."""
        self.add(RUNTIME_TYPES, "TypedDict")
        is_class = all(
            is_keyword_argument(key)
            and not key.startswith("_")
            and key not in self._words
            and key not in self._classes
            for key in made.members
        )
        alike: dict[tuple[PythonType, bool], Type] = {}
        types = {}
        for key, member in made.members.items():
            kind = (member.type, member.is_required)
            if kind not in alike:
                alike[kind] = self._field(member, is_class, read_only)
            types[key] = alike[kind]
        self._defined.add(made.name)
        left, comments = made.wider, {}
        if is_class:
            comments = {
                k: format_omitted_keywords(m.wider)
                for k, m in made.members.items()
                if m.wider
            }
            if not docstring and not types:
                docstring = encode_safe_text("An object.")
        else:
            parts = [keyword for m in made.members.values() for keyword in m.wider]
            left = tuple(dict.fromkeys([*made.wider, *parts]))
        name = encode_identifier(made.name)
        is_after_class, self._is_after_class = self._is_after_class, is_class
        return View(
            name=name,
            is_class=is_class,
            docstring=docstring,
            comment=format_omitted_keywords(left),
            fields=(
                encode_fields(types, 4, comments) if is_class else encode_safe_text("")
            ),
            call=(
                encode_safe_text("")
                if is_class
                else encode_typed_dict(types, f"{name} = ")
            ),
            is_after_class=is_after_class,
        )

    def _field(self, member: Member, is_class: bool, read_only: bool) -> Type:
        type_ = self.of(member.type) if is_class else self.evaluated(member.type)
        if read_only:
            self.add(RUNTIME_TYPES, "ReadOnly")
            type_ = build_subscript("ReadOnly", [type_])
        if not member.is_required:
            self.add("typing", "NotRequired")
            type_ = build_subscript("NotRequired", [type_])
        return type_


def format_omitted_keywords(keywords: Sequence[str]) -> Code:
    """The comment on what a type does not say of its schema."""
    listed = ", ".join(keyword.lstrip("$") for keyword in keywords)
    return encode_safe_text(f"The schema says more, by {listed}." if listed else "")


def _names_in(type_: PythonType) -> Iterator[str]:
    """The names of the classes that a type is made of."""
    match type_:
        case ObjectName(name):
            yield name
        case Array(part) | Table(part):
            yield from _names_in(part)
        case OneOf(members):
            for member in members:
                yield from _names_in(member)
