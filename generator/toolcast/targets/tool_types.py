"""`tools/<tool>.py`: the types of a tool's arguments, results and handler.

They are flat: what a parameter is made of is `dict[str, Any]` or `list[...]`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from toolcast_runtime.tools.module_names import module_name

from ..encoders.code import Code
from ..encoders.names import class_name, is_keyword_argument
from ..encoders.python import identifier, imported, modules_imported, words
from ..encoders.python_types import (
    Type,
    annotation,
    callable_with,
    fields,
    literal_of,
    named,
    named_in,
    one_of,
    parameters,
    subscript,
    typed_dict,
    union,
)
from ..model.model import Toolset, ToolSpec
from ..rendering.output_shape import PythonShape
from .target import Context, header

__all__ = ["shown_types", "types_file"]

_SCALARS = {
    "string": named("str"),
    "integer": named("int"),
    "number": named("float"),
    "boolean": named("bool"),
    "null": named("None"),
    "object": named("dict[str, Any]"),
}
_ANY = named("Any")
# A field of such a name would be what the types of the fields below it mean.
_TYPE_WORDS = frozenset(
    [
        "str",
        "int",
        "float",
        "bool",
        "None",
        "list",
        "dict",
        "Any",
        "Literal",
        "NotRequired",
        "Union",
    ]
)
_MAX_DEPTH = 8
_MOST_STEPS = 50_000
"""References can fan out; what is not resolved by then is Any, which is true as well."""


class DictView(NamedTuple):
    """A TypedDict: a class, or a call where no class can have its names."""

    name: Code
    is_class: bool
    has_fields: bool
    fields: Code
    call: Code


class AliasView(NamedTuple):
    """A name for a type."""

    name: Code
    type: Code


class HandlerView(NamedTuple):
    """The function that does a tool's work, and what it may be."""

    imported: Code
    name: Code
    type: Code


class TypesView(NamedTuple):
    """The types of one tool."""

    header: Code
    name: Code
    definition: Code
    imports_callable: bool
    typing_import: Code
    arguments: DictView
    has_result: bool
    result: DictView | None
    has_result_alias: bool
    result_alias: AliasView | None
    handler_class: Code
    parameters: Code
    has_resources: bool
    resource_imports: Code
    has_mapping_handler: bool
    mapping_handler_class: Code
    mapping_parameters: Code
    has_handler: bool
    handler: HandlerView | None
    shape: PythonShape


def types_file(toolset: Toolset, tool: ToolSpec, context: Context) -> tuple[str, bytes]:
    """The path and the bytes of the types of a tool."""
    view = _types_view(toolset, tool)
    path = f"tools/{module_name(tool.name)}.py"
    return path, context.render("registry/tool.py.jinja", view)


def _types_view(toolset: Toolset, tool: ToolSpec) -> TypesView:
    types = _Types(tool.parameters)
    name = class_name(tool.name)
    typed = types.of_properties(tool.parameters)
    required = _required(tool.parameters)
    arguments = _dict_view(f"{name}Arguments", typed, required, types)
    # What a class can have as its fields can be keywords, too.
    has_keywords = arguments.is_class or all(map(is_keyword_argument, typed))
    result, result_alias = _result(f"{name}Result", tool.returns, types)
    mapping = {"arguments": named(f"{name}Arguments")}
    place = ("    def __call__", " -> object: ...")
    used = {key: toolset.resources[key] for key in tool.uses}
    resources = {
        key: named_in(type_.module, type_.function) for key, type_ in used.items()
    }
    by_mapping = parameters(mapping, None, *place, resources)
    taken = by_mapping
    if has_keywords:
        taken = parameters(typed, required, *place, resources)
    # The types are of JSON: they say nothing of a handler that is given other values.
    is_typed = toolset.has_python_values(tool) or tool.arguments_type is not None
    is_typed = is_typed or tool.result_type is not None
    handler = None if is_typed else _handler(tool, name, has_keywords)
    has_either = handler is not None and has_keywords
    names = {"Protocol", *types.names}
    if handler is not None or used:
        names.add("TYPE_CHECKING")
    return TypesView(
        header=header(f"{toolset.folder}/{tool.name}.yaml"),
        name=words(tool.name),
        definition=words(f"{module_name(tool.name)}.json"),
        imports_callable=has_either and not used,
        typing_import=imported("typing", _sorted_names(names)),
        arguments=arguments,
        has_result=result is not None,
        result=result,
        has_result_alias=result_alias is not None,
        result_alias=result_alias,
        handler_class=identifier(f"{name}Handler"),
        parameters=taken,
        has_resources=bool(used),
        resource_imports=modules_imported(
            sorted({type_.module for type_ in used.values()}), indent=4
        ),
        has_mapping_handler=has_either and bool(used),
        mapping_handler_class=identifier(f"{name}MappingHandler"),
        mapping_parameters=by_mapping,
        has_handler=handler is not None,
        handler=handler,
        shape=_shape(name, arguments, result, result_alias, handler, has_either, used),
    )


def shown_types(schema: Any) -> dict[str, str]:
    """The generated type of each property of a schema; that of the whole under "".

    A property that may be left out has a question mark behind its type.
    """
    types = _Types(schema)
    required = _required(schema)
    shown = {
        name: str(type_.flat) + ("" if name in required else "?")
        for name, type_ in types.of_properties(schema).items()
    }
    return {**shown, "": str(types.of(schema).flat)}


_EMPTY = words("")


def _sorted_names(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: (not name.isupper(), name))


