"""Possible values of string expressions at run time, as far as the source shows them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from .module_names import Definition
from .modules import PLACEHOLDER, get_last_name
from .resolver import ExpressionScope

ANY_INDEX = ast.Constant(None)
"""The index that stands for any item, as in a loop over all items."""

# Limits for one expression: its possible values, the expressions that are visited for
# them, and the length of a followed chain. More values are dropped.
_MAX_STRINGS = 24
_MAX_LOOKUPS = 400
_MAX_STEPS = 25
_PERCENT_FIELD = re.compile(r"%(?:\((\w+)\))?[#0\- +]*[\d.*]*[a-zA-Z]")
_BRACE_FIELD = re.compile(r"\{(\w*)[^{}]*\}")
_DOLLAR_FIELD = re.compile(r"\$\{?(\w+)\}?")
# Functions that return the text of their first argument.
_IDENTITY_FUNCTIONS = frozenset(
    "str text SQL Identifier literal literal_column dedent cleandoc quote URL fspath Template".split()
)
# Methods that return the text of their object, except for details such as case.
_IDENTITY_METHODS = frozenset(
    "strip lstrip rstrip lower upper casefold title encode decode as_posix resolve absolute"
    " expanduser as_uri".split()
)
_STRING_ANNOTATIONS = frozenset(
    "str Any object LiteralString Optional Annotated Literal Union Final".split()
)
_FORMAT_METHODS = frozenset(["format", "substitute", "safe_substitute"])
_TEMPLATE_METHODS = _FORMAT_METHODS | {"replace"}
_PATH_CLASSES = frozenset("Path PurePath PosixPath PurePosixPath".split())
# Functions whose result has the items of the argument.
_CONTAINER_FUNCTIONS = frozenset(
    "sorted list tuple set frozenset reversed iter".split()
)

_ScopedNode = tuple[ast.expr, ExpressionScope]
"""An expression, and the scope in which its names are resolved."""


def build_item(container: ast.expr, index: ast.expr = ANY_INDEX) -> ast.expr:
    """Return the expression `container[index]`; by default, for any item."""
    return ast.copy_location(ast.Subscript(container, index, ast.Load()), container)


def bind_loop_target(
    target: ast.expr, items: ast.expr
) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield each name that a loop over items binds, with its value; None if unknown.

    Args:
        target: the target after `for`: a name, or a tuple of names.
        items: the expression after `in`.
    """
    if isinstance(target, ast.Name):
        yield target.id, build_item(items)
    elif isinstance(target, ast.Starred):
        yield from bind_loop_target(target.value, items)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            if isinstance(element, ast.Name):
                yield element.id, _build_target_part(items, index)
                continue
            for node in ast.walk(element):
                if isinstance(node, ast.Name):
                    yield node.id, None


def _build_target_part(items: ast.expr, index: int) -> ast.expr | None:
    """Return the value of element `index` of a loop's tuple target; None if unknown.

    The calls `mapping.items()`, `enumerate(items)` and `zip(a, b)` are supported; other
    items are read as tuples.
    """
    if isinstance(items, ast.Call):
        arguments = items.args
        if isinstance(items.func, ast.Attribute) and items.func.attr == "items":
            mapping = items.func.value
            if index:
                # The key is unknown here, so this is any value of the mapping.
                return build_item(mapping, ast.Name("", ast.Load()))
            keys = ast.Call(ast.Name("list", ast.Load()), [mapping], [])
            return build_item(ast.copy_location(keys, items))
        name = get_last_name(items.func)
        if name == "enumerate" and arguments:
            return build_item(arguments[0]) if index else None
        if name == "zip" and index < len(arguments):
            return build_item(arguments[index])
    return build_item(build_item(items), ast.Constant(index))


