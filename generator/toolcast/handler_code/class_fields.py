"""The fields of a dataclass, pydantic model or TypedDict, where its text alone tells them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from .python_module import last_name

__all__ = ["ClassField", "class_fields"]

_BASES = frozenset(["BaseModel", "TypedDict"])
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
    is_model = len(bases) == 1 and bases[0] in _BASES and not makers
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
