"""JSON Schemas of type annotations, which are read from source code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, NamedTuple

from .annotated_names import read_annotation, resolve_type
from .literals import (
    UnknownTypeError,
    build_enum_schema,
    read_literal_arguments,
)
from .metadata import (
    CONSTRAINED_TYPES,
    FieldSettings,
    apply_keywords,
    apply_metadata,
    is_ellipsis,
)
from .module_names import Definition, ModuleNames
from .modules import PythonModule, format_expression

# The maximum depth of nested types.
_MAX_DEPTH = 12
_MAX_PARTS = 500
"""The maximum number of types in the annotations of one function."""


class Fit(IntEnum):
    """The degree to which the values of a schema fit an annotation.

    `PLAIN`: the values fit. `NARROW`: the values fit at run time, but a type checker
    reports an error, because generated types use `Sequence` and `Mapping`. `CONVERTED`:
    pydantic must convert the values.
    """

    PLAIN = 0
    NARROW = 1
    CONVERTED = 2


class JsonType(NamedTuple):
    """The JSON Schema for an annotation, and what calls of the function need.

    Attributes:
        schema: the JSON Schema.
        fit: how well its values fit the annotation.
        needs_python_values: whether the spec needs `values: python`.
        is_class: whether it is a class of the project with fields.
        is_iterable: whether it is an `Iterable`, which also accepts strings and
            objects.
        settings: the default and alias of an `Annotated` type.
    """

    schema: dict[str, Any]
    fit: Fit = Fit.PLAIN
    needs_python_values: bool = False
    is_class: bool = False
    is_iterable: bool = False
    settings: FieldSettings = FieldSettings()


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
    "pydantic.StrictStr": JsonType({"type": "string"}),
    "pydantic.StrictInt": JsonType({"type": "integer"}),
    "pydantic.StrictFloat": JsonType({"type": "number"}),
    "pydantic.StrictBool": JsonType({"type": "boolean"}),
    "pydantic.NegativeInt": JsonType({"type": "integer", "exclusiveMaximum": 0}),
    "pydantic.NonPositiveInt": JsonType({"type": "integer", "maximum": 0}),
    "pydantic.NegativeFloat": JsonType({"type": "number", "exclusiveMaximum": 0}),
    "pydantic.NonPositiveFloat": JsonType({"type": "number", "maximum": 0}),
    "pydantic.PositiveInt": JsonType({"type": "integer", "exclusiveMinimum": 0}),
    "pydantic.NonNegativeInt": JsonType({"type": "integer", "minimum": 0}),
    "pydantic.PositiveFloat": JsonType({"type": "number", "exclusiveMinimum": 0}),
    "pydantic.NonNegativeFloat": JsonType({"type": "number", "minimum": 0}),
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
ClassReader = Callable[["TypeReader", PythonModule, ast.ClassDef, int], JsonType]
_Variables = Mapping[tuple[str, str, str], "BoundType"]


class BoundType(NamedTuple):
    """A type argument of a generic class, with the variables of the code around it."""

    module: PythonModule
    node: ast.expr
    variables: _Variables


class TypeReader:
    """Reader of the annotations of one function, with limits for all of them.

    Args:
        names: the names of the project's modules.
        read_class: returns the JSON type of a class of the project;
            `classes.read_class`.

    Attributes:
        typed_dicts: the names of the classes that inherit from `typing.TypedDict`.
        definitions: the schemas of recursive classes, for `$defs`.
        variables: the types that type variables of the current class stand for.
    """

    def __init__(self, names: ModuleNames, read_class: ClassReader) -> None:
        self.names = names
        self._read_class = read_class
        self.typed_dicts: list[str] = []
        self.definitions: dict[str, Any] = {}
        self.variables: _Variables = {}
        self._part_count = 0
        self._open_types: list[tuple[ast.AST | None, str]] = []
        self._recursive_types: set[tuple[ast.AST | None, str]] = set()

    def count_visit(self, depth: int) -> None:
        """Count a visited type at a depth of nesting.

        Raises:
            UnknownTypeError: the annotations have too many types, or are nested too
                deeply.
        """
        self._part_count += 1
        if depth > _MAX_DEPTH or self._part_count > _MAX_PARTS:
            raise UnknownTypeError("the type has too many parts")

    def resolve_type(
        self, module: PythonModule, node: ast.expr
    ) -> Definition | str | None:
        """Return the type that a name refers to; see `annotated_names.resolve_type`."""
        return resolve_type(self.names, module, node)

    def read(self, module: PythonModule, node: ast.expr, depth: int = 0) -> JsonType:
        """Return the JSON type of an annotation in a module.

        Raises:
            UnknownTypeError: the annotation has no known JSON Schema.
        """
        self.count_visit(depth)
        annotation = read_annotation(self.names, module, node)
        meaning, arguments = annotation.meaning, annotation.arguments
        if meaning == "None":
            return JsonType({"type": "null"})
        if isinstance(annotation.node, ast.Call):
            return self._read_constrained(module, annotation.node, depth + 1)
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
        elif meaning is not None and (not arguments or meaning.class_ is not None):
            with self.bind_arguments(module, meaning, arguments) as key:
                return self._read_own_type(meaning, key, depth + 1)
        raise UnknownTypeError(
            f"`{format_expression(annotation.node)}` is not a known JSON type"
        )

    @contextmanager
    def bind_arguments(
        self,
        module: PythonModule,
        definition: Definition,
        arguments: Sequence[ast.expr],
    ) -> Iterator[str]:
        """Bind the variables of a generic class to type arguments while a block runs.

        Yield the arguments as text. An argument that is itself a bound variable is
        replaced by its type.
        """
        outer = self.variables
        bound = [
            self._find_bound_type(module, argument)
            or BoundType(module, argument, outer)
            for argument in arguments
        ]
        if definition.class_ is not None:
            variables = self._list_variables(definition.module, definition.class_)
            self.variables = dict(zip(variables, bound, strict=False))
        try:
            yield ", ".join(ast.unparse(argument.node) for argument in bound)
        finally:
            self.variables = outer

    def _list_variables(
        self, module: PythonModule, node: ast.ClassDef
    ) -> list[tuple[str, str, str]]:
        """Return the keys of a class's type variables in the order of its arguments."""
        variables: dict[tuple[str, str, str], bool] = {}
        for base in node.bases:
            annotation = read_annotation(self.names, module, base)
            for argument in annotation.arguments:
                meaning = self.resolve_type(module, argument)
                if isinstance(meaning, Definition) and meaning.class_ is None:
                    is_generic = annotation.meaning == "typing.Generic"
                    variables[meaning.key] = is_generic
        # A base `Generic[...]` decides the order of a class's type arguments, so its
        # variables come first.
        return sorted(variables, key=lambda key: not variables[key])

    def _find_bound_type(
        self, module: PythonModule, node: ast.expr
    ) -> BoundType | None:
        meaning = self.resolve_type(module, node)
        if not isinstance(meaning, Definition):
            return None
        return self.variables.get(meaning.key)

    def _read_variable(
        self, definition: Definition, node: ast.Call, depth: int
    ) -> JsonType:
        """Return the JSON type that a type variable stands for.

        An unbound variable has the type of its `bound`, else any type.
        """
        bound = self.variables.get(definition.key)
        if bound is None:
            for keyword in node.keywords:
                if keyword.arg == "bound":
                    return self.read(definition.module, keyword.value, depth)
            return JsonType({})
        outer, self.variables = self.variables, bound.variables
        try:
            return self.read(bound.module, bound.node, depth)
        finally:
            self.variables = outer

    def _read_constrained(
        self, module: PythonModule, node: ast.Call, depth: int
    ) -> JsonType:
        """Return the JSON type of a call of pydantic's `constr` or a similar function.

        Raises:
            UnknownTypeError: another function is called, or an argument is unknown.
        """
        called = self.resolve_type(module, node.func)
        base = CONSTRAINED_TYPES.get(called) if isinstance(called, str) else None
        if base is None:
            raise UnknownTypeError(
                f"`{format_expression(node)}` is not a known JSON type"
            )
        json_type = _KNOWN_TYPES[base]
        schema = dict(json_type.schema)
        arguments = {keyword.arg or "**": keyword.value for keyword in node.keywords}
        items = node.args[0] if node.args else arguments.get("item_type")
        if items is not None:
            item_type = self.read(module, items, depth)
            schema["items"] = item_type.schema
            json_type = json_type._replace(
                needs_python_values=item_type.needs_python_values
            )
        apply_keywords(schema, arguments)
        return json_type._replace(schema=schema, fit=Fit.CONVERTED)

    def _read_own_type(
        self, definition: Definition, arguments: str, depth: int
    ) -> JsonType:
        """Return the JSON type of a class of the project, or of a type alias.

        A class that contains itself becomes a reference to `definitions`.

        Raises:
            UnknownTypeError: the type refers to itself without a class, is only known
                at run time, or two recursive classes have the same name.
        """
        key = definition.node, arguments
        node = definition.value
        called = None
        if isinstance(node, ast.Call):
            called = self.resolve_type(definition.module, node.func)
            if called == "typing.TypeVar":
                return self._read_variable(definition, node, depth)
            if called in CONSTRAINED_TYPES:
                return self.read(definition.module, node, depth)
        is_open = key in self._open_types
        # An alias that contains itself has no end, unless a class in between becomes a
        # reference.
        if is_open and definition.class_ is None and not self._is_inside_class(key):
            raise UnknownTypeError("the type refers to itself")
        if is_open and definition.class_ is not None:
            self._recursive_types.add(key)
            return JsonType({"$ref": f"#/$defs/{definition.name}"}, Fit.CONVERTED)
        self._open_types.append(key)
        try:
            if definition.class_ is not None:
                json_type = self._read_class(
                    self, definition.module, definition.class_, depth
                )
                if key not in self._recursive_types:
                    return json_type
                name = definition.name
                known = self.definitions.setdefault(name, json_type.schema)
                if known != json_type.schema:
                    raise UnknownTypeError(
                        f"two recursive classes have the name `{name}`"
                    )
                return json_type._replace(schema={"$ref": f"#/$defs/{name}"})
            if isinstance(node, ast.Call):
                if called != "typing.NewType" or len(node.args) != 2:
                    raise UnknownTypeError(
                        f"`{format_expression(node)}` is only known at run time"
                    )
                base = self.read(definition.module, node.args[1], depth)
                # A type checker rejects a value of the base type for a `NewType`.
                return base._replace(fit=max(base.fit, Fit.NARROW))
            if node is None:
                raise UnknownTypeError(f"`{definition.name}` is not a known JSON type")
            return self.read(definition.module, node, depth)
        finally:
            self._open_types.pop()

    def _is_inside_class(self, alias: tuple[ast.AST | None, str]) -> bool:
        """Return whether a class is being read inside of an alias.

        The class becomes a reference, which ends the recursion.
        """
        inner_types = self._open_types[self._open_types.index(alias) :]
        return any(isinstance(node, ast.ClassDef) for node, _ in inner_types)

    def _read_generic(
        self, module: PythonModule, name: str, arguments: Sequence[ast.expr], depth: int
    ) -> JsonType:
        base = _READ_ONLY_TYPES.get(name, name)
        if name == "typing.Literal":
            return JsonType(build_enum_schema(read_literal_arguments(arguments)))
        if name == "typing.Annotated":
            annotated = self.read(module, arguments[0], depth)
            schema, settings = dict(annotated.schema), annotated.settings
            for metadata in arguments[1:]:
                settings = self.apply_metadata(module, metadata, schema, settings)
            fit = Fit.CONVERTED if settings.needs_pydantic else annotated.fit
            return annotated._replace(schema=schema, fit=fit, settings=settings)
        if name in _QUALIFIERS:
            return self.read(module, arguments[0], depth)
        if base == "builtins.dict" and len(arguments) == 2:
            if self.resolve_type(module, arguments[0]) != "builtins.str":
                raise UnknownTypeError("the keys of a JSON object are strings")
        elif base == "builtins.tuple" and not is_ellipsis(arguments[-1]):
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
            if not is_ellipsis(argument)
        ]
        if not types:
            raise UnknownTypeError(f"`{name}` of `...` has no item type")
        if name == "typing.Optional":
            return _build_union([*types, JsonType({"type": "null"})])
        if name == "typing.Union":
            return _build_union(types)
        container, item_type = _KNOWN_TYPES[base], types[-1]
        keyword = "additionalProperties" if base == "builtins.dict" else "items"
        # Generated types use `Sequence` and `Mapping`, as these annotations do, so only
        # the items can differ.
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

    def resolve_definition(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema that a reference to a recursive class stands for.

        Another schema is returned unchanged.
        """
        name = schema.get("$ref", "").rpartition("/")[2]
        definition: dict[str, Any] = self.definitions.get(name, schema)
        return definition

    def add_definitions(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return a copy of a schema with `$defs` for the recursive classes, if any."""
        definitions = {"$defs": self.definitions} if self.definitions else {}
        return {**schema, **definitions}

    def apply_metadata(
        self,
        module: PythonModule,
        metadata: ast.expr,
        schema: dict[str, Any],
        settings: FieldSettings,
    ) -> FieldSettings:
        """Add metadata of a type to a schema in place; return the changed settings.

        Raises:
            UnknownTypeError: the metadata is unknown.
        """
        called = metadata.func if isinstance(metadata, ast.Call) else metadata
        resolved = self.resolve_type(module, called)
        return apply_metadata(resolved, metadata, schema, settings)


def _build_union(members: list[JsonType]) -> JsonType:
    """Return the JSON type of a union, with `type` instead of `anyOf` if possible.

    A union with a type that accepts every value also accepts every value.
    """
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
        # With null added to `type`, the other keywords stay valid: JSON Schema applies
        # each keyword only to values of its type.
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


def remove_formats(schema: Any) -> Any:
    """Return the schema of a result after its conversion to JSON.

    Formats, defaults and `additionalProperties: false` are removed.
    """
    if isinstance(schema, list):
        return [remove_formats(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("format", "contentEncoding", "default"):
            continue
        if key == "additionalProperties" and value is False:
            continue
        if key in ("properties", "$defs"):
            result[key] = {name: remove_formats(item) for name, item in value.items()}
        else:
            result[key] = remove_formats(value)
    return result
