"""JSON types and fields of enumerations, dataclasses, TypedDicts and pydantic models."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

from .annotated_names import read_annotation
from .annotations import Fit, JsonType, TypeReader
from .docstring import get_docstring, parse_docstring
from .literals import (
    UnknownTypeError,
    build_enum_schema,
    evaluate_literal,
    is_valid_value,
)
from .metadata import FieldSettings, apply_metadata, is_ellipsis
from .module_names import Definition, ModuleNames
from .modules import PythonModule, format_expression

_ENUMS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum"))
_ENUM_MIXINS = frozenset(["builtins.str", "builtins.int"])
_DATACLASSES = frozenset(["dataclasses.dataclass", "pydantic.dataclasses.dataclass"])
_FIELD_FUNCTIONS = frozenset(["dataclasses.field", "pydantic.Field"])
_BASES = frozenset(
    [
        "pydantic.BaseModel",
        "typing.NamedTuple",
        "typing.TypedDict",
        "typing_extensions.TypedDict",
    ]
)
# Settings of a pydantic model that change neither the names nor the types of its fields.
_HARMLESS_SETTINGS = frozenset(["frozen", "title", "use_attribute_docstrings"])
# Settings of a pydantic model that this module reads, or that only change how pydantic
# converts values.
_KNOWN_SETTINGS = _HARMLESS_SETTINGS.union("""
    extra alias_generator populate_by_name validate_by_name arbitrary_types_allowed
    from_attributes protected_namespaces revalidate_instances str_strip_whitespace
    use_enum_values validate_assignment validate_default
    """.split())
_ADDITIONAL_PROPERTIES = {"allow": True, "forbid": False}
"""The keyword's value for a value of the setting `extra`; `ignore` sets no keyword."""


class ClassField(NamedTuple):
    """A field of a class, as far as it matters for checking values.

    Attributes:
        is_required: whether a value needs the field.
        kind: the JSON Schema type of its values; None if the type is unknown, or
            several are.
        is_iterable: whether it is an `Iterable`, which also accepts strings and
            objects.
    """

    is_required: bool
    kind: str | None
    is_iterable: bool


class DictField(NamedTuple):
    """A key of a TypedDict.

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
    variables: Mapping[Any, Any] = {}
    alias_generator: str = ""


def read_class(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> JsonType:
    """Return the JSON type of a class: an enumeration, or an object with its fields.

    A NamedTuple is an array.

    Raises:
        UnknownTypeError: the source does not show the values or fields.
    """
    members = _read_enum_members(reader, module, node)
    if members is not None:
        # Callers send the value of a member, but the function expects the member: it
        # needs a conversion.
        schema = build_enum_schema(list(members.values()))
        return JsonType(_add_class_text(node, (), schema), Fit.CONVERTED)
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
    """Return the values of an enumeration by name; None for another class.

    Raises:
        UnknownTypeError: the enumeration has unsupported bases, no members, or values
            that are only known at run time.
    """
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
                # `auto()` continues after the highest value, which is only computed
                # here for 1, 2, 3 and so on.
                if not is_str_enum and members and not _is_consecutive(members):
                    raise UnknownTypeError(
                        f"`{node.name}.{name}` is only known at run time"
                    )
                # The `auto()` of a StrEnum is the lower-case name; other enumerations
                # count from 1.
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
    """Return whether the values are 1, 2, 3 and so on, as `auto()` assigns them."""
    return list(members.values()) == list(range(1, len(members) + 1))


def _read_object(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> JsonType:
    kind, fields, settings = _collect_fields(reader, module, node, depth)
    descriptions = parse_docstring(get_docstring(node), fields).parameters
    properties: dict[str, Any] = {}
    required: list[str] = []
    needs_python_values = False
    fit = Fit.NARROW if kind == "TypedDict" else Fit.CONVERTED
    for name, field in fields.items():
        value = _read_field(reader, field, depth)
        json_type, schema = value.json_type, value.schema
        alias = value.settings.alias
        if not alias and field.alias_generator:
            alias = _ALIAS_GENERATORS[field.alias_generator](name)
        name_sent = alias or name
        if value.is_required:
            required.append(name_sent)
        if descriptions.get(name) and not value.settings.is_described:
            schema["description"] = descriptions[name]
        properties[name_sent] = schema
        needs_python_values = needs_python_values or json_type.needs_python_values
        fit = max(fit, json_type.fit)
    if kind == "NamedTuple":
        items = list(properties.values())
        sizes = {"minItems": len(required), "maxItems": len(items)}
        schema = {"type": "array", "prefixItems": items, **sizes}
        return JsonType(schema, fit, needs_python_values)
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if settings.get("extra") in _ADDITIONAL_PROPERTIES:
        schema["additionalProperties"] = _ADDITIONAL_PROPERTIES[settings["extra"]]
    schema = _add_class_text(node, fields, schema)
    return JsonType(schema, fit, needs_python_values, is_class=True)


def _add_class_text(
    node: ast.ClassDef, fields: Iterable[str], schema: dict[str, Any]
) -> dict[str, Any]:
    """Return a schema whose description is that of the class's docstring, if any."""
    text = parse_docstring(get_docstring(node), [*fields]).text
    return {**schema, "description": text} if text else schema


