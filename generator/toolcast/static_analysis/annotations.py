"""The JSON Schema of an annotation, as far as its text tells."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ..json_schema.graph import JsonSchema
from ..json_schema.schema_errors import ValueChecker
from ..suggestions import format_quoted_list
from .module_names import Definition, ModuleNames
from .modules import PythonModule, format_expression

_MAX_DEPTH = 12
_MAX_PARTS = 500
"""Parts of one type annotation."""


class Fit(IntEnum):
    """How a function with an annotation can be given what a caller sends.

    `PLAIN`: as it is. `NARROW`: as it is, but a type checker would not have it, since lists
    and mappings are typed as `Sequence` and `Mapping`. `MADE`: pydantic has to make it.
    """

    PLAIN = 0
    NARROW = 1
    CONVERTED = 2


class JsonType(NamedTuple):
    """What an annotation is in JSON.

    Attributes:
        schema: its JSON Schema.
        fit: how a function takes it.
        is_value: it needs `values: python`.
        is_class: it is a class of the project with its fields.
        is_lazy: it is whatever can be iterated, as texts and mappings can be, too.
    """

    schema: dict[str, Any]
    fit: Fit = Fit.PLAIN
    needs_python_values: bool = False
    is_class: bool = False
    is_lazy: bool = False


class UnknownTypeError(Exception):
    """Type annotation without a known JSON Schema; the message has the reason."""


_NAMED = {
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
    "builtins.bytes": JsonType(
        {"type": "string", "contentEncoding": "base64"}, needs_python_values=True
    ),
    "datetime.date": JsonType(
        {"type": "string", "format": "date"}, needs_python_values=True
    ),
    "datetime.datetime": JsonType(
        {"type": "string", "format": "date-time"}, needs_python_values=True
    ),
    "datetime.time": JsonType(
        {"type": "string", "format": "time"}, needs_python_values=True
    ),
    "datetime.timedelta": JsonType(
        {"type": "string", "format": "duration"}, needs_python_values=True
    ),
    "uuid.UUID": JsonType(
        {"type": "string", "format": "uuid"}, needs_python_values=True
    ),
    "pathlib.Path": JsonType({"type": "string"}, Fit.CONVERTED),
    "pathlib.PurePath": JsonType({"type": "string"}, Fit.CONVERTED),
    "decimal.Decimal": JsonType(
        {"type": "string", "format": "decimal"}, needs_python_values=True
    ),
    "pydantic.EmailStr": JsonType({"type": "string", "format": "email"}),
    "pydantic.HttpUrl": JsonType({"type": "string", "format": "uri"}, Fit.CONVERTED),
    "pydantic.AnyUrl": JsonType({"type": "string", "format": "uri"}, Fit.CONVERTED),
    "pydantic.AnyHttpUrl": JsonType({"type": "string", "format": "uri"}, Fit.CONVERTED),
    "pydantic.PositiveInt": JsonType({"type": "integer", "exclusiveMinimum": 0}),
    "pydantic.NonNegativeInt": JsonType({"type": "integer", "minimum": 0}),
    "pydantic.PositiveFloat": JsonType({"type": "number", "exclusiveMinimum": 0}),
    "pydantic.NonNegativeFloat": JsonType({"type": "number", "minimum": 0}),
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
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    type(None): "null",
}


ClassReader = Callable[["TypeReader", PythonModule, ast.ClassDef, int], JsonType]


class Annotation(NamedTuple):
    """What an annotation says at its outside.

    Attributes:
        meaning: the dotted name of what it names, by the name that it has now (`builtins.list`
            for `typing.List`); `None`, `typing.Union` for a union in any form; a class of the
            project, or what that assigns to a name; None where the text does not tell.
        parts: what stands between its brackets, or on both sides of its bar.
        node: its expression, without quotes.
    """

    meaning: Definition | str | None
    parts: tuple[ast.expr, ...]
    node: ast.expr


def read_annotation(
    names: ModuleNames, module: PythonModule, node: ast.expr
) -> Annotation:
    """Reads the outside of an annotation that stands in a module, in quotes or not.

    Raises:
        UnknownTypeError: what stands in the quotes is no expression.
    """
    while isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = _parsed(node.value)
    if isinstance(node, ast.Constant) and node.value is None:
        return Annotation("None", (), node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return Annotation("typing.Union", (node.left, node.right), node)
    if not isinstance(node, ast.Subscript):
        return Annotation(resolve_type(names, module, node), (), node)
    inner = node.slice
    parts = tuple(inner.elts) if isinstance(inner, ast.Tuple) else (inner,)
    return Annotation(resolve_type(names, module, node.value), parts, node)


def resolve_type(
    names: ModuleNames, module: PythonModule, node: ast.expr
) -> Definition | str | None:
    """What an expression of names stands for; as `Annotation.meaning`."""
    found = names.only(module, node)
    if found is None or found.kind not in ("external", "module"):
        return None if found is None or found.function else found
    name = found.name
    for prefix in ("typing_extensions.", "collections.abc."):
        # pydantic tells the two TypedDicts apart.
        if name.startswith(prefix) and not name.endswith(".TypedDict"):
            name = f"typing.{name.removeprefix(prefix)}"
    return _SAME.get(name, name)


class TypeReader:
    """Reads the annotations of one function.

    Args:
        names: the names of the project's modules.
        of_class: the JSON of a class of the project; `class_json`.

    Attributes:
        typed_dicts: the classes that are a `typing.TypedDict`.
    """

    def __init__(self, names: ModuleNames, of_class: ClassReader) -> None:
        self.names = names
        self._of_class = of_class
        self.typed_dicts: list[str] = []
        self._parts = 0
        self._within: list[ast.AST | None] = []

    def count_visit(self, depth: int) -> None:
        """Counts one of the parts that it looks at.

        Raises:
            UnknownTypeError: there are too many.
        """
        self._parts += 1
        if depth > _MAX_DEPTH or self._parts > _MAX_PARTS:
            raise UnknownTypeError("it has too many parts")

    def meaning(self, module: PythonModule, node: ast.expr) -> Definition | str | None:
        """What an expression of names stands for; as `Annotation.meaning`."""
        return resolve_type(self.names, module, node)

    def read(self, module: PythonModule, node: ast.expr, depth: int = 0) -> JsonType:
        """The JSON of an annotation that stands in a module.

        Raises:
            UnknownTypeError: the text does not tell.
        """
        self.count_visit(depth)
        found = read_annotation(self.names, module, node)
        if found.meaning == "None":
            return JsonType({"type": "null"})
        if isinstance(found.meaning, str):
            if found.parts:
                return self._generic(module, found.meaning, found.parts, depth + 1)
            read_only = _READ_ONLY.get(found.meaning)
            named = _NAMED.get(read_only or found.meaning)
            if named is not None and read_only:
                is_lazy = found.meaning == "typing.Iterable"
                return named._replace(fit=Fit.PLAIN, is_lazy=is_lazy)
            if named is not None:
                return named
        elif found.meaning is not None and not found.parts:
            return self._own(found.meaning, depth + 1)
        raise UnknownTypeError(
            f"`{format_expression(found.node)}` is nothing that JSON has"
        )

    def _own(self, known: Definition, depth: int) -> JsonType:
        """A class of the project, or what it assigns to a name."""
        if known.node in self._within:
            raise UnknownTypeError("it refers to itself")
        self._within.append(known.node)
        try:
            if known.class_ is not None:
                return self._of_class(self, known.scope, known.class_, depth)
            node = known.value
            if isinstance(node, ast.Call):
                called = self.meaning(known.scope, node.func)
                if called != "typing.NewType" or len(node.args) != 2:
                    raise UnknownTypeError(
                        f"`{format_expression(node)}` is made when it runs"
                    )
                made = self.read(known.scope, node.args[1], depth)
                return made._replace(fit=max(made.fit, Fit.NARROW))
            if node is None:
                raise UnknownTypeError(f"`{known.name}` is nothing that JSON has")
            return self.read(known.scope, node, depth)
        finally:
            self._within.pop()

    def _generic(
        self, module: PythonModule, name: str, parts: Sequence[ast.expr], depth: int
    ) -> JsonType:
        base = _READ_ONLY.get(name, name)
        if name == "typing.Literal":
            values = [evaluate_literal(part) for part in parts]
            for part, value in zip(parts, values, strict=True):
                if type(value) not in _KINDS:
                    raise UnknownTypeError(
                        f"`{format_expression(part)}` is nothing that a `Literal` has"
                    )
            return JsonType(build_enum_schema(values))
        if name == "typing.Annotated":
            made = self.read(module, parts[0], depth)
            schema = dict(made.schema)
            for part in parts[1:]:
                self.annotate(module, part, schema)
            return made._replace(schema=schema)
        if name in _WRAPPERS:
            return self.read(module, parts[0], depth)
        if base == "builtins.dict" and len(parts) == 2:
            if self.meaning(module, parts[0]) != "builtins.str":
                raise UnknownTypeError("the keys of a mapping are texts in JSON")
        elif base == "builtins.tuple" and not _is_ellipsis(parts[-1]):
            each = [self.read(module, part, depth) for part in parts]
            schema = {
                "type": "array",
                "prefixItems": [one.schema for one in each],
                "minItems": len(each),
                "maxItems": len(each),
            }
            return JsonType(
                schema, Fit.CONVERTED, any(one.needs_python_values for one in each)
            )
        elif name not in ("typing.Optional", "typing.Union") and base not in _NAMED:
            raise UnknownTypeError(
                f"`{format_expression(parts[0])}` of `{name}` is nothing that JSON has"
            )
        each = [
            self.read(module, part, depth) for part in parts if not _is_ellipsis(part)
        ]
        if not each:
            raise UnknownTypeError(f"`...` alone says nothing of `{name}`")
        if name == "typing.Optional":
            return _union([*each, JsonType({"type": "null"})])
        if name == "typing.Union":
            return _union(each)
        outer, item = _NAMED[base], each[-1]
        key = "additionalProperties" if base == "builtins.dict" else "items"
        fit = item.fit if name in _READ_ONLY else max(outer.fit, item.fit)
        schema = {**outer.schema, key: item.schema} if item.schema else outer.schema
        is_lazy = name == "typing.Iterable"
        return JsonType(schema, fit, item.needs_python_values, is_lazy=is_lazy)

    def annotate(
        self, module: PythonModule, part: ast.expr, schema: dict[str, Any]
    ) -> None:
        """Adds what stands beside a type: a text, or the limits of a `Field`.

        Raises:
            UnknownTypeError: it says something that is not known here.
        """
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            schema["description"] = " ".join(part.value.split())
            return
        if not isinstance(part, ast.Call):
            raise UnknownTypeError(
                f"`{format_expression(part)}` beside a type is not known"
            )
        called = self.meaning(module, part.func)
        if called in ("typing.Doc", "annotated_doc.Doc") and part.args:
            schema["description"] = " ".join(
                str(evaluate_literal(part.args[0])).split()
            )
        elif isinstance(called, str) and called in _ANNOTATED and part.args:
            _limit(schema, _ANNOTATED[called], evaluate_literal(part.args[0]))
        elif called == "pydantic.Field":
            for keyword in part.keywords:
                word = keyword.arg or "**"
                if word == "description":
                    text = evaluate_literal(keyword.value)
                    schema["description"] = " ".join(str(text).split())
                elif word not in _UNSAID:
                    _limit(schema, word, evaluate_literal(keyword.value))
        else:
            raise UnknownTypeError(
                f"`{format_expression(part)}` beside a type is not known"
            )


def build_enum_schema(values: list[Any]) -> dict[str, Any]:
    """The schema of one of these values."""
    kinds = list(dict.fromkeys(_KINDS[type(one)] for one in values))
    # True is 1 for Python, and not in JSON.
    listed = [one for _, one in dict.fromkeys((type(one), one) for one in values)]
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": listed}


def evaluate_literal(node: ast.expr) -> Any:
    """The JSON value that a literal is.

    Raises:
        UnknownTypeError: it is no literal, or JSON has no such value.
    """
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise UnknownTypeError(f"`{format_expression(node)}` is no literal") from None
    if not _is_json(value):
        raise UnknownTypeError(f"JSON has no `{format_expression(node)}`")
    return list(value) if isinstance(value, tuple) else value


def is_valid_value(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a default is a value of its own schema."""
    return not ValueChecker(JsonSchema(dict(schema))).problem(value)


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        keys = all(isinstance(key, str) and _is_json(key) for key in value)
        return keys and all(map(_is_json, value.values()))
    if isinstance(value, str):
        return _LONE_SURROGATE.search(value) is None
    return value is None or isinstance(value, int)


