"""The texts that expressions may have when they run, as far as the source shows."""

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
"""Index of an unspecified item, as in a loop over all items."""

# Bounds for one expression: what texts it may have, and the expressions that are looked at.
_MAX_TEXTS = 24
_MAX_LOOKUPS = 400
_STEPS = 25
_PERCENT = re.compile(r"%(?:\((\w+)\))?[#0\- +]*[\d.*]*[a-zA-Z]")
_BRACES = re.compile(r"\{(\w*)[^{}]*\}")
# What gives its first argument's text, or its own, as it is.
_SAME = frozenset(
    "str text SQL Identifier literal literal_column dedent cleandoc quote URL fspath Template".split()
)
_SAME_METHODS = frozenset(
    "strip lstrip rstrip lower upper casefold title encode decode as_posix resolve absolute"
    " expanduser as_uri".split()
)
_TEXT_TYPES = frozenset(
    "str Any object LiteralString Optional Annotated Literal Union Final".split()
)
_FILLING = frozenset(["format", "substitute", "safe_substitute", "replace"])
_PATHS = frozenset("Path PurePath PosixPath PurePosixPath".split())
# What has the items of its argument.
_CONTAINERS = frozenset("sorted list tuple set frozenset reversed iter".split())


def build_item(container: ast.expr, index: ast.expr = ANY_INDEX) -> ast.expr:
    """The expression of an item; by default of any of those that a loop goes through."""
    return ast.copy_location(ast.Subscript(container, index, ast.Load()), container)


def bind_loop_target(
    target: ast.expr, items: ast.expr
) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a loop over `items` binds, each with the expression of its value."""
    if isinstance(target, ast.Name):
        yield target.id, build_item(items)
    elif isinstance(target, ast.Starred):
        yield from bind_loop_target(target.value, items)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for index, inner in enumerate(target.elts):
            if not isinstance(inner, ast.Name):
                yield from (
                    (n.id, None) for n in ast.walk(inner) if isinstance(n, ast.Name)
                )
            else:
                yield inner.id, _part(items, index)


def _part(items: ast.expr, index: int) -> ast.expr | None:
    """The part that a loop's target number `index` gets of each item."""
    if isinstance(items, ast.Call):
        given = items.args
        if isinstance(items.func, ast.Attribute) and items.func.attr == "items":
            keys = ast.Call(ast.Name("list", ast.Load()), [items.func.value], [])
            of = items.func.value if index else ast.copy_location(keys, items)
            return build_item(of, ast.Name("", ast.Load()) if index else ANY_INDEX)
        name = get_last_name(items.func)
        if name == "enumerate" and given:
            return build_item(given[0]) if index else None
        if name == "zip" and index < len(given):
            return build_item(given[index])
    return build_item(build_item(items), ast.Constant(index))