def _required(schema: Any) -> frozenset[str]:
    listed = schema.get("required") if isinstance(schema, dict) else None
    if not isinstance(listed, list):
        return frozenset()
    return frozenset(name for name in listed if isinstance(name, str))


def _dict_view(
    name: str, typed: dict[str, Type], required: frozenset[str], types: _Types
) -> DictView:
    types.names.add("TypedDict")
    is_class = all(
        is_keyword_argument(key) and not key.startswith("_") and key not in _TYPE_WORDS
        for key in typed
    )
    members = {
        key: type_ if key in required else types.not_required(type_)
        for key, type_ in typed.items()
    }
    if not is_class:
        call = typed_dict(members, f"{name} = ")
        return DictView(identifier(name), False, False, _EMPTY, call)
    shown = fields(members, indent=4)
    return DictView(identifier(name), True, bool(members), shown, _EMPTY)


def _result(
    name: str, schema: Any, types: _Types
) -> tuple[DictView | None, AliasView | None]:
    """A TypedDict of a result that is an object, else a name for its type."""
    if not isinstance(schema, dict):
        return None, None
    own = _Types(schema)
    typed = own.of_properties(schema)
    is_object = schema.get("type", "object") == "object" and bool(typed)
    if is_object:
        view = _dict_view(name, typed, _required(schema), own)
        types.names |= own.names
        return view, None
    type_ = own.of(schema)
    if type_.flat == "Any":
        return None, None
    alias = AliasView(identifier(name), annotation(type_, f"{name}: TypeAlias = "))
    types.names |= {"TypeAlias", *own.names}
    return None, alias


def _handler(tool: ToolSpec, name: str, has_keywords: bool) -> HandlerView | None:
    if tool.handler is None:
        return None
    kinds = [named(f"{name}Handler")]
    if has_keywords:
        mapping = callable_with(named(f"{name}Arguments"))
        kinds.append(named(f"{name}MappingHandler") if tool.uses else mapping)
    return HandlerView(
        imported(tool.handler.module, [tool.handler.function], indent=4),
        identifier(tool.handler.function),
        one_of(kinds, "    _handler: "),
    )


def _shape(
    name: str,
    arguments: DictView,
    result: DictView | None,
    result_alias: AliasView | None,
    handler: HandlerView | None,
    has_either: bool,
    used: Collection[str],
) -> PythonShape:
    statements = ["docstring", "from __future__"]
    if has_either and not used:
        statements.append("from collections.abc")
    statements.append("from typing")
    if used:
        statements.append("if TYPE_CHECKING")
    statements += _dict_statements(arguments)
    if result is not None:
        statements += _dict_statements(result)
    if result_alias is not None:
        statements += [f"{result_alias.name}:", "docstring"]
    statements.append(f"class {name}Handler")
    if has_either and used:
        statements.append(f"class {name}MappingHandler")
    if handler is not None:
        statements.append("if TYPE_CHECKING")
    return PythonShape(tuple(statements), frozenset(["TypedDict"]))


def _dict_statements(view: DictView) -> list[str]:
    if view.is_class:
        return [f"class {view.name}"]
    return [f"{view.name} =", "docstring"]


class _Types:
    """The types of one schema.

    Attributes:
        names: what they need of `typing`.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self.names: set[str] = set()
        self._steps = 0

    def of_properties(self, schema: Any) -> dict[str, Type]:
        """The types of the properties of an object; also of those only `required` names."""
        properties = schema.get("properties") if isinstance(schema, dict) else None
        found = properties if isinstance(properties, dict) else {}
        typed = {key: self.of(value) for key, value in found.items()}
        for key in sorted(_required(schema) - typed.keys()):
            typed[key] = self.any()
        return typed

    def any(self) -> Type:
        self.names.add("Any")
        return _ANY

    def not_required(self, type_: Type) -> Type:
        self.names.add("NotRequired")
        return subscript("NotRequired", [type_])

    def of(self, schema: Any, depth: int = 0) -> Type:
        """The type of what a schema lets through; Any where Python cannot say it."""
        self._steps += 1
        if (
            not isinstance(schema, dict)
            or depth > _MAX_DEPTH
            or self._steps > _MOST_STEPS
        ):
            return self.any()
        if isinstance(schema.get("$ref"), str):
            return self.of(self._resolve(schema["$ref"]), depth + 1)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and choices:
            return self._literal(choices)
        for keyword in ("anyOf", "oneOf"):
            members = schema.get(keyword)
            if isinstance(members, list) and members:
                return self._union([self.of(member, depth + 1) for member in members])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._union(
                [self.of({**schema, "type": one}, depth + 1) for one in kind]
            )
        if kind == "array":
            item = self.of(schema.get("items"), depth + 1)
            return subscript("list", [item])
        if kind in _SCALARS:
            if kind == "object":
                self.names.add("Any")
            return _SCALARS[kind]
        return self.any()

    def _resolve(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        target: Any = self.root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or step not in target:
                return None
            target = target[step]
        return target

    def _literal(self, choices: list[Any]) -> Type:
        literals = [c for c in choices if isinstance(c, (str, bool, int)) or c is None]
        if len(literals) != len(choices):
            return self.any()
        if all(choice is None for choice in literals):
            return _SCALARS["null"]
        self.names.add("Literal")
        distinct = list({(type(c), c): c for c in literals}.values())
        return literal_of(distinct)

    def _union(self, members: list[Type]) -> Type:
        if any(member.flat == "Any" for member in members):
            return self.any()
        return union(members, self.names)