def _limit(schema: dict[str, Any], word: str, value: Any) -> None:
    if word in _LIMITS:
        schema[_LIMITS[word]] = value
    elif word in _LENGTHS:
        kinds = schema.get("type", "string")
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            of = {"array": "Items", "object": "Properties"}.get(kind, "Length")
            if kind != "null":
                schema[f"{_LENGTHS[word]}{of}"] = value
    elif word == "pattern" and isinstance(value, str):
        schema["pattern"] = value
    else:
        raise UnknownTypeError(f"`{word}` of a `Field` is not known")


def _union(members: list[JsonType]) -> JsonType:
    """One of several, in `type` alone where that says it."""
    fit = max(one.fit for one in members)
    is_value = any(one.needs_python_values for one in members)
    schemas = [one.schema for one in members]
    if not all(schemas):
        return JsonType({}, fit, is_value)
    nulls = [one for one in schemas if one == {"type": "null"}]
    others = [one for one in schemas if one != {"type": "null"}]
    if len(others) == 1 and nulls and isinstance(others[0].get("type"), str | list):
        kinds = others[0]["type"]
        kinds = [*([kinds] if isinstance(kinds, str) else kinds), "null"]
        schema = {**others[0], "type": list(dict.fromkeys(kinds))}
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return JsonType(schema, fit, is_value)
    kinds = [one["type"] for one in schemas if list(one) == ["type"]]
    if len(kinds) == len(schemas) and all(isinstance(kind, str) for kind in kinds):
        return JsonType({"type": list(dict.fromkeys(kinds))}, fit, is_value)
    return JsonType({"anyOf": schemas}, fit, is_value)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnknownTypeError(
            f"{format_quoted_list([text[:60]])} is no annotation"
        ) from None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