def _to_pascal(name: str) -> str:
    return re.sub("([0-9A-Za-z])_(?=[0-9A-Z])", r"\1", name.title())


def _to_camel(name: str) -> str:
    if re.match("^[a-z]+[A-Za-z0-9]*$", name) and not re.search(r"\d[a-z]+", name):
        return name
    return re.sub("^_*[A-Z]", lambda match: match[0].lower(), _to_pascal(name))


# These functions repeat `pydantic.alias_generators` of pydantic 2.14, which is not
# imported.
_ALIAS_GENERATORS: Mapping[str, Callable[[str], str]] = {
    "pydantic.alias_generators.to_camel": _to_camel,
    "pydantic.alias_generators.to_pascal": _to_pascal,
}


def read_typed_dict_fields(
    names: ModuleNames, definition: Definition
) -> Mapping[str, DictField] | None:
    """Return the fields of a TypedDict by key, with inherited ones.

    None for another class, and if the source does not show all keys.
    """
    reader = TypeReader(names, read_class)
    try:
        if definition.class_ is None:
            return None
        kind, fields, _ = _collect_fields(
            reader, definition.module, definition.class_, 0
        )
        if kind != "TypedDict":
            return None
        return {
            name: DictField(
                field.module,
                field.annotation,
                _check_required(reader, field, field.value is not None),
            )
            for name, field in fields.items()
        }
    except UnknownTypeError:
        return None


def read_class_fields(
    names: ModuleNames, module: PythonModule, node: ast.ClassDef
) -> Mapping[str, ClassField] | None:
    """Return the fields of a class by name; None if the source does not show all.

    A field with an alias is returned by its alias. None also for a NamedTuple, whose
    values are arrays.
    """
    class_fields: dict[str, ClassField] = {}
    try:
        reader = TypeReader(names, read_class)
        # Other settings are refused here: with them, a model can accept fields that it
        # does not declare.
        kind, fields, _ = _collect_fields(reader, module, node, 0, _HARMLESS_SETTINGS)
        if kind == "NamedTuple":
            return None
        for name, field in fields.items():
            alias = ""
            try:
                value = _read_field(TypeReader(names, read_class), field, 0)
                json_type, is_required = value.json_type, value.is_required
                alias = value.settings.alias
            except UnknownTypeError:
                is_required = _read_value(reader, field, JsonType({})).is_required
                annotation = read_annotation(names, field.module, field.annotation)
                # Unknown metadata can be an alias or a validator, which changes the
                # name or the accepted values.
                if annotation.meaning == "typing.Annotated":
                    # The metadata can be an alias or a validator.
                    raise
                json_type = JsonType({}, Fit.CONVERTED)
            # pydantic converts values of several JSON types to such a field, so it has
            # no single type.
            is_converted = (
                json_type.fit is Fit.CONVERTED or json_type.needs_python_values
            )
            json_kind = None if is_converted else json_type.schema.get("type")
            json_kind = json_kind if isinstance(json_kind, str) else None
            class_fields[alias or name] = ClassField(
                is_required, json_kind, json_type.is_iterable
            )
    except UnknownTypeError:
        return None
    return class_fields


