"""What a function's text says of the tool that it may become."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from toolcast_runtime.values.annotated_types import is_keyword_argument

from ..suggestions import did_you_mean
from .annotations import (
    Fit,
    JsonType,
    TypeReader,
    UnknownTypeError,
    evaluate_literal,
    is_valid_value,
)
from .classes import evaluate_enum_member, read_class
from .docstring import Docstring, parse_docstring
from .module_names import ModuleNames
from .modules import (
    FunctionDefinition,
    ImportedName,
    PythonModule,
    collect_bindings,
    format_expression,
    get_last_name,
    walk_function,
)

_TODO = "TODO: say what to put here."
_UNTYPED = "TODO: say what to put here, and its `type`."


class FunctionToolError(Exception):
    """Python function that cannot become a tool; the message has file, line and reasons.

    Attributes:
        reasons: each with its help.
    """

    def __init__(self, reasons: list[tuple[str, str]]) -> None:
        super().__init__(reasons[0][0])
        self.reasons = reasons


class ToolParameter(NamedTuple):
    """A parameter that callers may send.

    Attributes:
        annotation: that of a text, number or truth whose default is a literal; else None.
        default: that literal; None without one.
    """

    name: str
    is_required: bool
    annotation: str | None
    default: Any


class FunctionTool(NamedTuple):
    """A function as a tool.

    Attributes:
        place: `file:line`.
        documented: what its docstring says.
        parameters: their JSON Schema.
        taken: those parameters.
        returns: the JSON Schema of its result; None where it has none that is told.
        fit: how it takes what a caller sends.
        is_value: it needs `values: python`.
        gives_json: its result is JSON as it is, or not known.
        is_whole: it takes every parameter that it has from its callers.
        is_async: it is awaited.
        is_annotated: a type checker looks at its calls.
        is_typed: all that its callers send has an annotation.
        result: the annotation of its result where that needs no import; else None.
        notes: what its author should know, each with file and line.
    """

    location: str
    docstring: Docstring
    parameters: dict[str, Any]
    call_parameters: tuple[ToolParameter, ...]
    returns: dict[str, Any] | None
    fit: Fit
    needs_python_values: bool
    returns_json: bool
    accepts_all: bool
    is_async: bool
    is_annotated: bool
    is_typed: bool
    result_annotation: str | None
    notes: tuple[str, ...]


def read_function(
    module_of: Callable[[str], PythonModule | None], module: str, name: str
) -> FunctionTool:
    """Reads a function of the project; nothing of it is imported or run.

    Args:
        module_of: a module by its dotted name; None for one that is not the project's.

    Raises:
        FunctionToolError: there is none, or no caller could call it.
    """
    text = module_of(module)
    if text is None:
        raise FunctionToolError(
            [(f"there is no module `{module}` in the project's sources", "")]
        )
    if text.problem:
        raise FunctionToolError([(f"{text.file} cannot be read: {text.problem}", "")])
    node = text.bindings.functions.get(name)
    if node is None:
        raise FunctionToolError([_absent(text, name)])
    return _Reading(ModuleNames(module_of), text, node).tool()


class _Reading:
    def __init__(
        self, names: ModuleNames, module: PythonModule, node: FunctionDefinition
    ) -> None:
        self.module, self.file, self.node = module, module.file, node
        self.types = TypeReader(names, read_class)
        self.reasons: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.properties: dict[str, Any] = {}
        self.call_parameters: list[ToolParameter] = []
        self.read: list[JsonType] = []
        self.accepts_all = True
        self.docstring = Docstring()

    def tool(self) -> FunctionTool:
        node, given = self.node, self.node.args
        self._refuse_what_no_call_has()
        arguments = [*given.args, *given.kwonlyargs]
        names = [one.arg for one in arguments]
        self.docstring = parse_docstring(ast.get_docstring(node), names)
        if self.docstring.problem:
            self._note(node, f"the docstring is not read: {self.docstring.problem}")
        # Those before a `/` have the first of the defaults.
        late = given.defaults[-len(given.args) :] if given.args else []
        placed = [None] * (len(given.args) - len(late)) + late
        for one, default in zip(arguments, [*placed, *given.kw_defaults], strict=True):
            self._parameter(one, default)
        for told in self.docstring.parameters:
            if told not in names and not self.reasons:
                shown = " ".join(told.split())[:60]
                self._note(node, f"the docstring tells of `{shown}`, no parameter")
        if self.reasons:
            raise FunctionToolError(self.reasons)
        fit = max([Fit.PLAIN, *(one.fit for one in self.read)])
        if fit is Fit.CONVERTED:
            self._tell_what_pydantic_needs()
        returns, gives_json = self._result()
        parameters: dict[str, Any] = {"type": "object", "properties": self.properties}
        required = [one.name for one in self.call_parameters if one.is_required]
        if required:
            parameters["required"] = required
        parameters["additionalProperties"] = False
        return FunctionTool(
            f"{self.file}:{node.lineno}",
            self.docstring,
            parameters,
            tuple(self.call_parameters),
            returns,
            fit,
            any(one.needs_python_values for one in self.read),
            gives_json,
            self.accepts_all,
            isinstance(node, ast.AsyncFunctionDef),
            any(one.annotation for one in arguments) or node.returns is not None,
            all(one.annotation for one in arguments if one.arg in self.properties),
            self._spelled(node.returns),
            tuple(self.notes),
        )

    def _refuse_what_no_call_has(self) -> None:
        node, given = self.node, self.node.args
        for one in given.posonlyargs:
            self._refuse(
                one,
                f"`{one.arg}` can be given by place only, and arguments come by name",
                "remove the `/` behind it, or write a function that calls it",
            )
        if given.vararg is not None:
            self._refuse(
                given.vararg,
                f"`*{given.vararg.arg}` takes arguments without names, and they come by"
                " name",
                "take one list instead, or write a function that calls it",
            )
        if given.kwarg is not None:
            self._note(
                given.kwarg,
                f"`**{given.kwarg.arg}` is left out: callers send what the schema names",
            )
        yields = (ast.Yield, ast.YieldFrom)
        if any(isinstance(one, yields) for one in walk_function(node)):
            self._refuse(
                node,
                f"`{node.name}` is a generator, and a result is one value",
                "write a function that gives a list",
            )
        for decorator in node.decorator_list:
            self._note(
                decorator,
                f"`@{format_expression(decorator)}` may change what `{node.name}` takes: the spec says what the"
                " `def` does",
            )

    def _parameter(self, argument: ast.arg, default: ast.expr | None) -> None:
        name = argument.arg
        if name in ("self", "cls") or not is_keyword_argument(name):
            self._refuse(
                argument,
                f"no caller can send `{name}`",
                "give it another name, or write a function that calls it",
            )
            return
        annotation = argument.annotation
        try:
            json = self._json(name, annotation)
        except UnknownTypeError as problem:
            if default is None:
                self._refuse(
                    argument,
                    f"it is not known what a caller sends for `{name}`: {problem}",
                    "annotate it with a type that JSON has, give it a default, or write a"
                    " function that calls it",
                )
                return
            self._note(argument, f"`{name}` is left out: {problem}")
            self.accepts_all = False
            return
        schema = dict(json.schema)
        if not schema and annotation is None and not _is_plain_default(default):
            # A client or a hook, as often as not: no caller is to send one by mistake.
            self._note(argument, f"`{name}` is left out: it has no annotation")
            self.accepts_all = False
            return
        text = self.docstring.parameters.get(name)
        is_untyped = annotation is None and not schema
        if is_untyped:
            self._note(argument, f"`{name}` has no annotation: its `type` is a TODO")
        elif not text and not schema.get("description"):
            self._note(argument, f"nothing tells what `{name}` is: a TODO")
        missing = _UNTYPED if is_untyped else _TODO
        if text and is_untyped:
            text = f"TODO: give it a `type`. {text}"
        told = text or schema.pop("description", None) or missing
        schema = {**schema, "description": told}
        if default is not None:
            self._default(name, argument, default, schema)
        self.properties[name] = schema
        self.read.append(json)
        literal, is_literal = _literal(default)
        shown = None
        if annotation is not None and is_literal:
            is_told = default is None or is_valid_value(json.schema, literal)
            shown = _scalar(json.schema) if is_told else None
        self.call_parameters.append(
            ToolParameter(name, default is None, shown, literal)
        )

    def _json(self, name: str, annotation: ast.expr | None) -> JsonType:
        if annotation is not None:
            return self.types.read(self.module, annotation)
        told = self.docstring.types.get(name)
        if told is None:
            return JsonType({})
        try:
            shown = told.removesuffix("optional").rstrip(" ,")
            node = ast.parse(shown, mode="eval").body
            return self.types.read(self.module, node)
        except (UnknownTypeError, SyntaxError, ValueError, RecursionError, MemoryError):
            return JsonType({})

    def _default(
        self,
        name: str,
        argument: ast.arg,
        default: ast.expr,
        schema: dict[str, Any],
    ) -> None:
        try:
            if isinstance(default, ast.Attribute):
                value = evaluate_enum_member(self.types, self.module, default)
            else:
                value = evaluate_literal(default)
        except UnknownTypeError as problem:
            self._note(argument, f"the default of `{name}` is not told: {problem}")
            return
        if is_valid_value(schema, value):
            schema["default"] = value
        elif value is not None:
            self._note(
                argument,
                f"the default of `{name}` is not told: `{format_expression(default)}` is not of its type",
            )

    def _result(self) -> tuple[dict[str, Any] | None, bool]:
        node = self.node.returns
        if node is None:
            return None, True
        try:
            json = TypeReader(self.types.names, read_class).read(self.module, node)
        except UnknownTypeError as problem:
            self._note(
                node,
                f"its result `{format_expression(node)}` is not described: {problem}",
            )
            return None, True
        gives_json = json.fit is not Fit.CONVERTED and not json.needs_python_values
        if not json.is_class:
            return None, gives_json
        return _without_formats(json.schema), gives_json

    def _spelled(self, node: ast.expr | None) -> str | None:
        """An annotation of built-in names alone; None for any other."""
        parts = [*ast.walk(node)] if node is not None else []
        names = {one.id for one in parts if isinstance(one, ast.Name)}
        texts = {one.value for one in parts if isinstance(one, ast.Constant)} - {None}
        is_told = all(isinstance(one, _SPELLED | ast.Name) for one in parts)
        is_known = names <= _BUILT_IN.difference(self.module.bindings)
        return (
            ast.unparse(node) if node and is_told and is_known and not texts else None
        )

    def _tell_what_pydantic_needs(self) -> None:
        for name in dict.fromkeys(self.types.typed_dicts):
            self._note(
                self.node,
                f"`{name}` is a TypedDict of `typing`, which pydantic reads from Python 3.12"
                " on: import TypedDict from typing_extensions",
            )
        given = self.node.args
        unseen = _for_type_checkers(self.module)
        for one in [*given.args, *given.kwonlyargs]:
            for node in ast.walk(one.annotation) if one.annotation else ():
                if isinstance(node, ast.Name) and node.id in unseen:
                    self._note(
                        one,
                        f"`{node.id}` is imported for type checkers only, and pydantic has"
                        " to find it when it runs: import it always",
                    )

    def _refuse(self, node: ast.AST, reason: str, help_: str) -> None:
        self.reasons.append((f"{self._where(node)}: {reason}", help_))

    def _note(self, node: ast.AST, text: str) -> None:
        self.notes.append(f"{self._where(node)}: {text}")

    def _where(self, node: ast.AST) -> str:
        return f"{self.file}:{getattr(node, 'lineno', self.node.lineno)}"


def _for_type_checkers(module: PythonModule) -> frozenset[str]:
    """The names that a module has under `if TYPE_CHECKING` alone."""
    names: set[str] = set()
    for node in ast.walk(module.tree) if module.tree is not None else ():
        if isinstance(node, ast.If) and get_last_name(node.test) == "TYPE_CHECKING":
            names.update(collect_bindings(node.body, module))
    return frozenset(names)


def _absent(module: PythonModule, name: str) -> tuple[str, str]:
    message = f"{module.file} has no function `{name}`"
    for place in module.bindings.get(name, ()):
        if isinstance(place.value, ImportedName):
            source = f"{place.value.module}:{place.value.name or ''}"
            help_ = f"it is imported: name it where it is written, `{source}`"
            return message, help_
    if name in module.bindings.classes:
        help_ = "it is a class: write a function that makes one, and name that"
        return message, help_
    for class_ in module.bindings.classes.values():
        if name in collect_bindings(class_.body, module).functions:
            help_ = (
                f"`{class_.name}.{name}` is a method, which needs its `self`: write a"
                " function that calls it"
            )
            return message, help_
    return message, did_you_mean(name, sorted(module.bindings.functions))


_BUILT_IN = frozenset("str int float bool list dict tuple object".split())
_SPELLED = ast.Subscript | ast.Tuple | ast.BinOp | ast.BitOr | ast.Constant | ast.Load
_SCALARS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}


def _scalar(schema: Mapping[str, Any]) -> str | None:
    """The annotation of a parameter that is a text, number or truth; None for others."""
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    described = {"type", "description"}
    if not isinstance(kinds, list) or not described.issuperset(schema):
        return None
    names = [_SCALARS.get(kind) for kind in kinds]
    return " | ".join(map(str, names)) if all(names) else None


def _is_plain_default(node: ast.expr | None) -> bool:
    """Whether a default is a text, a number or a truth, or there is none."""
    if node is None:
        return True
    value, is_literal = _literal(node)
    return is_literal and isinstance(value, str | int | float)


def _literal(node: ast.expr | None) -> tuple[Any, bool]:
    if node is None:
        return None, True
    try:
        return evaluate_literal(node), True
    except UnknownTypeError:
        return None, False


def _without_formats(schema: Any) -> Any:
    """What a result looks like once it is JSON: nothing is promised of a text's form."""
    if isinstance(schema, list):
        return [_without_formats(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = ("format", "contentEncoding", "additionalProperties", "default")
    return {
        key: (
            {name: _without_formats(one) for name, one in value.items()}
            if key == "properties"
            else _without_formats(value)
        )
        for key, value in schema.items()
        if key not in dropped or (key == "additionalProperties" and value is not False)
    }
