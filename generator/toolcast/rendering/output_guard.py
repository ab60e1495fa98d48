"""Checks rendered text against the shape that its view predicted.

An encoder with a hole would let a spec's text become code. This check turns such a hole into
a failed run that writes nothing: what is imported, defined and called is known before the
text is drawn, and nothing else may appear.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["MarkdownShape", "PythonShape", "ShapeViolation", "verify_shape"]


class ShapeViolation(Exception):
    """Rendered text is not of the predicted shape: a defect of the generator."""


class PythonShape(NamedTuple):
    """What a rendered Python file may hold.

    Attributes:
        statements: its top-level statements in order, a word each: `docstring`,
            `from MODULE`, `class NAME`, `def NAME`, `NAME =`, `NAME:` and `if NAME`;
            `def test_*` stands for any tests in a row.
        calls: the dotted names of everything that it calls; `NAME.*` stands for every
            method of one object.
        own_name: what the names of its classes begin with; empty when they are always the
            same. Files that differ in it and in their data alone are judged once.
    """

    statements: tuple[str, ...]
    calls: frozenset[str] = frozenset()
    own_name: str = ""


class MarkdownShape(NamedTuple):
    """What a rendered Markdown file may hold: these heading lines, and no open fence."""

    headings: tuple[str, ...]


def verify_shape(name: str, data: bytes, shape: PythonShape | MarkdownShape) -> None:
    """Compares rendered bytes with their predicted shape.

    Raises:
        ShapeViolation: with the file's template and the first difference.
    """
    text = data.decode("utf-8")
    if isinstance(shape, MarkdownShape):
        problem = _markdown_problem(text, shape)
    else:
        problem = _python_problem(text, shape)
    if problem:
        raise ShapeViolation(f"{name}: {problem}")


class _Few:
    """Counts the first files of a run."""

    most = 12

    def __init__(self) -> None:
        self._left = self.most

    def spare(self) -> bool:
        """Whether this file is one of the first."""
        self._left -= 1
        return self._left >= 0


_FEW = _Few()


def _python_problem(text: str, shape: PythonShape) -> str:
    if _FEW.spare():
        # What skeletons need is dear to set up.
        return _problem_in(text, shape)
    from .skeleton import OWN_NAME, can_give_way, skeleton

    own = shape.own_name if can_give_way(shape.own_name) else ""
    short = skeleton(text, own)
    if short is not None:
        words = shape.statements
        if own:
            words = tuple(word.replace(own, OWN_NAME) for word in words)
        if _is_of_shape(short, words, shape.calls):
            return ""
    # The text itself says what is wrong, and where; or that only its data is unusual.
    return _problem_in(text, shape)


@lru_cache(maxsize=1024)
def _is_of_shape(
    short: str, statements: tuple[str, ...], calls: frozenset[str]
) -> bool:
    return not _problem_in(short, PythonShape(statements, calls))


def _problem_in(text: str, shape: PythonShape) -> str:
    try:
        tree = ast.parse(text)
        # Compiling refuses more than parsing does, duplicate arguments for one.
        compile(tree, "<generated>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {error}"
    found = tuple(_in_a_row(word for node in tree.body for word in _statement(node)))
    if found != shape.statements:
        extra = [word for word in found if word not in shape.statements]
        missing = [word for word in shape.statements if word not in found]
        return f"unexpected {extra}, missing {missing}" if extra or missing else "order"
    for node in _beyond_constants(tree):
        if isinstance(node, ast.Call) and not _may_call(_dotted(node.func), shape):
            return f"line {node.lineno} calls {_dotted(node.func)!r}"
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not (
            node in tree.body or _may_import(node)
        ):
            return f"line {node.lineno} imports more than one name"
        if isinstance(node, (ast.JoinedStr, ast.Lambda, ast.Await, ast.Delete)):
            return f"line {node.lineno} has {type(node).__name__}"
    return ""


def _beyond_constants(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but names and constants, which most of a generated file is made of."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST) and not isinstance(
                    child, (ast.Constant, ast.Name, ast.expr_context)
                ):
                    waiting.append(child)


def _may_import(node: ast.AST) -> bool:
    """Inside of a block only the one name of a handler is imported, for type checkers."""
    if isinstance(node, ast.ImportFrom):
        return len(node.names) == 1 and node.names[0].asname is None
    return not isinstance(node, ast.Import)


def _in_a_row(words: Iterator[str]) -> Iterator[str]:
    before = ""
    for word in words:
        shown = "def test_*" if word.startswith("def test_") else word
        if shown != "def test_*" or before != shown:
            yield shown
        before = shown


def _may_call(name: str, shape: PythonShape) -> bool:
    return name in shape.calls or f"{name.partition('.')[0]}.*" in shape.calls


def _statement(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield "docstring"
    elif isinstance(node, ast.ImportFrom):
        yield f"from {'.' * node.level}{node.module or ''}"
    elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        word = "class" if isinstance(node, ast.ClassDef) else "def"
        yield f"{word} {node.name}"
    elif isinstance(node, ast.Assign):
        yield from (f"{_dotted(target)} =" for target in node.targets)
    elif isinstance(node, ast.AnnAssign):
        yield f"{_dotted(node.target)}:"
    elif isinstance(node, ast.If):
        test = node.test.left if isinstance(node.test, ast.Compare) else node.test
        yield f"if {_dotted(test)}"
    else:
        yield type(node).__name__


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return type(node).__name__


_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")


def _markdown_problem(text: str, shape: MarkdownShape) -> str:
    headings: list[str] = []
    fence, before = "", ""
    for line in text.split("\n"):
        first = line.lstrip(" ")[:1]
        match = _FENCE.match(line) if first in "`~" else None
        if fence:
            if (
                match
                and match[1].startswith(fence)
                and not line.strip().strip(fence[0])
            ):
                fence = ""
        elif match:
            if line.startswith(" "):
                return "a fence that may belong to a list"
            fence = match[1]
        elif first == "#" and _HEADING.match(line):
            headings.append(line)
        elif first in "=-" and before.strip() and _UNDERLINE.match(line):
            headings.append(before)
        before = "" if fence else line
    if fence:
        return "a fenced block is left open"
    if headings == list(shape.headings):
        return ""
    return f"the headings {headings} instead of {list(shape.headings)}"
