"""JSON Schemas of type annotations, which are read from source code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ..suggestions import format_quoted_list
from .literals import (
    UnknownTypeError,
    build_enum_schema,
    evaluate_literal,
    read_literal_arguments,
)
from .module_names import Definition, ModuleNames
from .modules import PythonModule, format_expression

# Bounds nested types.
_MAX_DEPTH = 12
_MAX_PARTS = 500
"""Types that one function's annotations can consist of."""


class Fit(IntEnum):
    """How well the values of a schema fit an annotation.

    `PLAIN`: they fit. `NARROW`: they fit at run time, but a type checker reports an error,
    because generated types use `Sequence` and `Mapping`. `CONVERTED`: pydantic must convert them.
    """

    PLAIN = 0
    NARROW = 1
    CONVERTED = 2


class JsonType(NamedTuple):
    """JSON representation of an annotation.

    Attributes:
        schema: the JSON Schema.
        fit: how well its values fit the annotation.
        needs_python_values: whether the spec needs `values: python`.
        is_class: whether it is a class of the project with fields.
        is_iterable: whether it is an `Iterable`, which also accepts strings and objects.
    """

    schema: dict[str, Any]
    fit: Fit = Fit.PLAIN
    needs_python_values: bool = False
    is_class: bool = False
    is_iterable: bool = False


def _build_python_type(schema: dict[str, Any]) -> JsonType:
    return JsonType(schema, needs_python_values=True)


_KNOWN_TYPES = {
    "builtins.str": JsonType({"type": "string"}),
    "builtins.int": JsonType({"type": "integer"}),
    "builtins.float": JsonType({"type": "number"}),
    "builtins.bool": JsonType({"type": "boolean"}),
    "builtins.list": JsonType({"type": "array"}, Fit.NARROW),
    "builtins.dict": JsonType({"type": "object"}, Fit.NARROW),
    "builtins.tuple": JsonType({"type": "array"}, Fit.CONVERTED),
    "builtins.set": JsonType({"type": "array", "uniqueItems": True}, Fit.CONVERTED),
    "builtins.frozenset": JsonType(
        {"type": "array", "uniqueItems": True}, Fit.CONVERTED
    ),
    "builtins.object": JsonType({}),
    "typing.Any": JsonType({}),
    "builtins.bytes": _build_python_type(
        {"type": "string", "contentEncoding": "base64"}
    ),
    "datetime.date": _build_python_type({"type": "string", "format": "date"}),
    "datetime.datetime": _build_python_type({"type": "string", "format": "date-time"}),
    "datetime.time": _build_python_type({"type": "string", "format": "time"}),
    "datetime.timedelta": _build_python_type({"type": "string", "format": "duration"}),
    "uuid.UUID": _build_python_type({"type": "string", "format": "uuid"}),
    "pathlib.Path": JsonType({"type": "string"}, Fit.CONVERTED),
    "pathlib.PurePath": JsonType({"type": "string"}, Fit.CONVERTED),
    "decimal.Decimal": _build_python_type({"type": "string", "format": "decimal"}),
    "pydantic.EmailStr": JsonType({"type": "string", "format": "email"}),
    "pydantic.HttpUrl": JsonType({"type": "string", "format": "uri"}, Fit.CONVERTED),
    "pydantic.AnyUrl": JsonType({"type": "string", "format": "uri"}, Fit.CONVERTED),
    "pydantic.AnyHttpUrl": JsonType({"type": "string", "format": "uri"}, Fit.CONVERTED),
    "pydantic.PositiveInt": JsonType({"type": "integer", "exclusiveMinimum": 0}),
    "pydantic.NonNegativeInt": JsonType({"type": "integer", "minimum": 0}),
    "pydantic.PositiveFloat": JsonType({"type": "number", "exclusiveMinimum": 0}),
    "pydantic.NonNegativeFloat": JsonType({"type": "number", "minimum": 0}),
}
_CANONICAL_NAMES = {
    "typing.List": "builtins.list",
    "typing.MutableSequence": "builtins.list",
    "typing.Dict": "builtins.dict",
    "typing.MutableMapping": "builtins.dict",
    "typing.Tuple": "builtins.tuple",
    "typing.Set": "builtins.set",
    "typing.FrozenSet": "builtins.frozenset",
    "typing.AbstractSet": "builtins.set",
    "typing.Text": "builtins.str",
}
_READ_ONLY_TYPES = {
    "typing.Sequence": "builtins.list",
    "typing.Iterable": "builtins.list",
    "typing.Collection": "builtins.list",
    "typing.Mapping": "builtins.dict",
}
_QUALIFIERS = frozenset(
    ["typing.Required", "typing.NotRequired", "typing.ReadOnly", "typing.Final"]
)
# Arguments of pydantic's `Field` and classes of `annotated_types`, with their keywords.
_LIMIT_KEYWORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTH_PREFIXES = {"min_length": "min", "max_length": "max"}
_ANNOTATED_TYPES = {
    "annotated_types.Ge": "ge",
    "annotated_types.Gt": "gt",
    "annotated_types.Le": "le",
    "annotated_types.Lt": "lt",
    "annotated_types.MultipleOf": "multiple_of",
    "annotated_types.MinLen": "min_length",
    "annotated_types.MaxLen": "max_length",
}
_IGNORED_FIELD_ARGUMENTS = frozenset(
    ["default", "default_factory", "examples", "repr", "title", "strict"]
)
ClassReader = Callable[["TypeReader", PythonModule, ast.ClassDef, int], JsonType]


