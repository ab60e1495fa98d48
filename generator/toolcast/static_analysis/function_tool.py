"""Conversion of a function's signature and docstring to the fields of a tool's spec."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from toolcast_runtime.values.annotated_types import is_keyword_argument

from ..suggestions import did_you_mean
from .adapter_annotations import format_builtin_annotation, format_scalar_annotation
from .annotated_names import find_type_name
from .annotations import Fit, JsonType, TypeReader, remove_formats
from .classes import FieldValue, evaluate_default, read_class, read_value
from .docstring import Docstring, get_docstring, parse_docstring
from .literals import UnknownTypeError, evaluate_literal, is_valid_value
from .metadata import has_field_default, is_ellipsis
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

_TODO = "TODO: describe this parameter."
_UNTYPED_TODO = "TODO: describe this parameter, and add its `type`."
_MAX_NAME_CHARACTERS = 60
"""The maximum length of a parameter's name, from a docstring, in a note."""


class FunctionToolError(Exception):
    """Python function that cannot become a tool.

    The message is the first reason, with file and line.

    Attributes:
        reasons: each reason with its help text.
    """

    def __init__(self, reasons: list[tuple[str, str]]) -> None:
        super().__init__(reasons[0][0])
        self.reasons = reasons


class ToolParameter(NamedTuple):
    """A parameter that callers can send.

    Attributes:
        name: the name that callers send.
        is_required: whether it has no default.
        annotation: the annotation for generated code, such as `str | None`; None if the
            type is not a scalar, or the default is not a literal of that type.
        default: the default, if it is a literal; else None.
    """

    name: str
    is_required: bool
    annotation: str | None
    default: Any


