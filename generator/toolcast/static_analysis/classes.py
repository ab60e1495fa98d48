"""JSON types and fields of enumerations, dataclasses, TypedDicts and pydantic models."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

from .annotations import Fit, JsonType, TypeReader, read_annotation
from .docstring import parse_docstring
from .literals import (
    UnknownTypeError,
    build_enum_schema,
    evaluate_literal,
    is_valid_value,
)
from .module_names import Definition, ModuleNames
from .modules import PythonModule, format_expression

_ENUMS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum"))
_ENUM_MIXINS = frozenset(["builtins.str", "builtins.int"])
_DATACLASSES = frozenset(["dataclasses.dataclass", "pydantic.dataclasses.dataclass"])
_FIELD_FUNCTIONS = frozenset(["dataclasses.field", "pydantic.Field"])
_BASES = frozenset(
    ["pydantic.BaseModel", "typing.TypedDict", "typing_extensions.TypedDict"]
)
# Settings of a pydantic model that change neither the names nor the types of its fields.
_HARMLESS_SETTINGS = frozenset(["frozen", "extra", "title", "use_attribute_docstrings"])


class ClassField(NamedTuple):
    """Field of a class.

    Attributes:
        is_required: whether a value needs the field.
        kind: the JSON Schema type of its values; None if it is unknown or several.
        is_iterable: whether it is an `Iterable`, which also accepts strings and objects.
    """

    is_required: bool
    kind: str | None
    is_iterable: bool


class DictField(NamedTuple):
    """Key of a TypedDict.

    Attributes:
        module: the module that contains the annotation.
        annotation: the annotation.
        is_required: whether the key always exists.
    """

    module: PythonModule
    annotation: ast.expr
    is_required: bool


class _Field(NamedTuple):
    module: PythonModule
    annotation: ast.expr
    value: ast.expr | None
    is_total: bool = True


def read_class(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> JsonType:
    """Return the JSON type of a class: an enumeration's values, or an object with its fields.

    Raises:
        UnknownTypeError: the source does not show the values or fields.
    """
    members = _read_enum_members(reader, module, node)
    if members is not None:
        # The function expects a member of the enumeration, not its value.
        return JsonType(build_enum_schema(list(members.values())), Fit.CONVERTED)
    return _read_object(reader, module, node, depth)


def evaluate_enum_member(
    reader: TypeReader, module: PythonModule, node: ast.Attribute
) -> Any:
    """Return the value of an enumeration's member, such as `Level.LOW`.

    Raises:
        UnknownTypeError: the expression is not a member of an enumeration of the project.
    """
    definition = reader.resolve_type(module, node.value)
    if isinstance(definition, Definition) and definition.class_ is not None:
        members = _read_enum_members(reader, definition.module, definition.class_)
        if members is not None and node.attr in members:
            return members[node.attr]
    raise UnknownTypeError(f"`{format_expression(node)}` is not a literal")


def _read_enum_members(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef
) -> dict[str, Any] | None:
    """Return the values of an enumeration by name; None for another class."""
    bases = [reader.resolve_type(module, base) for base in node.bases]
    enum_bases = [base for base in bases if isinstance(base, str) and base in _ENUMS]
    if not enum_bases:
        return None
    if not all(base in _ENUMS | _ENUM_MIXINS for base in bases) or node.keywords:
        raise UnknownTypeError(f"`{node.name}` has base classes that are not supported")
    members: dict[str, Any] = {}
    for statement in node.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            name = target.id if isinstance(target, ast.Name) else "_"
            if name.startswith("_"):
                raise UnknownTypeError(
                    f"the values of `{node.name}` are only known at run time"
                )
            value = statement.value
            called = value.func if isinstance(value, ast.Call) else None
            if (
                called is not None
                and reader.resolve_type(module, called) == "enum.auto"
            ):
                is_str_enum = enum_bases[0] == "enum.StrEnum"
                if not is_str_enum and members and not _is_consecutive(members):
                    raise UnknownTypeError(
                        f"`{node.name}.{name}` is only known at run time"
                    )
                members[name] = name.lower() if is_str_enum else len(members) + 1
            else:
                members[name] = evaluate_literal(value)
            if not isinstance(members[name], str | int):
                raise UnknownTypeError(
                    f"`{node.name}.{name}` is not a string or an integer"
                )
    if not members:
        raise UnknownTypeError(f"`{node.name}` has no members")
    return members


def _is_consecutive(members: dict[str, Any]) -> bool:
    """Return whether the values are 1, 2, 3 and so on, which `auto()` continues."""
    return list(members.values()) == list(range(1, len(members) + 1))


def _read_object(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> JsonType:
    kind, fields = _collect_fields(reader, module, node, depth)
    descriptions = parse_docstring(ast.get_docstring(node), fields).parameters
    properties: dict[str, Any] = {}
    required: list[str] = []
    needs_python_values = False
    fit = Fit.NARROW if kind == "TypedDict" else Fit.CONVERTED
    for name, field in fields.items():
        json_type = reader.read(field.module, field.annotation, depth)
        schema = dict(json_type.schema)
        if _check_required(reader, field, schema):
            required.append(name)
        if descriptions.get(name):
            schema.setdefault("description", descriptions[name])
        properties[name] = schema
        needs_python_values = needs_python_values or json_type.needs_python_values
        fit = max(fit, json_type.fit)
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return JsonType(schema, fit, needs_python_values, is_class=True)


def read_typed_dict_fields(
    names: ModuleNames, definition: Definition
) -> Mapping[str, DictField] | None:
    """Return the keys of a TypedDict; None for another class, or if the keys are unknown."""
    reader = TypeReader(names, read_class)
    try:
        if definition.class_ is None:
            return None
        kind, fields = _collect_fields(reader, definition.module, definition.class_, 0)
        if kind != "TypedDict":
            return None
        return {
            name: DictField(
                field.module, field.annotation, _check_required(reader, field, {})
            )
            for name, field in fields.items()
        }
    except UnknownTypeError:
        return None


def read_class_fields(
    names: ModuleNames, module: PythonModule, node: ast.ClassDef
) -> Mapping[str, ClassField] | None:
    """Return the fields of a class by name; None if the source does not show all of them."""
    class_fields: dict[str, ClassField] = {}
    try:
        reader = TypeReader(names, read_class)
        # With the setting `extra`, a model can accept fields that it does not declare.
        settings = _HARMLESS_SETTINGS - {"extra"}
        _, fields = _collect_fields(reader, module, node, 0, settings)
        for name, field in fields.items():
            is_required = _check_required(reader, field, {})
            try:
                json_type = TypeReader(names, read_class).read(
                    field.module, field.annotation
                )
            except UnknownTypeError:
                annotation = read_annotation(names, field.module, field.annotation)
                if annotation.meaning == "typing.Annotated":
                    # The metadata can be an alias or a validator.
                    raise
                json_type = JsonType({}, Fit.CONVERTED)
            # pydantic may convert values of several JSON types to such a field.
            is_converted = (
                json_type.fit is Fit.CONVERTED or json_type.needs_python_values
            )
            kind = None if is_converted else json_type.schema.get("type")
            kind = kind if isinstance(kind, str) else None
            class_fields[name] = ClassField(is_required, kind, json_type.is_iterable)
    except UnknownTypeError:
        return None
    return class_fields


def _collect_fields(
    reader: TypeReader,
    module: PythonModule,
    node: ast.ClassDef,
    depth: int,
    harmless_settings: Set[str] = _HARMLESS_SETTINGS,
) -> tuple[str, dict[str, _Field]]:
    """Return the kind of a class, such as `TypedDict`, and its own and inherited fields."""
    reader.count_visit(depth)
    fields: dict[str, _Field] = {}
    kinds: set[str] = set()
    for decorator in node.decorator_list:
        factory = decorator.func if isinstance(decorator, ast.Call) else decorator
        # Other decorators could change the fields.
        if reader.resolve_type(module, factory) not in _DATACLASSES:
            raise UnknownTypeError(
                f"`{node.name}` is decorated with `{format_expression(factory)}`"
            )
        kinds.add("dataclass")
    for base in node.bases:
        resolved = reader.resolve_type(module, base)
        if isinstance(resolved, Definition) and resolved.class_ is not None:
            kind, inherited = _collect_fields(
                reader, resolved.module, resolved.class_, depth + 1, harmless_settings
            )
            kinds.add(kind)
            fields.update(inherited)
        elif resolved in _BASES:
            kinds.add(str(resolved).rpartition(".")[2])
            if resolved == "typing.TypedDict":
                reader.typed_dicts.append(node.name)
        else:
            raise UnknownTypeError(
                f"`{node.name}` inherits from `{format_expression(base)}`"
            )
    if len(kinds) != 1:
        raise UnknownTypeError(
            f"`{node.name}` is not a dataclass, TypedDict or pydantic model"
        )
    kind = kinds.pop()
    is_total = True
    for keyword in node.keywords:
        if kind != "TypedDict" or keyword.arg != "total":
            raise UnknownTypeError(f"`{node.name}` has the setting `{keyword.arg}`")
        is_total = evaluate_literal(keyword.value) is not False
    for name, statement in _list_annotated_names(node):
        annotation = read_annotation(reader.names, module, statement.annotation)
        if annotation.meaning == "dataclasses.InitVar":
            raise UnknownTypeError(f"`{node.name}.{name}` is an `InitVar`")
        is_private = kind == "BaseModel" and name.startswith("_")
        is_not_field = annotation.meaning in ("typing.ClassVar", "dataclasses.KW_ONLY")
        if is_not_field or is_private:
            continue
        fields[name] = _Field(module, statement.annotation, statement.value, is_total)
    _check_settings(node, harmless_settings)
    return kind, fields


def _list_annotated_names(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id != "model_config"
        ):
            yield statement.target.id, statement


def _check_settings(node: ast.ClassDef, harmless_settings: Set[str]) -> None:
    """Raise if settings or methods of a class change how its fields are read.

    Raises:
        UnknownTypeError: the class has such a setting, method or nested class.
    """
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            raise UnknownTypeError(
                f"`{node.name}` has the nested class `{statement.name}`"
            )
        if isinstance(statement, ast.FunctionDef) and statement.name in (
            "__init__",
            "__get_pydantic_core_schema__",
        ):
            raise UnknownTypeError(f"`{node.name}` has its own `{statement.name}`")
        value = getattr(statement, "value", None)
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if "model_config" not in names:
            continue
        # Only a call such as `ConfigDict(frozen=True)` shows the settings.
        settings: list[str | None] = [None]
        if isinstance(value, ast.Call) and not value.args:
            settings = [keyword.arg for keyword in value.keywords]
        for setting in settings:
            if setting not in harmless_settings:
                raise UnknownTypeError(
                    f"`{node.name}` has the setting `{setting or 'model_config'}`"
                )


def _check_required(reader: TypeReader, field: _Field, schema: dict[str, Any]) -> bool:
    """Return whether a field is required, and add its default and `Field` to its schema."""
    has_default = field.value is not None
    if isinstance(field.value, ast.Call):
        called = reader.resolve_type(field.module, field.value.func)
        if called in _FIELD_FUNCTIONS:
            has_default = _read_field_call(reader, field.module, field.value, schema)
    elif field.value is not None:
        _add_default(field.value, schema)
    qualifier = read_annotation(reader.names, field.module, field.annotation).meaning
    if has_default or qualifier == "typing.NotRequired":
        return False
    return field.is_total or qualifier == "typing.Required"


def _read_field_call(
    reader: TypeReader, module: PythonModule, call: ast.Call, schema: dict[str, Any]
) -> bool:
    """Add a call of `field` or `Field` to a schema, and return whether it has a default."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    default = call.args[0] if call.args else keywords.get("default")
    if "init" in keywords:
        raise UnknownTypeError("a field with `init` may not be an argument")
    if reader.resolve_type(module, call.func) == "pydantic.Field":
        reader.apply_metadata(module, call, schema)
    # In pydantic, `...` as the default makes a field required.
    if isinstance(default, ast.Constant) and default.value is ...:
        return "default_factory" in keywords
    if default is not None:
        _add_default(default, schema)
    return default is not None or "default_factory" in keywords


def _add_default(node: ast.expr, schema: dict[str, Any]) -> None:
    """Add a default to a schema if it is a literal that is valid under the schema."""
    try:
        value = evaluate_literal(node)
    except UnknownTypeError:
        return
    if is_valid_value(schema, value):
        schema["default"] = value
