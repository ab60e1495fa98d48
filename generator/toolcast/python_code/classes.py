"""Enumerations, dataclasses, TypedDicts and pydantic models, as far as their text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .annotations import Fit, Json, TypeReader, Unknown, choice, is_of, literal_of
from .docstring import read_docstring
from .module_names import Definition
from .modules import PythonModule, last_name

__all__ = ["ClassField", "class_fields", "class_json", "enum_member"]


_ENUMS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum"))
_MIXED_IN = frozenset(["builtins.str", "builtins.int"])
_DATACLASSES = frozenset(["dataclasses.dataclass", "pydantic.dataclasses.dataclass"])
_FIELDS = frozenset(["dataclasses.field", "pydantic.Field"])
_BASES = frozenset(
    ["pydantic.BaseModel", "typing.TypedDict", "typing_extensions.TypedDict"]
)
# Settings of a model that change neither names nor what it takes.
_HARMLESS = frozenset(["frozen", "extra", "title", "use_attribute_docstrings"])


class _Field(NamedTuple):
    module: PythonModule
    annotation: ast.expr
    value: ast.expr | None
    is_total: bool = True


def class_json(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> Json:
    """The values of an enumeration, or an object with the fields of another class.

    Raises:
        Unknown: its text does not say them.
    """
    values = _members(reader, module, node)
    if values is not None:
        return Json(choice(list(values.values())), Fit.MADE)
    return _class_schema(reader, module, node, depth)


def enum_member(reader: TypeReader, module: PythonModule, node: ast.Attribute) -> Any:
    """The value of `Class.MEMBER`.

    Raises:
        Unknown: it is none of the project's enumerations.
    """
    found = reader.meaning(module, node.value)
    if isinstance(found, Definition) and found.class_ is not None:
        values = _members(reader, found.scope, found.class_)
        if values is not None and node.attr in values:
            return values[node.attr]
    raise Unknown(f"`{ast.unparse(node)[:60]}` is no literal")


def _members(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef
) -> dict[str, Any] | None:
    bases = [reader.meaning(module, base) for base in node.bases]
    kinds = [base for base in bases if isinstance(base, str) and base in _ENUMS]
    if not kinds:
        return None
    if not all(base in _ENUMS | _MIXED_IN for base in bases) or node.keywords:
        raise Unknown(f"`{node.name}` inherits more than an enumeration")
    found: dict[str, Any] = {}
    for statement in node.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            name = target.id if isinstance(target, ast.Name) else "_"
            if name.startswith("_"):
                raise Unknown(f"`{node.name}` makes its values when it runs")
            value = statement.value
            called = value.func if isinstance(value, ast.Call) else None
            if called is not None and reader.meaning(module, called) == "enum.auto":
                of_texts = kinds[0] == "enum.StrEnum"
                if not of_texts and found and not _are_counted(found):
                    raise Unknown(f"`{node.name}.{name}` is made when it runs")
                found[name] = name.lower() if of_texts else len(found) + 1
            else:
                found[name] = literal_of(value)
            if not isinstance(found[name], str | int):
                raise Unknown(f"`{node.name}.{name}` is neither a text nor a number")
    if not found:
        raise Unknown(f"`{node.name}` has no members")
    return found


def _are_counted(found: dict[str, Any]) -> bool:
    return list(found.values()) == list(range(1, len(found) + 1))


def _class_schema(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> Json:
    kind, fields = _fields(reader, module, node, depth)
    said = read_docstring(ast.get_docstring(node), fields).parameters
    properties: dict[str, Any] = {}
    required: list[str] = []
    is_value = False
    for name, field in fields.items():
        read = reader.read(field.module, field.annotation, depth)
        schema, has_default = dict(read.schema), field.value is not None
        if isinstance(field.value, ast.Call):
            called = reader.meaning(field.module, field.value.func)
            if called in _FIELDS:
                has_default = _of_call(reader, field.module, field.value, schema)
        elif field.value is not None:
            _add_default(field.value, schema)
        if said.get(name):
            schema.setdefault("description", said[name])
        properties[name] = schema
        is_value = is_value or read.is_value
        if not has_default and _is_needed(reader, field):
            required.append(name)
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    fit = Fit.NARROW if kind == "TypedDict" else Fit.MADE
    made = [reader.read(f.module, f.annotation, depth).fit for f in fields.values()]
    return Json(schema, max([fit, *made]), is_value, is_class=True)


def _fields(
    reader: TypeReader, module: PythonModule, node: ast.ClassDef, depth: int
) -> tuple[str, dict[str, _Field]]:
    """What kind of class it is, and its fields with those that it inherits."""
    fields: dict[str, _Field] = {}
    kinds: set[str] = set()
    if depth > 20:
        raise Unknown(f"`{node.name}` inherits from too many classes")
    for decorator in node.decorator_list:
        made_by = decorator.func if isinstance(decorator, ast.Call) else decorator
        if reader.meaning(module, made_by) not in _DATACLASSES:
            raise Unknown(
                f"`{node.name}` is decorated with `{ast.unparse(made_by)[:40]}`"
            )
        kinds.add("dataclass")
    for base in node.bases:
        found = reader.meaning(module, base)
        if isinstance(found, Definition) and found.class_ is not None:
            kind, inherited = _fields(reader, found.scope, found.class_, depth + 1)
            kinds.add(kind)
            fields.update(inherited)
        elif found in _BASES:
            kinds.add(str(found).rpartition(".")[2])
            if found == "typing.TypedDict":
                reader.typed_dicts.append(node.name)
        else:
            raise Unknown(f"`{node.name}` inherits from `{ast.unparse(base)[:40]}`")
    if len(kinds) != 1:
        raise Unknown(f"`{node.name}` is no dataclass, TypedDict or pydantic model")
    kind = kinds.pop()
    is_total = True
    for keyword in node.keywords:
        if kind != "TypedDict" or keyword.arg != "total":
            raise Unknown(f"`{node.name}` has the setting `{keyword.arg}`")
        is_total = literal_of(keyword.value) is not False
    for name, statement in _annotated(node):
        outer = statement.annotation
        outer = outer.value if isinstance(outer, ast.Subscript) else outer
        marked = reader.meaning(module, outer)
        if marked == "dataclasses.InitVar":
            raise Unknown(f"`{node.name}.{name}` is an `InitVar`")
        is_private = kind == "BaseModel" and name.startswith("_")
        if marked in ("typing.ClassVar", "dataclasses.KW_ONLY") or is_private:
            continue
        fields[name] = _Field(module, statement.annotation, statement.value, is_total)
    _refuse_settings(node)
    return kind, fields


def _annotated(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id != "model_config"
        ):
            yield statement.target.id, statement


def _refuse_settings(node: ast.ClassDef) -> None:
    """Refuses a class whose settings or methods say more than its fields."""
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            raise Unknown(f"`{node.name}` has the class `{statement.name}` in it")
        if isinstance(statement, ast.FunctionDef) and statement.name in (
            "__init__",
            "__get_pydantic_core_schema__",
        ):
            raise Unknown(f"`{node.name}` has its own `{statement.name}`")
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
            if word not in _HARMLESS:
                raise Unknown(
                    f"`{node.name}` has the setting `{word or 'model_config'}`"
                )


def _of_call(
    reader: TypeReader, module: PythonModule, call: ast.Call, schema: dict[str, Any]
) -> bool:
    """Reads `field(...)` or `Field(...)`; whether the field has a default."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    default = call.args[0] if call.args else words.get("default")
    if "init" in words:
        raise Unknown("a field with `init` is no argument")
    if reader.meaning(module, call.func) == "pydantic.Field":
        reader.annotate(module, call, schema)
    if isinstance(default, ast.Constant) and default.value is ...:
        return "default_factory" in words
    if default is not None:
        _add_default(default, schema)
    return default is not None or "default_factory" in words


