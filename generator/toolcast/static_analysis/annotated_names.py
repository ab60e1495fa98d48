"""Types that annotations in source code name, and whether they are mappings."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from ..suggestions import format_quoted_list
from .literals import UnknownTypeError
from .module_names import Definition, ModuleNames
from .modules import PythonModule

# The maximum number of nested types, aliases and base classes that are followed.
_MAX_DEPTH = 12
_CANONICAL_NAMES = {
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
_MAPPINGS = frozenset(
    [
        "builtins.dict",
        "typing.Mapping",
        "typing.TypedDict",
        "typing_extensions.TypedDict",
        "types.MappingProxyType",
        *(
            f"collections.{name}"
            for name in ("ChainMap", "Counter", "OrderedDict", "UserDict")
        ),
        *(
            f"typing.{name}"
            for name in ("ChainMap", "Counter", "DefaultDict", "OrderedDict")
        ),
        "collections.defaultdict",
    ]
)
"""Types, and base classes, that make a parameter receive all arguments as a mapping."""
_GENERATED_TYPE = re.compile(r"\.(tools|mcp_resources|mcp_prompts)\.\w+\.\w+Arguments$")


class Annotation(NamedTuple):
    """The outermost type of an annotation.

    Attributes:
        meaning: the dotted name of the type, without deprecated aliases
            (`builtins.list` for `typing.List`); `None`; `typing.Union` for a union in
            any notation; a class or assigned value of the project; None if it is
            unknown.
        arguments: the type arguments, or the operands of `|`.
        node: the expression, without quotes.
    """

    meaning: Definition | str | None
    arguments: tuple[ast.expr, ...]
    node: ast.expr


def read_annotation(
    names: ModuleNames, module: PythonModule, node: ast.expr
) -> Annotation:
    """Return the outermost type of an annotation in a module.

    An annotation in quotes is parsed.

    Raises:
        UnknownTypeError: the text in quotes is not an expression.
    """
    while isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = _parse_expression(node.value)
    if isinstance(node, ast.Constant) and node.value is None:
        return Annotation("None", (), node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return Annotation("typing.Union", (node.left, node.right), node)
    if not isinstance(node, ast.Subscript):
        return Annotation(resolve_type(names, module, node), (), node)
    argument = node.slice
    arguments: tuple[ast.expr, ...] = (argument,)
    if isinstance(argument, ast.Tuple):
        arguments = tuple(argument.elts)
    return Annotation(resolve_type(names, module, node.value), arguments, node)


def resolve_type(
    names: ModuleNames, module: PythonModule, node: ast.expr
) -> Definition | str | None:
    """Return the type that a name or attribute refers to; see `Annotation.meaning`.

    None for a function, an unknown name, and a name with several meanings.
    """
    definition = names.resolve_unambiguous(module, node)
    if definition is None:
        return None
    if definition.kind not in ("external", "module"):
        # A function is not a type.
        return None if definition.function else definition
    name = definition.name
    for prefix in ("typing_extensions.", "collections.abc."):
        # pydantic treats `typing.TypedDict` and `typing_extensions.TypedDict`
        # differently.
        if name.startswith(prefix) and not name.endswith(".TypedDict"):
            name = f"typing.{name.removeprefix(prefix)}"
    return _CANONICAL_NAMES.get(name, name)


def find_type_name(
    names: ModuleNames, module: PythonModule, node: ast.expr, depth: int = 0
) -> str | None:
    """Return the dotted name of an annotation's class; None if there is none.

    In `X | None`, `Optional[X]` and `Annotated[X, ...]`, the first known class is
    returned.
    """
    try:
        annotation = read_annotation(names, module, node)
    except UnknownTypeError:
        return None
    meaning = annotation.meaning
    if meaning in ("typing.Optional", "typing.Union", "typing.Annotated"):
        for argument in annotation.arguments if depth < _MAX_DEPTH else ():
            name = find_type_name(names, module, argument, depth + 1)
            if name is not None:
                return name
        return None
    if isinstance(meaning, Definition):
        return f"{meaning.module.name}.{meaning.name}"
    return None if meaning == "None" else meaning


def is_mapping(
    names: ModuleNames,
    module: PythonModule,
    node: ast.expr,
    generated_package: str,
    depth: int = 0,
) -> bool:
    """Return whether an annotation is a mapping or a TypedDict.

    Aliases, base classes and `NewType` are followed. A union is a mapping if all its
    members except None are.

    Args:
        names: the names of the project's modules.
        module: the module that contains the annotation.
        node: the annotation.
        generated_package: the package of generated types, which may not exist yet.
        depth: the number of aliases and base classes that were followed.
    """
    if depth > _MAX_DEPTH:
        return False
    try:
        meaning, arguments, _ = read_annotation(names, module, node)
    except UnknownTypeError:
        return False

    def is_mapping_node(node: ast.expr, module: PythonModule = module) -> bool:
        return is_mapping(names, module, node, generated_package, depth + 1)

    if meaning in ("typing.Annotated", "typing.Optional"):
        return is_mapping_node(arguments[0])
    if meaning == "typing.Union":
        members = [n for n in arguments if not _is_none(n)]
        return bool(members) and all(map(is_mapping_node, members))
    if isinstance(meaning, str):
        prefix = f"{generated_package}." if generated_package else ""
        # Recognize a generated type by its name, because the code may not have been
        # generated yet.
        is_generated = meaning.startswith(prefix) and _GENERATED_TYPE.search(meaning)
        return meaning in _MAPPINGS or bool(is_generated)
    if meaning is None:
        return False
    if meaning.class_ is not None:
        bases = meaning.class_.bases
        return any(is_mapping_node(base, meaning.module) for base in bases)
    value = meaning.value
    if not isinstance(value, ast.Call):
        return value is not None and is_mapping_node(value, meaning.module)
    # The type can be defined by a call: `NewType("Name", dict)` or `TypedDict("Name",
    # {...})`.
    is_new_type = resolve_type(names, meaning.module, value.func) == "typing.NewType"
    base = value.args[-1] if is_new_type and value.args else value.func
    return is_mapping_node(base, meaning.module)


def _parse_expression(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnknownTypeError(
            f"{format_quoted_list([text[:60]])} is not a valid Python type annotation"
        ) from None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