class FunctionTool(NamedTuple):
    """Spec of a tool that is derived from a Python function, and how to call the function.

    Attributes:
        location: `file:line`.
        docstring: the parsed docstring.
        parameters: the JSON Schema of the parameters.
        call_parameters: the same parameters, with their defaults and annotations.
        returns: the JSON Schema of the result; None if it is not a class with known
            fields.
        fit: whether JSON arguments have the types of the annotations.
        needs_python_values: whether the function needs `values: python` in the spec, which
            converts JSON strings to types such as dates.
        returns_json: whether the result is returned unchanged; False if it must be
            converted to JSON.
        accepts_all: whether callers can send all parameters of the function.
        is_async: whether the result must be awaited.
        is_annotated: whether the function has annotations, so that type checkers check
            calls.
        is_typed: whether all parameters of callers have annotations.
        result_annotation: the annotation of the result, if it only uses built-in names.
        uses: the dependencies that the function has parameters for.
        notes: messages to the user about omitted information, with file and line.
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
    uses: tuple[str, ...] = ()


def read_function(
    load_module: Callable[[str], PythonModule | None],
    module: str,
    name: str,
    dependencies: Mapping[str, str] = MappingProxyType({}),
) -> FunctionTool:
    """Return a function of the project in the form of a tool, without importing it.

    Parameters that cannot be described are omitted if they have a default; `notes`
    lists them.

    Args:
        load_module: returns the project's module with a dotted name, or None.
        module: the dotted name of the function's module.
        name: the name of the function.
        dependencies: the dotted type of each dependency that the toolset provides.

    Raises:
        FunctionToolError: the function does not exist, its module cannot be read, or
            callers cannot call it.
    """
    python_module = load_module(module)
    if python_module is None:
        reason = f"the project's sources have no module `{module}`"
        raise FunctionToolError([(reason, "")])
    if python_module.problem:
        reason = f"{python_module.file} cannot be read: {python_module.problem}"
        raise FunctionToolError([(reason, "")])
    node = python_module.bindings.functions.get(name)
    if node is None:
        raise FunctionToolError([_describe_missing_function(python_module, name)])
    names = ModuleNames(load_module)
    return _FunctionReader(names, python_module, node, dependencies).build_tool()


class _FunctionReader:
    def __init__(
        self,
        names: ModuleNames,
        module: PythonModule,
        node: FunctionDefinition,
        dependencies: Mapping[str, str],
    ) -> None:
        self.dependencies = dependencies
        self.uses: list[str] = []
        self.module, self.file, self.node = module, module.file, node
        self.types = TypeReader(names, read_class)
        self.reasons: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.properties: dict[str, Any] = {}
        self.call_parameters: list[ToolParameter] = []
        self.json_types: list[JsonType] = []
        self.typed_names: set[str] = set()
        self.is_required: dict[str, bool] = {}
        self.accepts_all = True
        self.docstring = Docstring()

    def build_tool(self) -> FunctionTool:
        node, signature = self.node, self.node.args
        self._check_signature()
        arguments = [*signature.args, *signature.kwonlyargs]
        names = [argument.arg for argument in arguments]
        self.docstring = parse_docstring(get_docstring(node), names)
        if self.docstring.problem:
            self._note(node, f"the docstring is not used: {self.docstring.problem}")
        # `signature.defaults` also has the defaults of positional-only parameters,
        # which come first.
        defaults = signature.defaults[-len(signature.args) :] if signature.args else []
        missing = [None] * (len(signature.args) - len(defaults))
        all_defaults = [*missing, *defaults, *signature.kw_defaults]
        for argument, default in zip(arguments, all_defaults, strict=True):
            self._read_parameter(argument, default)
        for documented_name in self.docstring.parameters:
            if documented_name not in names and not self.reasons:
                text = " ".join(documented_name.split())[:_MAX_NAME_CHARACTERS]
                self._note(
                    node, f"the docstring describes `{text}`, which is not a parameter"
                )
        fit = max([Fit.PLAIN, *(json_type.fit for json_type in self.json_types)])
        if fit is Fit.CONVERTED:
            self._check_parameter_order()
        if self.reasons:
            raise FunctionToolError(self.reasons)
        if fit is Fit.CONVERTED:
            self._note_pydantic_requirements()
        returns, returns_json = self._read_result()
        parameters: dict[str, Any] = {"type": "object", "properties": self.properties}
        required = [p.name for p in self.call_parameters if p.is_required]
        if required:
            parameters["required"] = required
        parameters["additionalProperties"] = False
        parameters = self.types.add_definitions(parameters)
        annotated = [argument for argument in arguments if argument.annotation]
        return FunctionTool(
            location=f"{self.file}:{node.lineno}",
            docstring=self.docstring,
            parameters=parameters,
            call_parameters=tuple(self.call_parameters),
            returns=returns,
            fit=fit,
            needs_python_values=any(t.needs_python_values for t in self.json_types),
            returns_json=returns_json,
            accepts_all=self.accepts_all,
            is_async=isinstance(node, ast.AsyncFunctionDef),
            is_annotated=bool(annotated) or node.returns is not None,
            is_typed=self.properties.keys() <= self.typed_names
            and all(map(is_keyword_argument, self.properties)),
            result_annotation=format_builtin_annotation(self.module, node.returns),
            notes=tuple(self.notes),
            uses=tuple(self.uses),
        )

    def _check_signature(self) -> None:
        """Reject parameters that callers cannot pass by name, and generators.

        `**kwargs` and decorators are only noted.
        """
        node, signature = self.node, self.node.args
        for argument in signature.posonlyargs:
            self._reject(
                argument,
                f"`{argument.arg}` is positional-only, and callers pass arguments by name",
                "remove the `/` after it, or write a function that calls this function",
            )
        if signature.vararg is not None:
            self._reject(
                signature.vararg,
                f"`*{signature.vararg.arg}` accepts arguments without names, and callers"
                " pass arguments by name",
                "accept one list instead, or write a function that calls this function",
            )
        if signature.kwarg is not None:
            self._note(
                signature.kwarg,
                f"`**{signature.kwarg.arg}` is omitted: callers send only parameters of"
                " the schema",
            )
        if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in walk_function(node)):
            self._reject(
                node,
                f"`{node.name}` is a generator, and a tool returns one value",
                "write a function that returns a list",
            )
        for decorator in node.decorator_list:
            self._note(
                decorator,
                f"`@{format_expression(decorator)}` may change the parameters of"
                f" `{node.name}`: the spec describes the undecorated function",
            )

    def _check_parameter_order(self) -> None:
        """Reject required parameters after optional ones.

        pydantic cannot call such a function. Python's syntax does not allow the order
        either, but `Field(...)` as a default makes a parameter required.
        """
        optional = ""
        for argument in self.node.args.args:
            name = argument.arg
            if not self.is_required.get(name, False):
                optional = name
            elif optional:
                self._reject(
                    argument,
                    f"pydantic cannot call the function: `{name}` is required, and follows"
                    f" `{optional}`, which has a default",
                    f"move `{name}` to the front, or add `*` before the parameters",
                )

    def _read_parameter(self, argument: ast.arg, default: ast.expr | None) -> None:
        name, annotation = argument.arg, argument.annotation
        if name in ("self", "cls") or not is_keyword_argument(name):
            self._reject(
                argument,
                f"callers cannot send a parameter `{name}`",
                "rename it, or write a function that calls this function",
            )
            return
        try:
            if self._is_dependency(name, annotation):
                self.uses.append(name)
                return
            json_type = self._read_type(name, annotation)
            value = read_value(self.types, self.module, json_type, default)
        except UnknownTypeError as error:
            if not self._has_default(default):
                self._reject(
                    argument,
                    f"the type of `{name}` has no JSON Schema: {error}",
                    "annotate it with a JSON type, give it a default, or write a"
                    " function that calls this function",
                )
                return
            self._note(argument, f"`{name}` is omitted: {error}")
            self.accepts_all = False
            return
        is_untyped = annotation is None and not json_type.schema
        # Without an annotation, a default such as None or an object often means a
        # client or a hook, which callers must not replace.
        if is_untyped and not _is_plain_default(value.settings.default):
            self._note(argument, f"`{name}` is omitted: it has no annotation")
            self.accepts_all = False
            return
        settings = value.settings
        default = settings.default
        schema = self._describe(argument, value, is_untyped)
        if default is not None:
            self._add_default(argument, default, schema)
        self.properties[settings.alias or name] = schema
        if annotation is not None:
            self.typed_names.add(settings.alias or name)
        self.is_required[name] = value.is_required
        if settings.needs_pydantic:
            json_type = json_type._replace(fit=Fit.CONVERTED)
        self.json_types.append(json_type)
        literal, is_literal = _evaluate_default(default)
        scalar_annotation = None
        is_valid = default is None or (
            is_literal and is_valid_value(json_type.schema, literal)
        )
        if annotation is not None and is_valid:
            scalar_annotation = format_scalar_annotation(json_type.schema)
        self.call_parameters.append(
            ToolParameter(
                settings.alias or name, value.is_required, scalar_annotation, literal
            )
        )

    def _has_default(self, node: ast.expr | None) -> bool:
        if isinstance(node, ast.Call):
            called = self.types.resolve_type(self.module, node.func)
            return called != "pydantic.Field" or has_field_default(node)
        return node is not None and not is_ellipsis(node)

    def _is_dependency(self, name: str, annotation: ast.expr | None) -> bool:
        """Return whether the toolset provides a parameter, by its name and type.

        A parameter with the name of a dependency, but with a JSON type, is an argument
        of callers.

        Raises:
            UnknownTypeError: the parameter has the class of a dependency with another
                name.
        """
        type_name = None
        if annotation is not None:
            type_name = find_type_name(self.types.names, self.module, annotation)
        if name not in self.dependencies:
            for key, dependency_type in self.dependencies.items():
                is_json_type = dependency_type.startswith("builtins.")
                if dependency_type == type_name and not is_json_type:
                    raise UnknownTypeError(
                        f"it has the type of the dependency `{key}`; rename it to `{key}`"
                    )
            return False
        if annotation is None or type_name == self.dependencies[name]:
            return True
        try:
            reader = TypeReader(self.types.names, read_class)
            return reader.read(self.module, annotation).is_class
        except UnknownTypeError:
            return True

    def _describe(
        self, argument: ast.arg, value: FieldValue, is_untyped: bool
    ) -> dict[str, Any]:
        """Return a parameter's schema with a description; note a missing one.

        The description is the parameter's own, the docstring's, that of its class, or a
        TODO.
        """
        name, schema = argument.arg, value.schema
        class_schema = self.types.resolve_definition(schema)
        if "description" in class_schema:
            schema.setdefault("description", class_schema["description"])
        text = None
        if not value.settings.is_described:
            text = self.docstring.parameters.get(name)
        if is_untyped:
            self._note(argument, f"`{name}` has no annotation: its `type` is a TODO")
            if text:
                text = f"TODO: add a `type`. {text}"
        elif not text and not schema.get("description"):
            self._note(argument, f"`{name}` has no description: the spec has a TODO")
        todo = _UNTYPED_TODO if is_untyped else _TODO
        description = text or schema.pop("description", None) or todo
        return {**schema, "description": description}

    def _read_type(self, name: str, annotation: ast.expr | None) -> JsonType:
        """Return the type of a parameter from its annotation, else from the docstring.

        Without either, any value is allowed.
        """
        if annotation is not None:
            return self.types.read(self.module, annotation)
        documented_type = self.docstring.types.get(name)
        if documented_type is None:
            return JsonType({})
        try:
            # NumPy style marks optional parameters in the type: `limit : int,
            # optional`.
            source = documented_type.removesuffix("optional").rstrip(" ,")
            node = ast.parse(source, mode="eval").body
            return self.types.read(self.module, node)
        except (UnknownTypeError, SyntaxError, ValueError, RecursionError, MemoryError):
            return JsonType({})

    def _add_default(
        self, argument: ast.arg, default: ast.expr, schema: dict[str, Any]
    ) -> None:
        name = argument.arg
        try:
            value = evaluate_default(self.types, self.module, default)
        except UnknownTypeError as error:
            self._note(argument, f"the default of `{name}` is omitted: {error}")
            return
        if is_valid_value(self.types.add_definitions(schema), value):
            schema["default"] = value
        # A default of None that the type does not allow is omitted without a note: it
        # often only means "optional".
        elif value is not None:
            self._note(
                argument,
                f"the default of `{name}` is omitted: `{format_expression(default)}` does"
                " not match its type",
            )

    def _read_result(self) -> tuple[dict[str, Any] | None, bool]:
        """Return the schema of the result, and whether a result is returned unchanged.

        The schema is None for a result that is not a class with known fields.
        """
        node = self.node.returns
        if node is None:
            return None, True
        try:
            # A new reader, because the notes on TypedDicts are only about parameters.
            types = TypeReader(self.types.names, read_class)
            json_type = types.read(self.module, node)
        except UnknownTypeError as error:
            self._note(
                node,
                f"the result `{format_expression(node)}` is not described: {error}",
            )
            return None, True
        needs_conversion = (
            json_type.fit is Fit.CONVERTED or json_type.needs_python_values
        )
        if not json_type.is_class:
            return None, not needs_conversion
        schema = types.add_definitions(types.resolve_definition(json_type.schema))
        return remove_formats(schema), not needs_conversion

    def _note_pydantic_requirements(self) -> None:
        """Add notes on annotations that pydantic cannot use at run time.

        These are TypedDicts of `typing`, and names that are imported under
        `TYPE_CHECKING`.
        """
        for name in dict.fromkeys(self.types.typed_dicts):
            self._note(
                self.node,
                f"pydantic supports `{name}`, a TypedDict of `typing`, only from Python"
                " 3.12 on: import TypedDict from typing_extensions",
            )
        signature = self.node.args
        type_checking_names = _list_type_checking_names(self.module)
        for argument in [*signature.args, *signature.kwonlyargs]:
            for node in ast.walk(argument.annotation) if argument.annotation else ():
                if isinstance(node, ast.Name) and node.id in type_checking_names:
                    self._note(
                        argument,
                        f"pydantic needs `{node.id}` at run time, and it is imported"
                        " under `TYPE_CHECKING`: import it unconditionally",
                    )

    def _reject(self, node: ast.AST, reason: str, help_: str) -> None:
        self.reasons.append((f"{self._get_location(node)}: {reason}", help_))

    def _note(self, node: ast.AST, text: str) -> None:
        self.notes.append(f"{self._get_location(node)}: {text}")

    def _get_location(self, node: ast.AST) -> str:
        return f"{self.file}:{getattr(node, 'lineno', self.node.lineno)}"


def _list_type_checking_names(module: PythonModule) -> frozenset[str]:
    """Return the names that a module binds under `if TYPE_CHECKING`."""
    names: set[str] = set()
    for node in ast.walk(module.tree) if module.tree is not None else ():
        if isinstance(node, ast.If) and get_last_name(node.test) == "TYPE_CHECKING":
            names.update(collect_bindings(node.body, module))
    return frozenset(names)


def _describe_missing_function(module: PythonModule, name: str) -> tuple[str, str]:
    """Return the message and the help for a function that a module does not define."""
    message = f"{module.file} has no function `{name}`"
    for binding in module.bindings.get(name, ()):
        if isinstance(binding.value, ImportedName):
            source = f"{binding.value.module}:{binding.value.name or ''}"
            help_ = f"`{name}` is imported: use the module that defines it, `{source}`"
            return message, help_
    if name in module.bindings.classes:
        help_ = f"`{name}` is a class: write a function that creates an instance"
        return message, help_
    for class_ in module.bindings.classes.values():
        if name in collect_bindings(class_.body, module).functions:
            help_ = (
                f"`{class_.name}.{name}` is a method, which needs `self`: write a"
                " function that calls it"
            )
            return message, help_
    return message, did_you_mean(name, sorted(module.bindings.functions))


def _is_plain_default(node: ast.expr | None) -> bool:
    """Return whether there is no default, or a literal string, number or boolean."""
    if node is None:
        return True
    value, is_literal = _evaluate_default(node)
    return is_literal and isinstance(value, str | int | float)


def _evaluate_default(node: ast.expr | None) -> tuple[Any, bool]:
    """Return the value of a default, and whether the default is a literal.

    The value of other expressions is None. No default counts as the literal None.
    """
    if node is None:
        return None, True
    try:
        return evaluate_literal(node), True
    except UnknownTypeError:
        return None, False
