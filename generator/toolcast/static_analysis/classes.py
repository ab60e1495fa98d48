"""Enumerations, dataclasses, TypedDicts and pydantic models, as far as their text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

from .annotations import (
    Fit,
    JsonType,
    TypeReader,
    UnknownTypeError,
    build_enum_schema,
    evaluate_literal,
    is_valid_value,
    read_annotation,
)
from .docstring import parse_docstring
from .module_names import Definition, ModuleNames
from .modules import PythonModule, format_expression

_ENUMS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum"))
_MIXED_IN = frozenset(["builtins.str", "builtins.int"])
_DATACLASSES = frozenset(["dataclasses.dataclass", "pydantic.dataclasses.dataclass"])
_FIELDS = frozenset(["dataclasses.field", "pydantic.Field"])
_BASES = frozenset(
    ["pydantic.BaseModel", "typing.TypedDict", "typing_extensions.TypedDict"]
)
# Settings of a model that change neither names nor what it takes.
_HARMLESS = frozenset(["frozen", "extra", "title", "use_attribute_docstrings"])


class ClassField(NamedTuple):
    """A field.

    Attributes:
        is_required: a value needs it.
        kind: its JSON type; None where the annotation does not say it.
        is_lazy: an array of it may be a text or an object.
    """

    is_required: bool
    kind: str | None
    is_lazy: bool


class DictField(NamedTuple):
    """A member of a TypedDict.

    Attributes:
        module: the module in which its annotation stands.
        is_required: it is always there.
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
    """The values of an enumeration, or an object with the fields of another class.

    Raises:
        UnknownTypeError: its text does not say them.
    """
    values = _members(reader, module, node)
    if values is not None:
        return JsonType(build_enum_schema(list(values.values())), Fit.CONVERTED)
    return _class_schema(reader, module, node, depth)


def evaluate_enum_member(
    reader: TypeReader, module: PythonModule, node: ast.Attribute
) -> Any:
    """The value of `Class.MEMBER`.

    Raises:
        UnknownTypeError: it is none of the project's enumerations.
    """
    found = reader.meaning(module, node.value)
    if isinstance(found, Definition) and found.class_ is not None:
        values = _members(reader, found.scope, found.class_)
        if values is not None and node.attr in values:
            return values[node.attr]
    raise UnknownTypeError(f"`{format_expression(node)}` is no literal")


def _members(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef
) -> dict[str, Any] | None:
    bases = [reader.meaning(module, base) for base in node.bases]
    kinds = [base for base in bases if isinstance(base, str) and base in _ENUMS]
    if not kinds:
        return None
    if not all(base in _ENUMS | _MIXED_IN for base in bases) or node.keywords:
        raise UnknownTypeError(f"`{node.name}` inherits more than an enumeration")
    found: dict[str, Any] = {}
    for statement in node.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            name = target.id if isinstance(target, ast.Name) else "_"
            if name.startswith("_"):
                raise UnknownTypeError(f"`{node.name}` makes its values when it runs")
            value = statement.value
            called = value.func if isinstance(value, ast.Call) else None
            if called is not None and reader.meaning(module, called) == "enum.auto":
                of_texts = kinds[0] == "enum.StrEnum"
                if not of_texts and found and not _are_counted(found):
                    raise UnknownTypeError(f"`{node.name}.{name}` is made when it runs")
                found[name] = name.lower() if of_texts else len(found) + 1
            else:
                found[name] = evaluate_literal(value)
            if not isinstance(found[name], str | int):
                raise UnknownTypeError(
                    f"`{node.name}.{name}` is neither a text nor a number"
                )
    if not found:
        raise UnknownTypeError(f"`{node.name}` has no members")
    return found


def _are_counted(found: dict[str, Any]) -> bool:
    return list(found.values()) == list(range(1, len(found) + 1))