def find_template(node: ast.AST) -> ast.expr | None:
    """The text whose holes an expression fills; None when it is no such expression."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return node.left
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in _FILLING:
        return function.value
    return None


def find_strings(node: ast.expr, place: ExpressionScope) -> tuple[str, ...]:
    """The texts that an expression may have, with `HOLE` for what is known when it runs only.

    None of them when it is no text, or nothing of its text is known.
    """
    return _Texts().of(node, place, _STEPS)


class _Texts:
    def __init__(self) -> None:
        self._left = _MAX_LOOKUPS

    def of(self, node: ast.expr, place: ExpressionScope, steps: int) -> tuple[str, ...]:
        self._left -= 1
        if steps <= 0 or self._left <= 0:
            return ()
        if isinstance(node, ast.Constant):
            return (node.value,) if isinstance(node.value, str) else ()
        return tuple(dict.fromkeys(self._found(node, place, steps - 1)))[:_MAX_TEXTS]

    def _found(
        self, node: ast.expr, place: ExpressionScope, steps: int
    ) -> Iterable[str]:
        if isinstance(node, ast.JoinedStr):
            return self._put_together("", node.values, place, steps)
        if isinstance(node, ast.FormattedValue):
            return self.of(node.value, place, steps) or (PLACEHOLDER,)
        if isinstance(node, ast.BinOp):
            return self._operation(node, place, steps)
        if isinstance(node, ast.Call):
            return self._call(node, place, steps)
        if isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred)):
            return self.of(node.value, place, steps)
        if isinstance(node, ast.IfExp):
            return self._all((node.body, node.orelse), place, steps)
        if isinstance(node, ast.BoolOp):
            return self._all(node.values, place, steps)
        if isinstance(node, ast.Subscript):
            return [
                text
                for item, where in self._items(node, place, steps)
                for text in self.of(item, where, steps)
            ]
        if isinstance(node, (ast.Name, ast.Attribute)):
            known = place.assigned(node)
            return () if known is None else self.of(*known, steps)
        return ()

    def _all(
        self, nodes: Iterable[ast.expr], place: ExpressionScope, steps: int
    ) -> Iterator[str]:
        for node in nodes:
            yield from self.of(node, place, steps)

    def _put_together(
        self,
        between: str,
        parts: Iterable[ast.expr],
        place: ExpressionScope,
        steps: int,
    ) -> list[str]:
        """Every text that the parts may make, one after the other."""
        made = [""]
        for number, part in enumerate(parts):
            texts = self.of(part, place, steps) or (PLACEHOLDER,)
            gap = between if number else ""
            made = [_joined(a, gap, b) for a, b in product(made, texts)][:_MAX_TEXTS]
        return made

    def _operation(
        self, node: ast.BinOp, place: ExpressionScope, steps: int
    ) -> Iterable[str]:
        left = self.of(node.left, place, steps)
        if isinstance(node.op, ast.Mod):
            right = node.right
            given = right.elts if isinstance(right, ast.Tuple) else [right]
            named = {}
            if isinstance(right, ast.Dict):
                given, named = [], _keyed(right)
            return self._filled(_PERCENT, left, given, named, place, steps)
        if not isinstance(node.op, (ast.Add, ast.Div)):
            return ()
        right_texts = self.of(node.right, place, steps)
        if not (left or right_texts):
            return ()
        gap = "/" if isinstance(node.op, ast.Div) else ""
        both = product(left or (PLACEHOLDER,), right_texts or (PLACEHOLDER,))
        return [_joined(a, gap, b) for a, b in both]

    def _filled(
        self,
        hole: re.Pattern[str],
        texts: Iterable[str],
        given: list[ast.expr],
        named: Mapping[str, ast.expr],
        place: ExpressionScope,
        steps: int,
    ) -> list[str]:
        """Texts with their holes filled by what is given, in order or by name."""
        made: list[str] = []
        for text in texts:
            number = 0
            filled, end = [""], 0
            for match in hole.finditer(text):
                name = match[1] or ""
                part: ast.expr | None = named.get(name)
                if part is None and (not name or name.isdecimal()):
                    index = int(name) if name.isdecimal() and len(name) < 4 else number
                    part = given[index] if index < len(given) else None
                    number += 1
                found = self.of(part, place, steps) if part is not None else ()
                before = text[end : match.start()]
                filled = [
                    a + before + b for a, b in product(filled, found or (PLACEHOLDER,))
                ]
                filled, end = filled[:_MAX_TEXTS], match.end()
            made += [one + text[end:] for one in filled]
        return made

    def _call(
        self, node: ast.Call, place: ExpressionScope, steps: int
    ) -> Iterable[str]:
        function, given = node.func, node.args
        name = get_last_name(function)
        if name in _PATHS or name == "urljoin":
            return self._put_together("/", given, place, steps) if given else ()
        if name in _SAME and given:
            return self.of(given[0], place, steps)
        if not isinstance(function, ast.Attribute):
            return self._given_by(node, place, steps)
        owner = function.value
        if name in _SAME_METHODS:
            return self.of(owner, place, steps)
        if name in ("format", "substitute", "safe_substitute"):
            named = {k.arg: k.value for k in node.keywords if k.arg is not None}
            hole = _BRACES if name == "format" else re.compile(r"\$\{?(\w+)\}?")
            texts = self.of(owner, place, steps)
            return self._filled(hole, texts, given, named, place, steps)
        if name == "join":
            return self._joined(owner, given, place, steps)
        if name == "joinpath":
            return self._put_together("/", [owner, *given], place, steps)
        if name == "replace" and len(given) == 2:
            return [
                text.replace(old, new)
                for text in self.of(owner, place, steps)
                for old in self.of(given[0], place, steps)
                for new in self.of(given[1], place, steps) or (PLACEHOLDER,)
                if old
            ]
        if name == "get" and given:
            found = self.of(build_item(owner, given[0]), place, steps)
            return [*found, *self._all(given[1:], place, steps)]
        return self._given_by(node, place, steps)

    def _joined(
        self, owner: ast.expr, given: list[ast.expr], place: ExpressionScope, steps: int
    ) -> Iterable[str]:
        between = self.of(owner, place, steps)
        if not between:
            # os.path.join
            return (
                self._put_together("/", given, place, steps) if len(given) > 1 else ()
            )
        if len(given) != 1:
            return ()
        held = self._container(given[0], place, steps)
        if held is None or not isinstance(held[0], (ast.List, ast.Tuple)):
            return ()
        literal, where = held
        return [
            text
            for one in between
            for text in self._put_together(one, _elements(literal), where, steps)
        ]

    def _given_by(
        self, node: ast.Call, place: ExpressionScope, steps: int
    ) -> Iterable[str]:
        """What a function of the package returns, for these arguments."""
        known = place.of(node.func)
        if known is None or known.function is None or known.kind != "function":
            return
        if not _may_be_text(known.function.returns):
            return
        body = place.resolver.body(known)
        if not body.returned:
            return
        bound = self._bound(known, node, place, steps)
        within = ExpressionScope(place.resolver, known.scope, *bound)
        for value in body.returned:
            yield from self.of(value, within, steps)

    def _bound(
        self, known: Definition, node: ast.Call, place: ExpressionScope, steps: int
    ) -> tuple[dict[str, Definition], dict[str, ast.expr]]:
        """The names and the assigned values within a function that is called so."""
        names: dict[str, Definition] = {}
        if known.function is None:
            return {}, {}
        takes = known.function.args
        placed = [a.arg for a in [*takes.posonlyargs, *takes.args]]
        if known.class_ is not None and placed:
            own = known.class_
            first = placed.pop(0)
            names[first] = Definition("instance", known.scope, own.name, class_=own)
        every = [*placed, *(a.arg for a in takes.kwonlyargs)]
        aliases: dict[str, ast.expr] = dict(place.resolver.body(known).assigned)
        given = dict(zip(placed, node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        for name in every:
            names[name] = Definition("unknown", known.scope, name)
            texts = self.of(given[name], place, steps) if name in given else ()
            if texts:
                aliases[name] = build_item(_listed(texts))
        return names, aliases

    def _items(
        self, node: ast.Subscript, place: ExpressionScope, steps: int
    ) -> list[tuple[ast.expr, ExpressionScope]]:
        """The items of a literal that a subscript may mean."""
        held = self._container(node.value, place, steps)
        if held is None:
            return []
        literal, where = held
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(literal, ast.Dict):
            if node.slice is ANY_INDEX:
                return [(key, where) for key in literal.keys if key is not None]
            keyed = _keyed(literal)
            chosen = keyed.get(index) if isinstance(index, str) else None
            return [(one, where) for one in ([chosen] if chosen else literal.values)]
        if isinstance(literal, (ast.List, ast.Tuple, ast.Set)):
            items = literal.elts
            if isinstance(index, int) and -len(items) <= index < len(items):
                items = [items[index]]
            return [(one, where) for one in items]
        return []

    def _container(
        self, node: ast.expr, place: ExpressionScope, steps: int
    ) -> tuple[ast.expr, ExpressionScope] | None:
        """The literal that holds the items of an expression, and where that stands."""
        self._left -= 1
        if steps <= 0 or self._left <= 0:
            return None
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            return node, place
        if isinstance(node, (ast.Name, ast.Attribute)):
            known = place.assigned(node)
            return known and self._container(*known, steps - 1)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            aliases = dict(place.aliases)
            for loop in node.generators:
                for name, value in bind_loop_target(loop.target, loop.iter):
                    if value is not None:
                        aliases[name] = value
            made = self.of(node.elt, replace(place, aliases=aliases), steps - 1)
            return (_listed(made), place) if made else None
        if isinstance(node, ast.Subscript):
            items = self._items(node, place, steps - 1)
            found = [self._container(*item, steps - 1) for item in items]
            together = [one for held in found if held for one in _elements(held[0])]
            where = next((held[1] for held in found if held), place)
            return (ast.List(together, ast.Load()), where) if together else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):
            sides = [
                self._container(s, place, steps - 1) for s in (node.left, node.right)
            ]
            both = [one for held in sides if held for one in _elements(held[0])]
            return (ast.List(both, ast.Load()), place) if both else None
        if isinstance(node, ast.Call):
            return self._container_of_call(node, place, steps - 1)
        return None

    def _container_of_call(
        self, node: ast.Call, place: ExpressionScope, steps: int
    ) -> tuple[ast.expr, ExpressionScope] | None:
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in _CONTAINERS and node.args:
                held = self._container(node.args[0], place, steps)
                return _keys(held)
            if function.id == "dict" and node.keywords:
                keywords = [k for k in node.keywords if k.arg is not None]
                keys = [ast.Constant(k.arg) for k in keywords]
                return ast.Dict([*keys], [k.value for k in keywords]), place
        if isinstance(function, ast.Attribute):
            if function.attr in ("split", "splitlines"):
                texts = self.of(function.value, place, steps)
                words = [w for one in texts for w in one.replace(",", " ").split()]
                return (_listed(words), place) if words else None
            if function.attr in ("keys", "values", "copy"):
                held = self._container(function.value, place, steps)
                if function.attr == "keys":
                    return _keys(held)
                if function.attr == "values" and held:
                    return ast.List(_elements(held[0]), ast.Load()), held[1]
                return held
        return None


def _listed(texts: Iterable[str]) -> ast.List:
    return ast.List([ast.Constant(text) for text in texts], ast.Load())


def _joined(left: str, gap: str, right: str) -> str:
    # One slash between the parts of a path or an address.
    if gap == "/":
        return f"{left.rstrip('/')}/{right.lstrip('/')}"
    return left + gap + right


def _may_be_text(annotation: ast.expr | None) -> bool:
    """Whether a function that is annotated so may return a text."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.Name):
        return annotation.id in _TEXT_TYPES
    return not (isinstance(annotation, ast.Constant) and annotation.value is None)


def _keyed(literal: ast.Dict) -> dict[str, ast.expr]:
    """The values of a dictionary by those of its keys that are texts."""
    return {
        key.value: value
        for key, value in zip(literal.keys, literal.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _keys(
    held: tuple[ast.expr, ExpressionScope] | None,
) -> tuple[ast.expr, ExpressionScope] | None:
    """The keys of a dictionary; anything else as it is."""
    if held is None or not isinstance(held[0], ast.Dict):
        return held
    keys = [key for key in held[0].keys if key is not None]
    return ast.List(keys, ast.Load()), held[1]


def _elements(literal: ast.expr) -> list[ast.expr]:
    if isinstance(literal, ast.Dict):
        return literal.values
    return literal.elts if isinstance(literal, (ast.List, ast.Tuple, ast.Set)) else []
