"""The JSON Schema of an annotation, as far as its text tells."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from ..json_schema.graph import JsonSchema
from ..json_schema.values import ValueChecker
from ..suggestions import quoted_list
from .annotation_names import Names, Place

__all__ = ["Fit", "Json", "TypeReader", "Unknown", "choice", "is_of", "literal_of"]


_MAX_DEPTH = 12
_MOST_PARTS = 500


class Fit(IntEnum):
    """How a function with an annotation can be given what a caller sends.

    `PLAIN`: as it is. `NARROW`: as it is, but a type checker would not have it, since lists
    and mappings are typed as `Sequence` and `Mapping`. `MADE`: pydantic has to make it.
    """

    PLAIN = 0
    NARROW = 1
    MADE = 2


class Json(NamedTuple):
    """What an annotation is in JSON.

    Attributes:
        schema: its JSON Schema.
        fit: how a function takes it.
        is_value: it needs `values: python`.
        is_class: it is a class of the project with its fields.
    """

    schema: dict[str, Any]
    fit: Fit = Fit.PLAIN
    is_value: bool = False
    is_class: bool = False


class Unknown(Exception):
    """An annotation of which the text does not say what it is in JSON; the text says why."""


def _number(kind: str, **limits: int) -> Json:
    return Json({"type": kind, **limits})


_NAMED = {
    "builtins.str": Json({"type": "string"}),
    "builtins.int": Json({"type": "integer"}),
    "builtins.float": Json({"type": "number"}),
    "builtins.bool": Json({"type": "boolean"}),
    "builtins.list": Json({"type": "array"}, Fit.NARROW),
    "builtins.dict": Json({"type": "object"}, Fit.NARROW),
    "builtins.tuple": Json({"type": "array"}, Fit.MADE),
    "builtins.set": Json({"type": "array", "uniqueItems": True}, Fit.MADE),
    "builtins.frozenset": Json({"type": "array", "uniqueItems": True}, Fit.MADE),
    "builtins.object": Json({}),
    "typing.Any": Json({}),
    "builtins.bytes": Json(
        {"type": "string", "contentEncoding": "base64"}, is_value=True
    ),
    "datetime.date": Json({"type": "string", "format": "date"}, is_value=True),
    "datetime.datetime": Json({"type": "string", "format": "date-time"}, is_value=True),
    "datetime.time": Json({"type": "string", "format": "time"}, is_value=True),
    "datetime.timedelta": Json({"type": "string", "format": "duration"}, is_value=True),
    "uuid.UUID": Json({"type": "string", "format": "uuid"}, is_value=True),
    "pathlib.Path": Json({"type": "string"}, Fit.MADE),
    "pathlib.PurePath": Json({"type": "string"}, Fit.MADE),
    "decimal.Decimal": Json({"type": "number"}, Fit.MADE),
    "pydantic.EmailStr": Json({"type": "string", "format": "email"}),
    "pydantic.HttpUrl": Json({"type": "string", "format": "uri"}, Fit.MADE),
    "pydantic.AnyUrl": Json({"type": "string", "format": "uri"}, Fit.MADE),
    "pydantic.AnyHttpUrl": Json({"type": "string", "format": "uri"}, Fit.MADE),
    "pydantic.PositiveInt": _number("integer", exclusiveMinimum=0),
    "pydantic.NonNegativeInt": _number("integer", minimum=0),
    "pydantic.PositiveFloat": _number("number", exclusiveMinimum=0),
    "pydantic.NonNegativeFloat": _number("number", minimum=0),
}
_SAME = {
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
_READ_ONLY = {
    "typing.Sequence": "builtins.list",
    "typing.Iterable": "builtins.list",
    "typing.Collection": "builtins.list",
    "typing.Mapping": "builtins.dict",
}
_WRAPPERS = frozenset(
    ["typing.Required", "typing.NotRequired", "typing.ReadOnly", "typing.Final"]
)
# What pydantic's Field and annotated_types call the keywords of JSON Schema.
_LIMITS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {"min_length": "min", "max_length": "max"}
_ANNOTATED = {
    "annotated_types.Ge": "ge",
    "annotated_types.Gt": "gt",
    "annotated_types.Le": "le",
    "annotated_types.Lt": "lt",
    "annotated_types.MultipleOf": "multiple_of",
    "annotated_types.MinLen": "min_length",
    "annotated_types.MaxLen": "max_length",
}
_UNSAID = frozenset(
    ["default", "default_factory", "examples", "repr", "title", "strict"]
)
_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    type(None): "null",
}


OfClass = Callable[["TypeReader", str, ast.ClassDef, int], Json]


class TypeReader:
    """Reads the annotations of one function.

    Args:
        names: what the names of the project's modules stand for.
        of_class: the JSON of a class of the project; `class_json`.

    Attributes:
        typed_dicts: the classes that are a `typing.TypedDict`.
    """

    def __init__(self, names: Names, of_class: OfClass) -> None:
        self.names = names
        self._of_class = of_class
        self.typed_dicts: list[str] = []
        self._parts = 0
        self._within: list[Place] = []

    def read(self, module: str, node: ast.expr, depth: int = 0) -> Json:
        """The JSON of an annotation that stands in a module.

        Raises:
            Unknown: the text does not tell.
        """
        self._parts += 1
        if depth > _MAX_DEPTH or self._parts > _MOST_PARTS:
            raise Unknown("it has too many parts")
        if isinstance(node, ast.Constant) and node.value is None:
            return Json({"type": "null"})
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.read(module, _parsed(node.value), depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = [node.left, node.right]
            return _union([self.read(module, one, depth + 1) for one in sides])
        subject = node.value if isinstance(node, ast.Subscript) else node
        found = self.names.of(module, subject)
        if isinstance(node, ast.Subscript) and isinstance(found, str):
            inner = node.slice
            parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
            return self._generic(module, found, parts, depth + 1)
        if isinstance(found, Place) and not isinstance(node, ast.Subscript):
            return self._own(found, depth + 1)
        if isinstance(found, str):
            read_only = _READ_ONLY.get(found)
            named = _NAMED.get(_SAME.get(found, read_only or found))
            if named is not None:
                return named._replace(fit=Fit.PLAIN) if read_only else named
        raise Unknown(f"`{_shown(node)}` is nothing that JSON has")

    def _own(self, place: Place, depth: int) -> Json:
        """A class of the project, or what it assigns to a name."""
        if place in self._within:
            raise Unknown("it refers to itself")
        self._within.append(place)
        try:
            node = place.node
            if isinstance(node, ast.ClassDef):
                return self._of_class(self, place.module, node, depth)
            if isinstance(node, ast.Call):
                called = self.names.of(place.module, node.func)
                if called != "typing.NewType" or len(node.args) != 2:
                    raise Unknown(f"`{_shown(node)}` is made when it runs")
                made = self.read(place.module, node.args[1], depth)
                return made._replace(fit=max(made.fit, Fit.NARROW))
            return self.read(place.module, node, depth)
        finally:
            self._within.pop()

    def _generic(
        self, module: str, name: str, parts: list[ast.expr], depth: int
    ) -> Json:
        base = _SAME.get(name, _READ_ONLY.get(name, name))
        if name == "typing.Literal":
            return Json(choice([literal_of(part) for part in parts]))
        if name == "typing.Annotated":
            made = self.read(module, parts[0], depth)
            schema = dict(made.schema)
            for part in parts[1:]:
                self.annotate(module, part, schema)
            return made._replace(schema=schema)
        if name in _WRAPPERS:
            return self.read(module, parts[0], depth)
        if base == "builtins.dict" and len(parts) == 2:
            if self.names.of(module, parts[0]) != "builtins.str":
                raise Unknown("the keys of a mapping are texts in JSON")
        elif base == "builtins.tuple" and not _is_ellipsis(parts[-1]):
            each = [self.read(module, part, depth) for part in parts]
            schema = {
                "type": "array",
                "prefixItems": [one.schema for one in each],
                "minItems": len(each),
                "maxItems": len(each),
            }
            return Json(schema, Fit.MADE, any(one.is_value for one in each))
        elif name not in ("typing.Optional", "typing.Union") and base not in _NAMED:
            raise Unknown(f"`{_shown(parts[0])}` of `{name}` is nothing that JSON has")
        each = [
            self.read(module, part, depth) for part in parts if not _is_ellipsis(part)
        ]
        if name == "typing.Optional":
            return _union([*each, Json({"type": "null"})])
        if name == "typing.Union":
            return _union(each)
        outer, item = _NAMED[base], each[-1]
        key = "additionalProperties" if base == "builtins.dict" else "items"
        fit = item.fit if name in _READ_ONLY else max(outer.fit, item.fit)
        schema = {**outer.schema, key: item.schema} if item.schema else outer.schema
        return Json(schema, fit, item.is_value)

    def annotate(self, module: str, part: ast.expr, schema: dict[str, Any]) -> None:
        """Adds what stands beside a type: a text, or the limits of a `Field`.

        Raises:
            Unknown: it says something that is not known here.
        """
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            schema["description"] = " ".join(part.value.split())
            return
        if not isinstance(part, ast.Call):
            raise Unknown(f"`{_shown(part)}` beside a type is not known")
        called = self.names.of(module, part.func)
        first = literal_of(part.args[0]) if part.args else None
        if called in ("typing.Doc", "annotated_doc.Doc") and isinstance(first, str):
            schema["description"] = " ".join(first.split())
        elif isinstance(called, str) and called in _ANNOTATED and part.args:
            _limit(schema, _ANNOTATED[called], first)
        elif called == "pydantic.Field":
            for keyword in part.keywords:
                word = keyword.arg or "**"
                if word == "description":
                    text = literal_of(keyword.value)
                    schema["description"] = " ".join(str(text).split())
                elif word not in _UNSAID:
                    _limit(schema, word, literal_of(keyword.value))
        else:
            raise Unknown(f"`{_shown(part)}` beside a type is not known")


def choice(values: list[Any]) -> dict[str, Any]:
    """The schema of one of these values."""
    kinds = list(dict.fromkeys(_KINDS[type(one)] for one in values))
    listed = [one for n, one in enumerate(values) if one not in values[:n]]
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": listed}


def literal_of(node: ast.expr) -> Any:
    """The JSON value that a literal is.

    Raises:
        Unknown: it is no literal, or JSON has no such value.
    """
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise Unknown(f"`{_shown(node)}` is no literal") from None
    if not _is_json(value):
        raise Unknown(f"JSON has no `{_shown(node)}`")
    return list(value) if isinstance(value, tuple) else value


def is_of(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a default is a value of its own schema."""
    return not ValueChecker(JsonSchema(dict(schema))).problem(value)


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_json(v) for k, v in value.items())
    return value is None or isinstance(value, str | int)