def find_template(node: ast.AST) -> ast.expr | None:
    """Return the template that an expression fills, such as `"%s"` in `"%s" % x`.

    None for an expression that fills no template.
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return node.left
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in _TEMPLATE_METHODS:
        return function.value
    return None


def find_strings(node: ast.expr, scope: ExpressionScope) -> tuple[str, ...]:
    """Return the possible values of a string expression, each once.

    Unknown parts of a value are `PLACEHOLDER`. Empty if the expression is not a string,
    or if its value is completely unknown.
    """
    return _StringFinder().find(node, scope, _MAX_STEPS)


class _StringFinder:
    def __init__(self) -> None:
        self._remaining_lookups = _MAX_LOOKUPS

    def find(
        self, node: ast.expr, scope: ExpressionScope, steps: int
    ) -> tuple[str, ...]:
        self._remaining_lookups -= 1
        if steps <= 0 or self._remaining_lookups <= 0:
            return ()
        if isinstance(node, ast.Constant):
            return (node.value,) if isinstance(node.value, str) else ()
        strings = dict.fromkeys(self._evaluate(node, scope, steps - 1))
        return tuple(strings)[:_MAX_STRINGS]

    def _evaluate(
        self, node: ast.expr, scope: ExpressionScope, steps: int
    ) -> Iterable[str]:
        if isinstance(node, ast.JoinedStr):
            return self._concatenate("", node.values, scope, steps)
        if isinstance(node, ast.FormattedValue):
            return self.find(node.value, scope, steps) or (PLACEHOLDER,)
        if isinstance(node, ast.BinOp):
            return self._evaluate_operation(node, scope, steps)
        if isinstance(node, ast.Call):
            return self._evaluate_call(node, scope, steps)
        if isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred)):
            return self.find(node.value, scope, steps)
        if isinstance(node, ast.IfExp):
            return self._evaluate_all((node.body, node.orelse), scope, steps)
        if isinstance(node, ast.BoolOp):
            return self._evaluate_all(node.values, scope, steps)
        if isinstance(node, ast.Subscript):
            return [
                string
                for item, item_scope in self._find_items(node, scope, steps)
                for string in self.find(item, item_scope, steps)
            ]
        if isinstance(node, (ast.Name, ast.Attribute)):
            assigned = scope.find_assigned(node)
            return () if assigned is None else self.find(*assigned, steps)
        return ()

    def _evaluate_all(
        self, nodes: Iterable[ast.expr], scope: ExpressionScope, steps: int
    ) -> Iterator[str]:
        for node in nodes:
            yield from self.find(node, scope, steps)

    def _concatenate(
        self,
        separator: str,
        parts: Iterable[ast.expr],
        scope: ExpressionScope,
        steps: int,
    ) -> list[str]:
        """Return all combinations of the parts' values, joined by a separator.

        An unknown part is `PLACEHOLDER`; at most `_MAX_STRINGS` combinations are
        returned.
        """
        results = [""]
        for number, part in enumerate(parts):
            strings = self.find(part, scope, steps) or (PLACEHOLDER,)
            gap = separator if number else ""
            pairs = product(results, strings)
            results = [_join(left, gap, right) for left, right in pairs][:_MAX_STRINGS]
        return results

    def _evaluate_operation(
        self, node: ast.BinOp, scope: ExpressionScope, steps: int
    ) -> Iterable[str]:
        left = self.find(node.left, scope, steps)
        if isinstance(node.op, ast.Mod):
            right = node.right
            if isinstance(right, ast.Dict):
                named = _get_string_keys(right)
                return self._fill(_PERCENT_FIELD, left, [], named, scope, steps)
            values = right.elts if isinstance(right, ast.Tuple) else [right]
            return self._fill(_PERCENT_FIELD, left, values, {}, scope, steps)
        if not isinstance(node.op, (ast.Add, ast.Div)):
            return ()
        right_strings = self.find(node.right, scope, steps)
        if not (left or right_strings):
            return ()
        # `/` between path objects joins the parts of a path.
        gap = "/" if isinstance(node.op, ast.Div) else ""
        pairs = product(left or (PLACEHOLDER,), right_strings or (PLACEHOLDER,))
        return [_join(first, gap, second) for first, second in pairs]

    def _fill(
        self,
        field: re.Pattern[str],
        templates: Iterable[str],
        positional: list[ast.expr],
        named: Mapping[str, ast.expr],
        scope: ExpressionScope,
        steps: int,
    ) -> list[str]:
        """Return templates with their replacement fields filled by position or name.

        A field without a known value becomes `PLACEHOLDER`.
        """
        results: list[str] = []
        for template in templates:
            next_index = 0
            filled, end = [""], 0
            for match in field.finditer(template):
                name = match[1] or ""
                value: ast.expr | None = named.get(name)
                if value is None and (not name or name.isdecimal()):
                    # More than three digits cannot be the index of an argument.
                    has_index = name.isdecimal() and len(name) < 4
                    index = int(name) if has_index else next_index
                    value = positional[index] if index < len(positional) else None
                    next_index += 1
                strings = self.find(value, scope, steps) if value is not None else ()
                text = template[end : match.start()]
                pairs = product(filled, strings or (PLACEHOLDER,))
                filled = [left + text + right for left, right in pairs][:_MAX_STRINGS]
                end = match.end()
            results += [string + template[end:] for string in filled]
        return results

    def _evaluate_call(
        self, node: ast.Call, scope: ExpressionScope, steps: int
    ) -> Iterable[str]:
        function, arguments = node.func, node.args
        name = get_last_name(function)
        if name in _PATH_CLASSES or name == "urljoin":
            return self._concatenate("/", arguments, scope, steps) if arguments else ()
        if name in _IDENTITY_FUNCTIONS and arguments:
            return self.find(arguments[0], scope, steps)
        if not isinstance(function, ast.Attribute):
            return self._evaluate_own_function(node, scope, steps)
        owner = function.value
        if name in _IDENTITY_METHODS:
            return self.find(owner, scope, steps)
        if name in _FORMAT_METHODS:
            named = {k.arg: k.value for k in node.keywords if k.arg is not None}
            field = _BRACE_FIELD if name == "format" else _DOLLAR_FIELD
            templates = self.find(owner, scope, steps)
            return self._fill(field, templates, arguments, named, scope, steps)
        if name == "join":
            return self._evaluate_join(owner, arguments, scope, steps)
        if name == "joinpath":
            return self._concatenate("/", [owner, *arguments], scope, steps)
        if name == "replace" and len(arguments) == 2:
            return [
                string.replace(old, new)
                for string in self.find(owner, scope, steps)
                for old in self.find(arguments[0], scope, steps)
                for new in self.find(arguments[1], scope, steps) or (PLACEHOLDER,)
                if old
            ]
        if name == "get" and arguments:
            # `mapping.get(key, default)` returns the value of the key, or the default.
            values = self.find(build_item(owner, arguments[0]), scope, steps)
            return [*values, *self._evaluate_all(arguments[1:], scope, steps)]
        return self._evaluate_own_function(node, scope, steps)

    def _evaluate_join(
        self,
        owner: ast.expr,
        arguments: list[ast.expr],
        scope: ExpressionScope,
        steps: int,
    ) -> Iterable[str]:
        """Return the possible values of `separator.join(items)`.

        A call with an unknown separator and several arguments is taken for
        `os.path.join(a, b)`.
        """
        separators = self.find(owner, scope, steps)
        if not separators:
            is_path_join = len(arguments) > 1
            return (
                self._concatenate("/", arguments, scope, steps) if is_path_join else ()
            )
        if len(arguments) != 1:
            return ()
        containers = self._find_containers(arguments[0], scope, steps)
        return [
            string
            for separator in separators
            for literal, literal_scope in containers
            if isinstance(literal, (ast.List, ast.Tuple))
            for string in self._concatenate(
                separator, literal.elts, literal_scope, steps
            )
        ]

    def _evaluate_own_function(
        self, node: ast.Call, scope: ExpressionScope, steps: int
    ) -> Iterable[str]:
        """Yield the values that a call of a function of the package can return.

        Nothing for other functions.
        """
        called = scope.resolve(node.func)
        if called is None or called.function is None or called.kind != "function":
            return
        if not _may_return_string(called.function.returns):
            return
        body = scope.resolver.get_body(called)
        if not body.returned:
            return
        names, aliases = self._bind_arguments(called, node, scope, steps)
        body_scope = ExpressionScope(scope.resolver, called.module, names, aliases)
        for value in body.returned:
            yield from self.find(value, body_scope, steps)

    def _bind_arguments(
        self, called: Definition, node: ast.Call, scope: ExpressionScope, steps: int
    ) -> tuple[dict[str, Definition], dict[str, ast.expr]]:
        """Return the names and the aliases in a called function's scope.

        Parameters with a known string argument are aliases of its possible values.
        """
        names: dict[str, Definition] = {}
        if called.function is None:
            return {}, {}
        signature = called.function.args
        positional = [a.arg for a in [*signature.posonlyargs, *signature.args]]
        if called.class_ is not None and positional:
            class_ = called.class_
            names[positional.pop(0)] = Definition(
                "instance", called.module, class_.name, class_=class_
            )
        body = scope.resolver.get_body(called)
        aliases: dict[str, ast.expr] = dict(body.assignments)
        arguments = dict(zip(positional, node.args, strict=False))
        arguments |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        for name in (*positional, *(a.arg for a in signature.kwonlyargs)):
            names[name] = Definition("unknown", called.module, name)
            if name in arguments:
                strings = self.find(arguments[name], scope, steps)
                if strings:
                    # A parameter can have any of the argument's possible values.
                    aliases[name] = build_item(_build_list(strings))
        return names, aliases

    def _find_items(
        self, node: ast.Subscript, scope: ExpressionScope, steps: int
    ) -> list[_ScopedNode]:
        """Return the items of literals that a subscript can refer to.

        These are all items if the index is unknown; empty if the literals are unknown.
        """
        containers = self._find_containers(node.value, scope, steps)
        return [
            (item, literal_scope)
            for literal, literal_scope in containers
            for item in _select_items(literal, node.slice)
        ]

    def _find_containers(
        self, node: ast.expr, scope: ExpressionScope, steps: int
    ) -> list[_ScopedNode]:
        """Return the literals that can have the items of an expression, with scopes.

        Empty if the items are unknown.
        """
        self._remaining_lookups -= 1
        if steps <= 0 or self._remaining_lookups <= 0:
            return []
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            return [(node, scope)]
        if isinstance(node, (ast.Name, ast.Attribute)):
            assigned = scope.find_assigned(node)
            return self._find_containers(*assigned, steps - 1) if assigned else []
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            aliases = dict(scope.aliases)
            for loop in node.generators:
                for name, value in bind_loop_target(loop.target, loop.iter):
                    if value is not None:
                        aliases[name] = value
            strings = self.find(node.elt, replace(scope, aliases=aliases), steps - 1)
            return [(_build_list(strings), scope)] if strings else []
        if isinstance(node, ast.Subscript):
            return [
                container
                for item in self._find_items(node, scope, steps - 1)
                for container in self._find_containers(*item, steps - 1)
            ]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):
            elements = [
                element
                for operand in (node.left, node.right)
                for literal, _ in self._find_containers(operand, scope, steps - 1)
                for element in _list_elements(literal)
            ]
            return [(ast.List(elements, ast.Load()), scope)] if elements else []
        if isinstance(node, ast.Call):
            return self._find_returned_containers(node, scope, steps - 1)
        return []

    def _find_returned_containers(
        self, node: ast.Call, scope: ExpressionScope, steps: int
    ) -> list[_ScopedNode]:
        """Return literals with the items of a call's result, as for `text.split()`.

        Empty if the call is not supported, or if the items are unknown.
        """
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in _CONTAINER_FUNCTIONS and node.args:
                containers = self._find_containers(node.args[0], scope, steps)
                return [_convert_to_keys(container) for container in containers]
            if function.id == "dict" and node.keywords:
                keywords = [k for k in node.keywords if k.arg is not None]
                keys = [ast.Constant(k.arg) for k in keywords]
                return [(ast.Dict([*keys], [k.value for k in keywords]), scope)]
        if isinstance(function, ast.Attribute):
            if function.attr in ("split", "splitlines"):
                words: list[str] = []
                for string in self.find(function.value, scope, steps):
                    words += string.replace(",", " ").split()
                return [(_build_list(words), scope)] if words else []
            if function.attr in ("keys", "values", "copy"):
                containers = self._find_containers(function.value, scope, steps)
                if function.attr == "keys":
                    return [_convert_to_keys(container) for container in containers]
                if function.attr == "values":
                    return [
                        (ast.List(_list_elements(literal), ast.Load()), literal_scope)
                        for literal, literal_scope in containers
                    ]
                return containers
        return []


def _build_list(strings: Iterable[str]) -> ast.List:
    return ast.List([ast.Constant(string) for string in strings], ast.Load())


def _join(left: str, gap: str, right: str) -> str:
    # Paths and URLs have exactly one slash between two parts.
    if gap == "/":
        return f"{left.rstrip('/')}/{right.lstrip('/')}"
    return left + gap + right


def _may_return_string(annotation: ast.expr | None) -> bool:
    """Return whether the annotation of a function's result allows a string.

    True without an annotation.
    """
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.Name):
        return annotation.id in _STRING_ANNOTATIONS
    return not (isinstance(annotation, ast.Constant) and annotation.value is None)


def _get_string_keys(literal: ast.Dict) -> dict[str, ast.expr]:
    """Return the values of a dictionary literal by key, for keys that are literals."""
    return {
        key.value: value
        for key, value in zip(literal.keys, literal.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _convert_to_keys(container: _ScopedNode) -> _ScopedNode:
    """Convert a dictionary literal to a list literal of its keys.

    Other literals are returned unchanged.
    """
    literal, scope = container
    if not isinstance(literal, ast.Dict):
        return container
    keys = [key for key in literal.keys if key is not None]
    return ast.List(keys, ast.Load()), scope


def _select_items(literal: ast.expr, index_node: ast.expr) -> list[ast.expr]:
    """Return the items of a literal at an index; all items for an unknown index."""
    index = index_node.value if isinstance(index_node, ast.Constant) else None
    if not isinstance(literal, ast.Dict):
        items = _list_elements(literal)
        if isinstance(index, int) and index < len(items):
            return [items[index]]
        return items
    if index_node is ANY_INDEX:
        # A loop over a dictionary yields its keys.
        return [key for key in literal.keys if key is not None]
    item = _get_string_keys(literal).get(index) if isinstance(index, str) else None
    return [item] if item else literal.values


def _list_elements(literal: ast.expr) -> list[ast.expr]:
    if isinstance(literal, ast.Dict):
        return literal.values
    return literal.elts if isinstance(literal, (ast.List, ast.Tuple, ast.Set)) else []
