"""Comparison of a function's type annotations with the types of a schema.

The annotations are read from the source code. Only certain mismatches are reported: a name
that is neither built in nor a TypedDict of the project is assumed to accept every value.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcast_runtime.values.annotated_types import (
    SCALARS,
    Array,
    Choice,
    NamedType,
    ObjectName,
    ObjectType,
    OneOf,
    PythonType,
    Table,
)

from ..static_analysis.annotated_names import read_annotation
from ..static_analysis.classes import DictField, read_typed_dict_fields
from ..static_analysis.literals import UnknownTypeError
from ..static_analysis.module_names import Definition, ModuleNames
from ..static_analysis.modules import PythonModule, format_expression

_ARRAYS = frozenset(["Sequence", "list", "Iterable", "Collection"])
_TABLES = frozenset(["Mapping", "dict"])
_OTHER_TYPES = frozenset(["tuple", "set", "frozenset", "bytes", "complex", "Literal"])
_SCALARS = frozenset(["str", "int", "float", "bool", "None"])
_SUPPORTED_TYPES = _ARRAYS | _TABLES | _OTHER_TYPES | _SCALARS
# Wrappers such as `Annotated[int, ...]`, whose first argument is the type itself.
_WRAPPERS = frozenset(["NotRequired", "Required", "ReadOnly", "Final", "Annotated"])
# Numeric promotions of type checkers: an `int` is accepted as a `float`, for example.
_ACCEPTED_AS = {"int": {"int", "float"}, "bool": {"bool", "int", "float"}}
_SCHEMA_NAMES = {type_.name: name for name, type_ in SCALARS.items()}
_MAX_DEPTH = 12
# Limits the work of one comparison: the number of annotations that it reads.
_MAX_COMPARED_ANNOTATIONS = 2_000


class _Alternative(NamedTuple):
    """One member of an annotation's union.

    Attributes:
        name: the type's name without the module, such as `list`; of a TypedDict its own name.
        arguments: the type's arguments, such as `str` in `list[str]`.
        fields: the fields of a TypedDict; None for any other type.
        module: the module that contains the annotation.
        node: the annotation's expression.
    """

    name: str
    arguments: list[ast.expr]
    fields: Mapping[str, DictField] | None
    module: PythonModule
    node: ast.expr


class AnnotationChecker:
    """Compares the annotations of one module with the types of a schema.

    Args:
        names: the names of the project's modules.
        module: the module that contains the annotations.
        objects: the object types that the schema's types refer to by name.
    """

    def __init__(
        self, names: ModuleNames, module: PythonModule, objects: Sequence[ObjectType]
    ) -> None:
        self._names = names
        self._module = module
        self._objects = {object_type.name: object_type for object_type in objects}
        self._remaining = 0
        # Parameters must accept every value of the schema. Results are the reverse: every
        # value that the annotation allows must be valid under the schema.
        self._is_parameter = True
        self._fields: dict[Definition, Mapping[str, DictField] | None] = {}

    def check_parameter(
        self, schema_type: PythonType, node: ast.expr, path: str
    ) -> list[str]:
        """Return messages about valid arguments that a parameter's annotation rejects.

        Empty if annotation and schema fit, or if a type is unknown.
        """
        self._remaining, self._is_parameter = _MAX_COMPARED_ANNOTATIONS, True
        return list(self._compare(schema_type, self._module, node, path, 0))

    def check_result(
        self, schema_type: PythonType, node: ast.expr, path: str
    ) -> list[str]:
        """Return messages about values that only a result's annotation allows.

        The schema does not allow these values. Empty if annotation and schema fit, or
        if a type is unknown.
        """
        self._remaining, self._is_parameter = _MAX_COMPARED_ANNOTATIONS, False
        return list(self._compare(schema_type, self._module, node, path, 0))

    def _compare(
        self,
        schema_type: PythonType,
        module: PythonModule,
        node: ast.expr,
        path: str,
        depth: int,
    ) -> Iterator[str]:
        """Yield a message for each mismatch between an annotation and a schema type.

        For a parameter, the annotation must accept each member of the schema's union; only
        the first member that it rejects is reported. For a result, the schema must allow
        each alternative of the annotation; all that it rejects are reported.
        """
        members = list(_split_union(schema_type))
        if not members:
            return  # `Any` in the schema fits every annotation.
        alternatives = self._list_alternatives(module, node, depth)
        if alternatives is None:
            return
        if self._is_parameter:
            for member in members:
                attempts = [
                    list(self._match(member, alternative, path, depth))
                    for alternative in alternatives
                ]
                if all(attempts):
                    nested = _find_nested_messages(attempts, path)
                    yield from nested or [_format_rejection(path, member, node)]
                    return
            return
        for alternative in alternatives:
            attempts = [
                list(self._match(member, alternative, path, depth))
                for member in members
            ]
            if all(attempts):
                text = format_expression(alternative.node)
                message = f"`{path}` is `{text}`, which `returns` does not allow"
                yield from _find_nested_messages(attempts, path) or [message]

    def _match(
        self, schema_type: PythonType, alternative: _Alternative, path: str, depth: int
    ) -> Iterator[str]:
        """Yield the reasons why a member of the schema's type does not fit an alternative.

        Nothing is yielded if they fit. For a parameter the alternative must accept the
        member's values, for a result the reverse.
        """
        module, name = alternative.module, alternative.name
        arguments = alternative.arguments
        match schema_type:
            case Array(item) if name in _ARRAYS or (
                name == "tuple" and not self._is_parameter
            ):
                if len(arguments) == 1:
                    yield from self._compare(
                        item, module, arguments[0], f"{path}[]", depth + 1
                    )
            case Table(value) if name in _TABLES:
                if arguments:
                    yield from self._compare(
                        value, module, arguments[-1], f"{path}.*", depth + 1
                    )
            case Table(_) if alternative.fields is not None and not self._is_parameter:
                return
            case ObjectName(_) if name in _TABLES:
                return
            case Table() | ObjectName() | NamedType("str") | Choice((str(),)) if (
                name == "Iterable" and self._is_parameter
            ):
                # Iterating over a string or an object yields strings, so the item type of
                # the annotation must accept strings.
                item = NamedType("str")
                for argument in arguments[-1:]:
                    if any(self._compare(item, module, argument, path, depth + 1)):
                        yield _format_rejection(path, schema_type, alternative.node)
            case ObjectName(class_) if alternative.fields is not None:
                yield from self._compare_fields(
                    class_, alternative, alternative.fields, path, depth
                )
            case NamedType(scalar) if self._is_scalar_accepted(scalar, name):
                return
            case NamedType("str") if name == "Literal" and not self._is_parameter:
                return
            case Choice((value,)) if _accepts_literal(value, alternative):
                return
            case _:
                yield _format_rejection(path, schema_type, alternative.node)

    def _compare_fields(
        self,
        class_: str,
        alternative: _Alternative,
        fields: Mapping[str, DictField],
        path: str,
        depth: int,
    ) -> Iterator[str]:
        members = self._objects[class_].members
        for key in fields if self._is_parameter else members:
            field, member = fields.get(key), members.get(key)
            field_path = f"{path}.{key}"
            if field is not None and member is not None:
                yield from self._compare(
                    member.type, field.module, field.annotation, field_path, depth + 1
                )
            is_required_by_type = field is not None and field.is_required
            is_required_by_schema = member is not None and member.is_required
            if self._is_parameter:
                if is_required_by_type and not is_required_by_schema:
                    yield (
                        f"`{field_path}` is optional in the schema, but required by"
                        f" `{alternative.name}`"
                    )
            elif is_required_by_schema and not is_required_by_type:
                yield (
                    f"`{field_path}` is required by the schema, but optional in"
                    f" `{alternative.name}`"
                )

    def _is_scalar_accepted(self, scalar: str, name: str) -> bool:
        source, target = (scalar, name) if self._is_parameter else (name, scalar)
        return target in _ACCEPTED_AS.get(source, {source})

    def _list_alternatives(
        self, module: PythonModule, node: ast.expr, depth: int
    ) -> list[_Alternative] | None:
        """Return the members of an annotation's union, with aliases and wrappers resolved.

        None if one of them is not a supported type, or if a limit is reached.
        """
        alternatives: list[_Alternative] = []
        pending = [(module, node)]
        while pending:
            self._remaining -= 1
            if depth > _MAX_DEPTH or self._remaining <= 0:
                return None
            module, node = pending.pop()
            try:
                annotation = read_annotation(self._names, module, node)
            except UnknownTypeError:
                return None
            meaning, node = annotation.meaning, annotation.node
            arguments = list(annotation.arguments)
            if isinstance(meaning, Definition):
                fields = None
                if meaning.class_ is not None:
                    fields = self._get_fields(meaning)
                elif meaning.value is not None:
                    pending.append((meaning.module, meaning.value))
                    continue
                if fields is None:
                    return None
                alternatives.append(
                    _Alternative(meaning.name, [], fields, module, node)
                )
                continue
            prefix, _, last = (meaning or "").rpartition(".")
            name = last if prefix in ("", "builtins", "typing") else ""
            if name in _WRAPPERS and arguments:
                pending.append((module, arguments[0]))
            elif name in ("Union", "Optional"):
                arguments += [ast.Constant(None)] if name == "Optional" else []
                pending += [(module, argument) for argument in reversed(arguments)]
            elif name in _SUPPORTED_TYPES:
                alternatives.append(_Alternative(name, arguments, None, module, node))
            else:
                return None
        return alternatives

    def _get_fields(self, definition: Definition) -> Mapping[str, DictField] | None:
        if definition not in self._fields:
            self._fields[definition] = read_typed_dict_fields(self._names, definition)
        return self._fields[definition]


def _find_nested_messages(
    attempts: Sequence[Sequence[str]], path: str
) -> Sequence[str]:
    """Return the messages of the first attempt that concern a part of the value.

    Empty if all attempts failed at the value itself.
    """
    nested = (
        messages for messages in attempts if not messages[0].startswith(f"`{path}` ")
    )
    return next(nested, ())


def _split_union(type_: PythonType) -> Iterator[PythonType]:
    """Yield the members of a type except `Any`, and a Literal's values one by one."""
    for member in type_.members if isinstance(type_, OneOf) else (type_,):
        if isinstance(member, Choice):
            yield from (Choice((value,)) for value in member.values)
        elif member != NamedType("Any"):
            yield member