def _limit(schema: dict[str, Any], word: str, value: Any) -> None:
    if word in _LIMITS:
        schema[_LIMITS[word]] = value
    elif word in _LENGTHS:
        of = {"array": "Items", "object": "Properties"}.get(schema.get("type", ""))
        schema[f"{_LENGTHS[word]}{of or 'Length'}"] = value
    elif word == "pattern" and isinstance(value, str):
        schema["pattern"] = value
    else:
        raise Unknown(f"`{word}` of a `Field` is not known")


def _union(members: list[Json]) -> Json:
    """One of several, in `type` alone where that says it."""
    fit = max(one.fit for one in members)
    is_value = any(one.is_value for one in members)
    schemas = [one.schema for one in members]
    if not all(schemas):
        return Json({}, fit, is_value)
    nulls = [one for one in schemas if one == {"type": "null"}]
    others = [one for one in schemas if one != {"type": "null"}]
    if len(others) == 1 and nulls and isinstance(others[0].get("type"), str | list):
        kinds = others[0]["type"]
        kinds = [*([kinds] if isinstance(kinds, str) else kinds), "null"]
        schema = {**others[0], "type": list(dict.fromkeys(kinds))}
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return Json(schema, fit, is_value)
    kinds = [one["type"] for one in schemas if list(one) == ["type"]]
    if len(kinds) == len(schemas) and all(isinstance(kind, str) for kind in kinds):
        return Json({"type": list(dict.fromkeys(kinds))}, fit, is_value)
    return Json({"anyOf": schemas}, fit, is_value)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unknown(f"{quoted_list([text[:60]])} is no annotation") from None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _shown(node: ast.expr) -> str:
    shown = " ".join(ast.unparse(node).split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