def _class_schema(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> JsonType:
    kind, fields = _fields(reader, module, node, depth)
    documented = parse_docstring(ast.get_docstring(node), fields).parameters
    properties: dict[str, Any] = {}
    required: list[str] = []
    is_value, fit = False, Fit.NARROW if kind == "TypedDict" else Fit.CONVERTED
    for name, field in fields.items():
        read = reader.read(field.module, field.annotation, depth)
        schema = dict(read.schema)
        if _is_required(reader, field, schema):
            required.append(name)
        if documented.get(name):
            schema.setdefault("description", documented[name])
        properties[name] = schema
        is_value, fit = is_value or read.needs_python_values, max(fit, read.fit)
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return JsonType(schema, fit, is_value, is_class=True)


def read_typed_dict_fields(
    names: ModuleNames, known: Definition
) -> Mapping[str, DictField] | None:
    """The members of a TypedDict; None for another class, or where its text does not tell."""
    reader = TypeReader(names, read_class)
    try:
        if known.class_ is None:
            return None
        kind, fields = _fields(reader, known.scope, known.class_, 0)
        if kind != "TypedDict":
            return None
        return {
            name: DictField(
                field.module, field.annotation, _is_required(reader, field, {})
            )
            for name, field in fields.items()
        }
    except UnknownTypeError:
        return None


def read_class_fields(
    names: ModuleNames, module: PythonModule, node: ast.ClassDef
) -> Mapping[str, ClassField] | None:
    """The fields of a class by their names; None where something else has a say in them."""
    found: dict[str, ClassField] = {}
    try:
        reader = TypeReader(names, read_class)
        # Settings may let others in.
        _, fields = _fields(reader, module, node, 0, _HARMLESS - {"extra"})
        for name, field in fields.items():
            is_required = _is_required(reader, field, {})
            try:
                read = TypeReader(names, read_class).read(
                    field.module, field.annotation
                )
            except UnknownTypeError:
                documented = read_annotation(names, field.module, field.annotation)
                if documented.meaning == "typing.Annotated":
                    raise  # It may have another name, or be made by a function.
                read = JsonType({}, Fit.CONVERTED)
            # What pydantic makes of other values may be made of several types.
            is_made = read.fit is Fit.CONVERTED or read.needs_python_values
            kind = None if is_made else read.schema.get("type")
            kind = kind if isinstance(kind, str) else None
            found[name] = ClassField(is_required, kind, read.is_lazy)
    except UnknownTypeError:
        return None
    return found


def _fields(
    reader: TypeReader,
    module: PythonModule,
    node: ast.ClassDef,
    depth: int,
    harmless: Set[str] = _HARMLESS,
) -> tuple[str, dict[str, _Field]]:
    """What kind of class it is, and its fields with those that it inherits."""
    reader.count_visit(depth)
    fields: dict[str, _Field] = {}
    kinds: set[str] = set()
    for decorator in node.decorator_list:
        made_by = decorator.func if isinstance(decorator, ast.Call) else decorator
        if reader.meaning(module, made_by) not in _DATACLASSES:
            raise UnknownTypeError(
                f"`{node.name}` is decorated with `{format_expression(made_by)}`"
            )
        kinds.add("dataclass")
    for base in node.bases:
        found = reader.meaning(module, base)
        if isinstance(found, Definition) and found.class_ is not None:
            kind, inherited = _fields(
                reader, found.scope, found.class_, depth + 1, harmless
            )
            kinds.add(kind)
            fields.update(inherited)
        elif found in _BASES:
            kinds.add(str(found).rpartition(".")[2])
            if found == "typing.TypedDict":
                reader.typed_dicts.append(node.name)
        else:
            raise UnknownTypeError(
                f"`{node.name}` inherits from `{format_expression(base)}`"
            )
    if len(kinds) != 1:
        raise UnknownTypeError(
            f"`{node.name}` is no dataclass, TypedDict or pydantic model"
        )
    kind = kinds.pop()
    is_total = True
    for keyword in node.keywords:
        if kind != "TypedDict" or keyword.arg != "total":
            raise UnknownTypeError(f"`{node.name}` has the setting `{keyword.arg}`")
        is_total = evaluate_literal(keyword.value) is not False
    for name, statement in _annotated(node):
        marked = read_annotation(reader.names, module, statement.annotation).meaning
        if marked == "dataclasses.InitVar":
            raise UnknownTypeError(f"`{node.name}.{name}` is an `InitVar`")
        is_private = kind == "BaseModel" and name.startswith("_")
        if marked in ("typing.ClassVar", "dataclasses.KW_ONLY") or is_private:
            continue
        fields[name] = _Field(module, statement.annotation, statement.value, is_total)
    _refuse_settings(node, harmless)
    return kind, fields


def _annotated(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id != "model_config"
        ):
            yield statement.target.id, statement


def _refuse_settings(node: ast.ClassDef, harmless: Set[str]) -> None:
    """Refuses a class whose settings or methods say more than its fields."""
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            raise UnknownTypeError(
                f"`{node.name}` has the class `{statement.name}` in it"
            )
        if isinstance(statement, ast.FunctionDef) and statement.name in (
            "__init__",
            "__get_pydantic_core_schema__",
        ):
            raise UnknownTypeError(f"`{node.name}` has its own `{statement.name}`")
        value = getattr(statement, "value", None)
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if "model_config" not in names:
            continue
        words = (
            [keyword.arg for keyword in value.keywords]
            if isinstance(value, ast.Call) and not value.args
            else [None]
        )
        for word in words:
            if word not in harmless:
                raise UnknownTypeError(
                    f"`{node.name}` has the setting `{word or 'model_config'}`"
                )


def _is_required(reader: TypeReader, field: _Field, schema: dict[str, Any]) -> bool:
    """Whether a value needs a field; what is said of it by its default goes to its schema."""
    has_default = field.value is not None
    if isinstance(field.value, ast.Call):
        if reader.meaning(field.module, field.value.func) in _FIELDS:
            has_default = _of_call(reader, field.module, field.value, schema)
    elif field.value is not None:
        _add_default(field.value, schema)
    marked = read_annotation(reader.names, field.module, field.annotation).meaning
    if has_default or marked == "typing.NotRequired":
        return False
    return field.is_total or marked == "typing.Required"


def _of_call(
    reader: TypeReader, module: PythonModule, call: ast.Call, schema: dict[str, Any]
) -> bool:
    """Reads `field(...)` or `Field(...)`; whether the field has a default."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    default = call.args[0] if call.args else words.get("default")
    if "init" in words:
        raise UnknownTypeError("a field with `init` is no argument")
    if reader.meaning(module, call.func) == "pydantic.Field":
        reader.annotate(module, call, schema)
    if isinstance(default, ast.Constant) and default.value is ...:
        return "default_factory" in words
    if default is not None:
        _add_default(default, schema)
    return default is not None or "default_factory" in words


def _add_default(node: ast.expr, schema: dict[str, Any]) -> None:
    try:
        value = evaluate_literal(node)
    except UnknownTypeError:
        return
    if is_valid_value(schema, value):
        schema["default"] = value
