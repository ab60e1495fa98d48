"""What a template sees of a toolset, and the shape that what it draws is held to.

An encoder with a hole, or a target that goes around the encoders, would let a spec's text
become code. The check of the shape turns such a hole into a failed run that writes nothing: what
is imported, defined and called is known before the text is drawn, and nothing else may appear.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast, get_args

from ..encoders.code import Code


class ShapeViolation(Exception):
    """A rendered file has no declared shape, or is not of it: a defect of its target."""


class PythonShape(NamedTuple):
    """What a rendered Python file may hold.

    Attributes:
        statements: its top-level statements in order, a word each: `docstring`,
            `from MODULE`, `class NAME`, `def NAME`, `NAME =`, `NAME:`, `if NAME` and `try`.
        calls: the dotted names of everything that it calls.
    """

    statements: tuple[str, ...]
    calls: frozenset[str] = frozenset()


class MarkdownShape(NamedTuple):
    """What a rendered Markdown file may hold: these heading lines, and no open fence.

    Attributes:
        headings: the lines, in order.
        front_matter: the keys of the YAML that it begins with, in order; empty for none.
        names: texts that a project's template may put into a heading of its own.
    """

    headings: tuple[str, ...]
    front_matter: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class JsonShape(NamedTuple):
    """What a rendered JSON file may hold: one object with these keys, in this order."""

    keys: tuple[str, ...]


class TextShape(NamedTuple):
    """What a rendered file of plain text may hold: so many lines, each of them ended."""

    lines: int


Shape = PythonShape | MarkdownShape | JsonShape | TextShape

_KINDS: dict[str, type[Shape]] = {
    ".py": PythonShape,
    ".pyi": PythonShape,
    ".md": MarkdownShape,
    ".json": JsonShape,
}


def get_shape_type(path: str) -> type[Shape]:
    """The kind of shape that a file of that name must have: plain text is what is left."""
    return _KINDS.get(os.path.splitext(path)[1].lower(), TextShape)


def verify_shape(
    name: str, data: bytes, shape: object, known: frozenset[str] | None = None
) -> None:
    """Compares rendered bytes with their declared shape.

    Args:
        name: what the bytes are called in a violation: their template.
        data: the bytes.
        shape: what was declared; anything but a shape is none.
        known: words that the template itself has. Statements, calls and headings made of
            these and the declared ones' alone may stand in it, in any order. None for what
            no template of a project renders.

    Raises:
        ShapeViolation: there is no shape, or with the name and the first difference.
    """
    text = data.decode("utf-8")
    match shape:
        case PythonShape():
            problem = _python_problem(text, shape, known)
        case MarkdownShape():
            problem = _markdown_problem(text, shape, known)
        case JsonShape():
            problem = _json_problem(text, shape)
        case TextShape():
            problem = _text_problem(text, shape)
        case _:
            problem = (
                "its view declares no `shape`; what a file may hold is declared before it"
                " is rendered, as PythonShape, MarkdownShape, JsonShape or TextShape"
            )
    if problem:
        raise ShapeViolation(f"{name}: {problem}")


def _python_problem(text: str, shape: PythonShape, known: frozenset[str] | None) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {error}"
    found = [word for node in tree.body for word in _statement(node)]
    if problem := _difference(found, shape.statements, known, ""):
        return problem
    for node in _judged(tree):
        if isinstance(node, ast.Call):
            name = _dotted(node.func)
            if name not in shape.calls and not _is_made_of(name, known):
                return f"line {node.lineno} calls {name!r}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if node not in tree.body and not _may_import(node):
                return f"line {node.lineno} imports more than one name"
        else:
            return f"line {node.lineno} has {type(node).__name__}"
    return ""


def _difference(
    found: Iterable[str],
    declared: tuple[str, ...],
    known: frozenset[str] | None,
    what: str,
) -> str:
    """How what was found differs from what was declared, but for what is known."""
    listed = list(found)
    if listed == list(declared):
        return ""
    words = re.findall(r"\w+", " ".join(declared))
    own = None if known is None else known.union(words)
    extra = [
        word for word in listed if word not in declared and not _is_made_of(word, own)
    ]
    missing = [word for word in declared if known is None and word not in listed]
    if extra or missing:
        return f"unexpected {what}{extra}, missing {missing}"
    if known is not None:
        return ""
    return f"{what}{listed} in another order or number than declared"


def _is_made_of(text: str, known: frozenset[str] | None) -> bool:
    return known is not None and known.issuperset(re.findall(r"\w+", text))


_Judged = (
    ast.Call
    | ast.Import
    | ast.ImportFrom
    | ast.JoinedStr
    | ast.Lambda
    | ast.Await
    | ast.Delete
)
_JUDGED = frozenset(get_args(_Judged))
# Most of a file is made of these: below them is no node.
_ENDS = frozenset([ast.Constant, ast.Name, ast.Load, ast.Store, str, int, type(None)])


def _judged(tree: ast.AST) -> Iterator[_Judged]:
    """The nodes of all kinds that not every file may have, wherever they stand."""
    found = [tree]
    for node in found:
        if node.__class__ in _JUDGED:
            yield cast("_Judged", node)
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ in _ENDS:
                continue
            if isinstance(value, list):
                found += [part for part in value if part.__class__ not in _ENDS]
            elif isinstance(value, ast.AST):
                found.append(value)


def _may_import(node: ast.Import | ast.ImportFrom) -> bool:
    """Inside of a block only one name is imported: what type checkers look at."""
    return len(node.names) == 1 and node.names[0].asname is None


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
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield f"{_dotted(node.value.func)}()"
    else:
        yield type(node).__name__.lower()


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return f"<{type(node).__name__}>"


_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")


def _markdown_problem(
    text: str, shape: MarkdownShape, known: frozenset[str] | None
) -> str:
    if shape.front_matter:
        front, _, text = text.removeprefix("---\n").partition("\n---\n")
        keys = tuple(re.findall(r"^[^\s#][^:]*(?=:)", front, re.MULTILINE))
        if keys != shape.front_matter or "---" in front:
            return f"front matter with {keys} instead of {shape.front_matter}"
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
    if known is not None:
        known = known.union(re.findall(r"\w+", " ".join(shape.names)))
    return _difference(headings, shape.headings, known, "headings ")


def _json_problem(text: str, shape: JsonShape) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    keys = tuple(value) if isinstance(value, dict) else None
    return "" if keys == shape.keys else f"the keys {keys} instead of {shape.keys}"


def _text_problem(text: str, shape: TextShape) -> str:
    found = text.count("\n")
    if text and not text.endswith("\n"):
        return "the last line has no end"
    if found != shape.lines or len(text.splitlines()) != found:
        return f"{len(text.splitlines())} lines instead of {shape.lines}"
    return ""


class View:
    """Encoded texts, truth values, other views, and lists of these, by their names.

    A name is said once, where its value is made. `has_NAME` is whether there is something:
    a text or a list that is not empty, a view that is not None.

    Args:
        shape: what the file may hold; None for a view inside of another.
    """

    def __init__(
        self,
        shape: Shape | None = None,
        /,
        **values: Code | bool | Sequence[Code] | View | Sequence[View] | None,
    ) -> None:
        vars(self).update(values, shape=shape)

    def __getattr__(self, name: str) -> Any:
        """What is no value itself.

        Raises:
            AttributeError: it asks for no value that there is.
        """
        asked = name.removeprefix("has_")
        if asked == name or asked not in vars(self):
            raise AttributeError(f"the view has no `{name}`")
        return bool(vars(self)[asked])