def _collect_fields(
    reader: TypeReader,
    module: PythonModule,
    node: ast.ClassDef,
    depth: int,
    known_settings: Set[str] = _KNOWN_SETTINGS,
) -> tuple[str, dict[str, _Field], dict[str, Any]]:
    """Return the kind of a class, such as `TypedDict`, its fields and its settings.

    Inherited fields and settings are included.

    Raises:
        UnknownTypeError: a base class, decorator or setting is unknown, or the class is
            not of exactly one kind.
    """
    reader.count_visit(depth)
    fields: dict[str, _Field] = {}
    settings: dict[str, Any] = {}
    kinds: set[str] = set()
    for decorator in node.decorator_list:
        factory = decorator.func if isinstance(decorator, ast.Call) else decorator
        # Another decorator could change the fields.
        if reader.resolve_type(module, factory) not in _DATACLASSES:
            raise UnknownTypeError(
                f"`{node.name}` is decorated with `{format_expression(factory)}`"
            )
        kinds.add("dataclass")
    for base in node.bases:
        resolved, arguments, _ = read_annotation(reader.names, module, base)
        if isinstance(resolved, Definition) and resolved.class_ is not None:
            with reader.bind_arguments(module, resolved, arguments):
                kind, inherited, inherited_settings = _collect_fields(
                    reader, resolved.module, resolved.class_, depth + 1, known_settings
                )
            kinds.add(kind)
            fields.update(inherited)
            settings.update(inherited_settings)
        elif resolved == "typing.Generic":
            continue
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
    own_settings = _list_settings(node)
    for keyword in node.keywords:
        if kind == "TypedDict" and keyword.arg == "total":
            is_total = evaluate_literal(keyword.value) is not False
        else:
            own_settings[keyword.arg or "**"] = keyword.value
    for setting, value in own_settings.items():
        if setting not in known_settings:
            raise UnknownTypeError(f"`{node.name}` has the setting `{setting}`")
        if setting == "alias_generator":
            settings[setting] = reader.resolve_type(module, value)
            if settings[setting] not in _ALIAS_GENERATORS:
                raise UnknownTypeError(f"`{node.name}` has an unknown alias generator")
        elif setting == "extra":
            settings[setting] = evaluate_literal(value)
    for name, statement in _list_annotated_names(node):
        annotation = read_annotation(reader.names, module, statement.annotation)
        if annotation.meaning == "dataclasses.InitVar":
            raise UnknownTypeError(f"`{node.name}.{name}` is an `InitVar`")
        # pydantic treats names with a leading underscore as private attributes, not as
        # fields.
        is_private = kind == "BaseModel" and name.startswith("_")
        is_not_field = annotation.meaning in ("typing.ClassVar", "dataclasses.KW_ONLY")
        if is_not_field or is_private:
            continue
        fields[name] = _Field(
            module,
            statement.annotation,
            statement.value,
            is_total,
            reader.variables,
            settings.get("alias_generator", ""),
        )
    return kind, fields, settings


def _list_annotated_names(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id != "model_config"
        ):
            yield statement.target.id, statement