def _format_rejection(path: str, schema_type: PythonType, node: ast.expr) -> str:
    match schema_type:
        case Choice((value, *_)):
            text = json.dumps(value, ensure_ascii=False)
        case NamedType(name) if name in _SCHEMA_NAMES:
            schema_name = _SCHEMA_NAMES[name]
            article = "an" if schema_name == "integer" else "a"
            text = "null" if schema_name == "null" else f"{article} {schema_name}"
        case NamedType(name):
            text = f"a `{name}`"
        case Array():
            text = "an array"
        case _:
            text = "an object"
    return f"`{path}` can be {text}, which `{format_expression(node)}` does not accept"


def _accepts_literal(value: str | int | bool | None, alternative: _Alternative) -> bool:
    """Return whether an alternative accepts a JSON value.

    A `Literal` with arguments that are not constants is assumed to accept every value.
    """
    name = "None" if value is None else type(value).__name__
    if alternative.name != "Literal":
        return alternative.name in _ACCEPTED_AS.get(name, {name})
    constants = [
        argument.value
        for argument in alternative.arguments
        if isinstance(argument, ast.Constant)
    ]
    # `True == 1` in Python, but `true` and 1 are different JSON values.
    is_listed = any(
        constant == value and type(constant) is type(value) for constant in constants
    )
    return is_listed or len(constants) != len(alternative.arguments)
