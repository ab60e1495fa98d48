"""Convert the types of JSON Schemas to the types and classes of generated modules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from toolcast_runtime.values.annotated_types import (
    Array,
    Choice,
    Member,
    NamedType,
    ObjectName,
    ObjectType,
    OneOf,
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
TYPING_EXTENSIONS = "typing_extensions"
"""The module of `TypedDict` and `ReadOnly`.

`ReadOnly` is new in Python 3.13, and before Python 3.12 pydantic supports no other TypedDict.
Linters know only the modules `typing` and `typing_extensions`: with another one they report
the names in a TypedDict's quoted field types as unused imports."""
# A TypedDict field with one of these names would shadow the type of the same name in the
# annotations of later fields, so such a class is written as a `TypedDict(...)` call.
_TYPE_NAMES = frozenset("""
    str int float bool None Any Literal Mapping NotRequired ReadOnly Sequence
    """.split())

_VALUE_MODULES = {
    "date": "datetime",
    "datetime": "datetime",
    "time": "datetime",
    "timedelta": "datetime",
    "UUID": "uuid",
    "Decimal": "decimal",
}
"""The module of each type of Python values, such as `datetime`, by type name."""


class TypePrinter:
    """Builder of the types of one generated module, which also records its imports.

    Args:
        classes: the names of the module's classes and aliases.
        has_values: whether the module also uses types of Python values.
    """

    def __init__(self, classes: Collection[str], *, has_values: bool = False) -> None:
        self._type_names = _TYPE_NAMES
        if has_values:
            self._type_names = _TYPE_NAMES.union(_VALUE_MODULES, ["bytes"])
        self._classes = frozenset(classes)
        self._defined: set[str] = set()
        self._is_after_class = False
        self._imports: dict[str, set[str]] = {}
        self._types: dict[PythonType, Type] = {}

    def add(self, module: str, *names: str) -> None:
        """Record names that the generated module imports from another module."""
        self._imports.setdefault(module, set()).update(names)

    def needs(self, module: str) -> bool:
        """Return whether the generated code uses a name that it must import from `module`."""
        return module in self._imports

    def encode_import(self, module: str) -> Code:
        """Encode the statement that imports the recorded names of a module."""
        # isort's order of names: constants, classes, functions.
        names = sorted(
            self._imports.get(module, ()),
            key=lambda name: (not name.isupper(), name.islower(), name),
        )
        return encode_import(module, names)

    def build_type(self, type_: PythonType) -> Type:
        """Build a type for an annotation, and record the names that it imports.

        Python does not evaluate annotations, so the type can name classes that are defined
        later in the module.
        """
        result = self._types.get(type_)
        if result is None:
            result = self._types[type_] = self._build_new_type(type_)
        return result

    def _build_new_type(self, type_: PythonType) -> Type:
        match type_:
            case NamedType(name):
                if name == "Any":
                    self.add("typing", name)
                elif name in _VALUE_MODULES:
                    self.add(_VALUE_MODULES[name], name)
                return build_named_type(name)
            case ObjectName(name):
                return build_named_type(name)
            case Choice(values):
                self.add("typing", "Literal")
                return build_literal_type(values)
            case Array(item):
                self.add("collections.abc", "Sequence")
                return build_subscript("Sequence", [self.build_type(item)])
            case Table(value):
                self.add("collections.abc", "Mapping")
                return build_subscript(
                    "Mapping", [build_named_type("str"), self.build_type(value)]
                )
            case OneOf(members):
                return build_union([self.build_type(member) for member in members])

    def build_evaluated_type(self, type_: PythonType) -> Type:
        """Build a type for an expression that Python evaluates on import.

        A type that names a class of the module which is not defined yet is quoted.
        """
        used = self._classes.intersection(_list_object_names(type_))
        built = self.build_type(type_)
        return built if used <= self._defined else quote_type(built)

    def build_view(
        self, object_type: ObjectType, docstring: Code, read_only: bool = False
    ) -> View:
        """Build the view of a TypedDict, as a class or as a call `TypedDict(...)`.

        A call is used if a key cannot be a class field, such as `from` or `_id`.

        Args:
            object_type: the fields and their types.
            docstring: the docstring of the class; empty for none.
            read_only: whether the fields are ReadOnly, so that values with narrower field
                types are accepted as well.
        """
        self.add(TYPING_EXTENSIONS, "TypedDict")
        members = object_type.members
        is_class = all(map(self._can_be_class_field, members))
        # Build the type of fields with equal types only once.
        field_types: dict[tuple[PythonType, bool], Type] = {}
        fields = {}
        for key, member in members.items():
            kind = (member.type, member.is_required)
            if kind not in field_types:
                field_types[kind] = self._build_field(member, is_class, read_only)
            fields[key] = field_types[kind]
        self._defined.add(object_type.name)
        name = encode_identifier(object_type.name)
        is_after_class, self._is_after_class = self._is_after_class, is_class
        if is_class:
            comments = {
                key: format_omitted_keywords(member.wider)
                for key, member in members.items()
                if member.wider
            }
            if not docstring and not fields:
                docstring = encode_safe_text("Object without declared properties.")
            return View(
                name=name,
                is_class=True,
                docstring=docstring,
                comment=format_omitted_keywords(object_type.wider),
                fields=encode_fields(fields, 4, comments),
                call=encode_safe_text(""),
                is_after_class=is_after_class,
            )
        # A `TypedDict(...)` call may have all fields on one line, so one comment lists the
        # omitted schema keywords of all fields.
        omitted = [*object_type.wider]
        omitted += [keyword for member in members.values() for keyword in member.wider]
        return View(
            name=name,
            is_class=False,
            docstring=docstring,
            comment=format_omitted_keywords(tuple(dict.fromkeys(omitted))),
            fields=encode_safe_text(""),
            call=encode_typed_dict(fields, f"{name} = "),
            is_after_class=is_after_class,
        )

    def _can_be_class_field(self, key: str) -> bool:
        return (
            is_keyword_argument(key)
            and not key.startswith("_")
            and key not in self._type_names
            and key not in self._classes
        )

    def _build_field(self, member: Member, is_class: bool, read_only: bool) -> Type:
        if is_class:
            type_ = self.build_type(member.type)
        else:
            type_ = self.build_evaluated_type(member.type)
        if read_only:
            self.add(TYPING_EXTENSIONS, "ReadOnly")
            type_ = build_subscript("ReadOnly", [type_])
        if not member.is_required:
            self.add("typing", "NotRequired")
            type_ = build_subscript("NotRequired", [type_])
        return type_


def format_omitted_keywords(keywords: Sequence[str]) -> Code:
    """Return a comment that lists schema keywords without a Python type; empty for none."""
    if not keywords:
        return encode_safe_text("")
    names = ", ".join(keyword.lstrip("$") for keyword in keywords)
    noun = "keyword" if len(keywords) == 1 else "keywords"
    return encode_safe_text(f"The type does not express the schema {noun} {names}.")


def _list_object_names(type_: PythonType) -> Iterator[str]:
    """Yield the names of the classes that a type refers to."""
    match type_:
        case ObjectName(name):
            yield name
        case Array(part) | Table(part):
            yield from _list_object_names(part)
        case OneOf(members):
            for member in members:
                yield from _list_object_names(member)