def _list_settings(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the expressions of a class's settings, from `model_config` or `Config`.

    Raises:
        UnknownTypeError: the settings, or methods that replace pydantic's, are only
            known at run time.
    """
    settings: dict[str, ast.expr] = {}
    for statement in node.body:
        if isinstance(statement, ast.ClassDef) and statement.name != "Config":
            raise UnknownTypeError(
                f"`{node.name}` has the nested class `{statement.name}`"
            )
        if isinstance(statement, ast.FunctionDef) and statement.name in (
            "__init__",
            "__get_pydantic_core_schema__",
        ):
            raise UnknownTypeError(f"`{node.name}` has its own `{statement.name}`")
        if isinstance(statement, ast.ClassDef):
            settings |= _list_assigned_values(statement)
    value = _list_assigned_values(node).get("model_config")
    if isinstance(value, ast.Call) and not value.args:
        settings |= {keyword.arg or "**": keyword.value for keyword in value.keywords}
    elif isinstance(value, ast.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            settings[str(evaluate_literal(key)) if key else "**"] = item
    elif value is not None:
        raise UnknownTypeError(f"`{node.name}` has the setting `model_config`")
    return settings


def _list_assigned_values(node: ast.ClassDef) -> dict[str, ast.expr]:
    values: dict[str, ast.expr] = {}
    for statement in node.body:
        value = getattr(statement, "value", None)
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                values[target.id] = value
    return values


class FieldValue(NamedTuple):
    """The type and the value of a parameter or field.

    Attributes:
        json_type: the type of the annotation.
        schema: the schema, with the metadata of the value.
        settings: the default and alias.
        is_required: whether callers must send the parameter or field.
    """

    json_type: JsonType
    schema: dict[str, Any]
    settings: FieldSettings
    is_required: bool


def read_value(
    reader: TypeReader,
    module: PythonModule,
    json_type: JsonType,
    value: ast.expr | None,
) -> FieldValue:
    """Return the type and settings of a parameter or field.

    Args:
        reader: reads types.
        module: the module of the value.
        json_type: the type of the annotation.
        value: the default, which can be a call of `Field`; None without a default.

    Raises:
        UnknownTypeError: the default calls `Field` with unknown arguments.
    """
    schema, settings = dict(json_type.schema), json_type.settings
    called = value.func if isinstance(value, ast.Call) else None
    function = called and reader.resolve_type(module, called)
    if isinstance(value, ast.Call) and function in _FIELD_FUNCTIONS:
        if any(keyword.arg == "init" for keyword in value.keywords):
            raise UnknownTypeError("a field with `init` may not be an argument")
        # `dataclasses.field` has the same arguments for defaults as pydantic's `Field`.
        settings = apply_metadata("pydantic.Field", value, schema, settings)
    elif value is not None and not is_ellipsis(value):
        settings = settings._replace(default=value, is_optional=True)
    return FieldValue(json_type, schema, settings, not settings.is_optional)


def _read_field(reader: TypeReader, field: _Field, depth: int) -> FieldValue:
    """Return a class field's type and settings, with the default in the schema."""
    outer, reader.variables = reader.variables, field.variables
    try:
        json_type = reader.read(field.module, field.annotation, depth)
    finally:
        reader.variables = outer
    return _read_value(reader, field, json_type)


def _read_value(reader: TypeReader, field: _Field, json_type: JsonType) -> FieldValue:
    value = read_value(reader, field.module, json_type, field.value)
    default = value.settings.default
    if default is not None:
        try:
            literal = evaluate_default(reader, field.module, default)
            if is_valid_value(reader.add_definitions(value.schema), literal):
                value.schema["default"] = literal
        except UnknownTypeError:
            pass
    is_required = _check_required(reader, field, value.settings.is_optional)
    return value._replace(is_required=is_required)


def _check_required(reader: TypeReader, field: _Field, has_default: bool) -> bool:
    qualifier = read_annotation(reader.names, field.module, field.annotation).meaning
    if has_default or qualifier == "typing.NotRequired":
        return False
    return field.is_total or qualifier == "typing.Required"


def evaluate_default(reader: TypeReader, module: PythonModule, node: ast.expr) -> Any:
    """Return the JSON value of a default: a literal or an enumeration's member.

    Raises:
        UnknownTypeError: the default is neither.
    """
    if isinstance(node, ast.Attribute):
        return evaluate_enum_member(reader, module, node)
    return evaluate_literal(node)