def _add_default(node: ast.expr, schema: dict[str, Any]) -> None:
    try:
        value = literal_of(node)
    except Unknown:
        return
    if is_of(schema, value):
        schema["default"] = value


def _is_needed(reader: TypeReader, field: _Field) -> bool:
    node = field.annotation
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return True
    outer = node.value if isinstance(node, ast.Subscript) else node
    marked = reader.meaning(field.module, outer)
    if marked == "typing.NotRequired":
        return False
    return field.is_total or marked == "typing.Required"


_PLAIN_BASES = frozenset(["BaseModel", "TypedDict"])
_KINDS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "Mapping": "object",
    "list": "array",
    "Sequence": "array",
}
_NOT_FIELDS = frozenset(["ClassVar", "InitVar"])
_DEFAULTS = frozenset(["default", "default_factory"])


class ClassField(NamedTuple):
    """A field.

    Attributes:
        is_required: a value needs it.
        kind: its JSON type; None where the annotation does not say it.
    """

    is_required: bool
    kind: str | None


def class_fields(node: ast.ClassDef) -> Mapping[str, ClassField] | None:
    """The fields by their names; None where something else has a say in them."""
    bases = [last_name(base) for base in node.bases]
    makers = [
        last_name(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list
    ]
    is_dataclass = makers == ["dataclass"] and not bases
    is_model = len(bases) == 1 and bases[0] in _PLAIN_BASES and not makers
    if node.keywords or not (is_dataclass or is_model):
        return None
    found: dict[str, ClassField] = {}
    for statement in node.body:
        if isinstance(statement, (ast.Assign, ast.ClassDef)):
            return None  # its configuration may rename fields, or let others in
        if isinstance(statement, ast.AnnAssign):
            if not isinstance(statement.target, ast.Name):
                return None
            name = statement.target.id
            outer = _outer(statement.annotation)
            if outer in _NOT_FIELDS or name.startswith("_"):
                continue
            if name == "model_config" or outer == "Annotated":
                return None
            needed = _is_required(statement.value)
            if needed is None:
                return None
            kind = _KINDS.get(outer or "")
            found[name] = ClassField(needed and outer != "NotRequired", kind)
    return found


def _outer(annotation: ast.expr) -> str | None:
    if isinstance(annotation, ast.Subscript):
        return last_name(annotation.value)
    return last_name(annotation)


def _is_required(value: ast.expr | None) -> bool | None:
    """Whether a field has no default; None where a function makes more of it."""
    if value is None:
        return True
    if not isinstance(value, ast.Call):
        return False
    if last_name(value.func) not in ("Field", "field"):
        return False
    words = {keyword.arg for keyword in value.keywords}
    if value.args or not words <= _DEFAULTS | {
        "description",
        "title",
        "examples",
        "repr",
    }:
        return None
    return words.isdisjoint(_DEFAULTS)