class Annotation(NamedTuple):
    """Outermost type of an annotation.

    Attributes:
        meaning: the dotted name of the type, without deprecated aliases (`builtins.list` for
            `typing.List`); `None`; `typing.Union` for a union in any notation; a class or
            assigned value of the project; None if it is unknown.
        arguments: the type arguments, or the operands of `|`.
        node: the expression, without quotes.
    """

    meaning: Definition | str | None
    arguments: tuple[ast.expr, ...]
    node: ast.expr


def read_annotation(
    names: ModuleNames, module: PythonModule, node: ast.expr
) -> Annotation:
    """Return the outermost type of an annotation in a module; it can be in quotes.

    Raises:
        UnknownTypeError: the text in quotes is not an expression.
    """
    while isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = _parse_expression(node.value)
    if isinstance(node, ast.Constant) and node.value is None:
        return Annotation("None", (), node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return Annotation("typing.Union", (node.left, node.right), node)
    if not isinstance(node, ast.Subscript):
        return Annotation(resolve_type(names, module, node), (), node)
    argument = node.slice
    arguments: tuple[ast.expr, ...] = (argument,)
    if isinstance(argument, ast.Tuple):
        arguments = tuple(argument.elts)
    return Annotation(resolve_type(names, module, node.value), arguments, node)


def resolve_type(
    names: ModuleNames, module: PythonModule, node: ast.expr
) -> Definition | str | None:
    """Return the type that a name or attribute refers to, as in `Annotation.meaning`."""
    definition = names.resolve_unambiguous(module, node)
    if definition is None:
        return None
    if definition.kind not in ("external", "module"):
        # A function is not a type.
        return None if definition.function else definition
    name = definition.name
    for prefix in ("typing_extensions.", "collections.abc."):
        # pydantic treats the TypedDicts of the two modules differently.
        if name.startswith(prefix) and not name.endswith(".TypedDict"):
            name = f"typing.{name.removeprefix(prefix)}"
    return _CANONICAL_NAMES.get(name, name)


class TypeReader:
    """Reads the annotations of one function.

    Args:
        names: the names of the project's modules.
        read_class: returns the JSON type of a class of the project; `classes.read_class`.

    Attributes:
        typed_dicts: the names of the classes that inherit from `typing.TypedDict`.
    """

    def __init__(self, names: ModuleNames, read_class: ClassReader) -> None:
        self.names = names
        self._read_class = read_class
        self.typed_dicts: list[str] = []
        self._part_count = 0
        self._open_nodes: list[ast.AST | None] = []

    def count_visit(self, depth: int) -> None:
        """Count a visited type.

        Raises:
            UnknownTypeError: a limit is reached.
        """
        self._part_count += 1
        if depth > _MAX_DEPTH or self._part_count > _MAX_PARTS:
            raise UnknownTypeError("the type has too many parts")

    def resolve_type(
        self, module: PythonModule, node: ast.expr
    ) -> Definition | str | None:
        """Return the type that a name or attribute refers to, as in `Annotation.meaning`."""
        return resolve_type(self.names, module, node)

    def read(self, module: PythonModule, node: ast.expr, depth: int = 0) -> JsonType:
        """Return the JSON type of an annotation in a module.

        Raises:
            UnknownTypeError: it is not a type with a known JSON Schema.
        """
        self.count_visit(depth)
        annotation = read_annotation(self.names, module, node)
        meaning, arguments = annotation.meaning, annotation.arguments
        if meaning == "None":
            return JsonType({"type": "null"})
        if isinstance(meaning, str):
            if arguments:
                return self._read_generic(module, meaning, arguments, depth + 1)
            read_only_base = _READ_ONLY_TYPES.get(meaning)
            known_type = _KNOWN_TYPES.get(read_only_base or meaning)
            if known_type is not None and read_only_base:
                is_iterable = meaning == "typing.Iterable"
                return known_type._replace(fit=Fit.PLAIN, is_iterable=is_iterable)
            if known_type is not None:
                return known_type
        elif meaning is not None and not arguments:
            return self._read_own_type(meaning, depth + 1)
        raise UnknownTypeError(
            f"`{format_expression(annotation.node)}` is not a known JSON type"
        )

    def _read_own_type(self, definition: Definition, depth: int) -> JsonType:
        """Return the JSON type of a class of the project, or of a type alias."""
        if definition.node in self._open_nodes:
            raise UnknownTypeError("the type refers to itself")
        self._open_nodes.append(definition.node)
        try:
            if definition.class_ is not None:
                return self._read_class(
                    self, definition.module, definition.class_, depth
                )
            node = definition.value
            if isinstance(node, ast.Call):
                called = self.resolve_type(definition.module, node.func)
                if called != "typing.NewType" or len(node.args) != 2:
                    raise UnknownTypeError(
                        f"`{format_expression(node)}` is only known at run time"
                    )
                base = self.read(definition.module, node.args[1], depth)
                # A type checker rejects a plain value of the base type.
                return base._replace(fit=max(base.fit, Fit.NARROW))
            if node is None:
                raise UnknownTypeError(f"`{definition.name}` is not a known JSON type")
            return self.read(definition.module, node, depth)
        finally:
            self._open_nodes.pop()

    def _read_generic(
        self, module: PythonModule, name: str, arguments: Sequence[ast.expr], depth: int
    ) -> JsonType:
        base = _READ_ONLY_TYPES.get(name, name)
        if name == "typing.Literal":
            return JsonType(build_enum_schema(read_literal_arguments(arguments)))
        if name == "typing.Annotated":
            annotated = self.read(module, arguments[0], depth)
            schema = dict(annotated.schema)
            for metadata in arguments[1:]:
                self.apply_metadata(module, metadata, schema)
            return annotated._replace(schema=schema)
        if name in _QUALIFIERS:
            return self.read(module, arguments[0], depth)
        if base == "builtins.dict" and len(arguments) == 2:
            if self.resolve_type(module, arguments[0]) != "builtins.str":
                raise UnknownTypeError("the keys of a JSON object are strings")
        elif base == "builtins.tuple" and not _is_ellipsis(arguments[-1]):
            items = [self.read(module, argument, depth) for argument in arguments]
            schema = {
                "type": "array",
                "prefixItems": [item.schema for item in items],
                "minItems": len(items),
                "maxItems": len(items),
            }
            needs_python_values = any(item.needs_python_values for item in items)
            return JsonType(schema, Fit.CONVERTED, needs_python_values)
        elif (
            name not in ("typing.Optional", "typing.Union") and base not in _KNOWN_TYPES
        ):
            raise UnknownTypeError(
                f"`{name}` of `{format_expression(arguments[0])}` is not a known JSON type"
            )
        types = [
            self.read(module, argument, depth)
            for argument in arguments
            if not _is_ellipsis(argument)
        ]
        if not types:
            raise UnknownTypeError(f"`{name}` of `...` has no item type")
        if name == "typing.Optional":
            return _build_union([*types, JsonType({"type": "null"})])
        if name == "typing.Union":
            return _build_union(types)
        container, item_type = _KNOWN_TYPES[base], types[-1]
        keyword = "additionalProperties" if base == "builtins.dict" else "items"
        # Generated types use `Sequence` and `Mapping`, too: only their items can differ.
        fit = item_type.fit
        if name not in _READ_ONLY_TYPES:
            fit = max(container.fit, fit)
        schema = container.schema
        if item_type.schema:
            schema = {**schema, keyword: item_type.schema}
        is_iterable = name == "typing.Iterable"
        return JsonType(
            schema, fit, item_type.needs_python_values, is_iterable=is_iterable
        )

    def apply_metadata(
        self, module: PythonModule, metadata: ast.expr, schema: dict[str, Any]
    ) -> None:
        """Add the metadata of an `Annotated` type to a schema: a description or a limit.

        Raises:
            UnknownTypeError: the metadata is unknown.
        """
        if isinstance(metadata, ast.Constant) and isinstance(metadata.value, str):
            schema["description"] = _normalize_spaces(metadata.value)
            return
        if not isinstance(metadata, ast.Call):
            raise UnknownTypeError(
                f"`{format_expression(metadata)}` is unknown metadata of a type"
            )
        called = self.resolve_type(module, metadata.func)
        if called in ("typing.Doc", "annotated_doc.Doc") and metadata.args:
            text = evaluate_literal(metadata.args[0])
            schema["description"] = _normalize_spaces(str(text))
        elif isinstance(called, str) and called in _ANNOTATED_TYPES and metadata.args:
            limit = evaluate_literal(metadata.args[0])
            _add_limit(schema, _ANNOTATED_TYPES[called], limit)
        elif called == "pydantic.Field":
            for keyword in metadata.keywords:
                argument = keyword.arg or "**"
                if argument == "description":
                    text = evaluate_literal(keyword.value)
                    schema["description"] = _normalize_spaces(str(text))
                elif argument not in _IGNORED_FIELD_ARGUMENTS:
                    _add_limit(schema, argument, evaluate_literal(keyword.value))
        else:
            raise UnknownTypeError(
                f"`{format_expression(metadata)}` is unknown metadata of a type"
            )


def _normalize_spaces(text: str) -> str:
    return " ".join(text.split())


def _add_limit(schema: dict[str, Any], argument: str, value: Any) -> None:
    if argument in _LIMIT_KEYWORDS:
        schema[_LIMIT_KEYWORDS[argument]] = value
    elif argument in _LENGTH_PREFIXES:
        types = schema.get("type", "string")
        for type_ in [types] if isinstance(types, str) else types:
            suffix = {"array": "Items", "object": "Properties"}.get(type_, "Length")
            if type_ != "null":
                schema[f"{_LENGTH_PREFIXES[argument]}{suffix}"] = value
    elif argument == "pattern" and isinstance(value, str):
        schema["pattern"] = value
    else:
        raise UnknownTypeError(f"`{argument}` is an unknown argument of `Field`")


def _build_union(members: list[JsonType]) -> JsonType:
    """Return the union of types, with `type` instead of `anyOf` if it is equivalent."""
    fit = max(member.fit for member in members)
    needs_python_values = any(member.needs_python_values for member in members)
    schemas = [member.schema for member in members]
    if not all(schemas):
        # An empty schema accepts every value.
        return JsonType({}, fit, needs_python_values)
    null = {"type": "null"}
    others = [schema for schema in schemas if schema != null]
    if (
        len(others) == 1
        and null in schemas
        and isinstance(others[0].get("type"), str | list)
    ):
        # `type: [string, "null"]` keeps the other keywords of the string's schema.
        types = others[0]["type"]
        types = [*([types] if isinstance(types, str) else types), "null"]
        schema = {**others[0], "type": list(dict.fromkeys(types))}
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return JsonType(schema, fit, needs_python_values)
    types = [schema["type"] for schema in schemas if list(schema) == ["type"]]
    if len(types) == len(schemas) and all(isinstance(type_, str) for type_ in types):
        return JsonType({"type": list(dict.fromkeys(types))}, fit, needs_python_values)
    return JsonType({"anyOf": schemas}, fit, needs_python_values)


def _parse_expression(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnknownTypeError(
            f"{format_quoted_list([text[:60]])} is not a valid Python type annotation"
        ) from None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
