"""Views, the values that templates print, and shapes, which rendered files must match.

A defect in an encoder, or a target that bypasses the encoders, could let text of a spec become
code. Therefore a target declares beforehand what a file imports, defines and calls. If the
rendered file contains anything else, the run fails and writes nothing.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast, get_args

from ..encoders.code import Code


class OutputShapeError(Exception):
    """Raised when a rendered file has no declared shape or does not match it.

    The cause is a defect of the target.
    """


class PythonShape(NamedTuple):
    """The allowed content of a rendered Python file.

    Attributes:
        statements: the top-level statements in order, each in a short form: `docstring`,
            `from MODULE`, `class NAME`, `def NAME`, `NAME =`, `NAME:`, `if NAME` and `try`.
        calls: the dotted names of all functions that may be called.
    """

    statements: tuple[str, ...]
    calls: frozenset[str] = frozenset()


class MarkdownShape(NamedTuple):
    """The allowed content of a rendered Markdown file. Each code fence must be closed.

    Attributes:
        headings: the heading lines, in order.
        front_matter: the keys of the YAML front matter, in order; empty for none.
        names: text that a project's template may use in headings of its own.
    """

    headings: tuple[str, ...]
    front_matter: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class JsonShape(NamedTuple):
    """The allowed content of a rendered JSON file: an object with these keys, in order."""

    keys: tuple[str, ...]


class TextShape(NamedTuple):
    """The allowed content of a rendered text file: a number of lines with newlines."""

    lines: int


Shape = PythonShape | MarkdownShape | JsonShape | TextShape

_SHAPES_BY_SUFFIX: dict[str, type[Shape]] = {
    ".py": PythonShape,
    ".pyi": PythonShape,
    ".md": MarkdownShape,
    ".json": JsonShape,
}


def get_shape_type(path: str) -> type[Shape]:
    """Return the class of shapes for a file name, such as PythonShape for `.py`.

    Files with unknown suffixes have a TextShape.
    """
    return _SHAPES_BY_SUFFIX.get(os.path.splitext(path)[1].lower(), TextShape)


def verify_shape(
    name: str,
    data: bytes,
    shape: object,
    template_words: frozenset[str] | None = None,
) -> None:
    """Raise an error if rendered bytes do not match their declared shape.

    Args:
        name: the template or file, for the error message.
        data: the bytes.
        shape: the declared shape; any other type of value is an error.
        template_words: the words in a project's own template. Statements, calls and
            headings that consist only of these words and of declared words are allowed, in
            any order. None if no template of a project rendered the bytes.

    Raises:
        OutputShapeError: the shape is missing or does not match; the message has the first
            difference.
    """
    text = data.decode("utf-8")
    match shape:
        case PythonShape():
            problem = _find_python_problem(text, shape, template_words)
        case MarkdownShape():
            problem = _find_markdown_problem(text, shape, template_words)
        case JsonShape():
            problem = _find_json_problem(text, shape)
        case TextShape():
            problem = _find_text_problem(text, shape)
        case _:
            problem = (
                "the view has no `shape`; declare one as PythonShape, MarkdownShape,"
                " JsonShape or TextShape"
            )
    if problem:
        raise OutputShapeError(f"{name}: {problem}")


def _find_python_problem(
    text: str, shape: PythonShape, template_words: frozenset[str] | None
) -> str:
    """Return the first difference of Python text from its shape; empty if there is none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {error}"
    statements = [form for node in tree.body for form in _list_statement_forms(node)]
    if problem := _compare(statements, shape.statements, template_words, ""):
        return problem
    for node in _list_restricted_nodes(tree):
        if isinstance(node, ast.Call):
            name = _format_dotted_name(node.func)
            if name not in shape.calls and not _contains_only(name, template_words):
                return f"line {node.lineno} calls {name!r}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            # `statements` covers top-level imports. A nested import, such as that of a handler
            # for type checkers, cannot be declared, so only its form is checked.
            if node not in tree.body and not _imports_one_name(node):
                return f"line {node.lineno} imports more than one name"
        else:
            return f"line {node.lineno} has {type(node).__name__}"
    return ""


def _compare(
    found: Sequence[str],
    declared: tuple[str, ...],
    template_words: frozenset[str] | None,
    label: str,
) -> str:
    """Return the difference between found and declared items; empty if there is none.

    For a project's own template (`template_words` is not None), declared items may be missing,
    repeated or reordered, and items that contain only known words may be added.

    Args:
        found: the statements or headings of the rendered file.
        declared: the statements or headings of the shape.
        template_words: the words in the project's template, or None.
        label: the noun for the items in the message, with a space after it.
    """
    if list(found) == list(declared):
        return ""
    allowed_words = None
    if template_words is not None:
        declared_words = re.findall(r"\w+", " ".join(declared))
        allowed_words = template_words.union(declared_words)
    extra = [
        item
        for item in found
        if item not in declared and not _contains_only(item, allowed_words)
    ]
    missing = []
    if template_words is None:
        missing = [item for item in declared if item not in found]
    if extra or missing:
        return f"unexpected {label}{extra}, missing {missing}"
    if template_words is not None:
        return ""
    return f"the order or number of {label}{list(found)} differs from the declaration"


def _contains_only(text: str, words: frozenset[str] | None) -> bool:
    """Return whether a text consists of allowed words; False if none are allowed."""
    return words is not None and words.issuperset(re.findall(r"\w+", text))


_RestrictedNode = (
    ast.Call
    | ast.Import
    | ast.ImportFrom
    | ast.JoinedStr
    | ast.Lambda
    | ast.Await
    | ast.Delete
)
_RESTRICTED = frozenset(get_args(_RestrictedNode))
# Node types without child nodes to check. Most nodes have one of them, so that skipping them
# makes the search fast.
_LEAVES = frozenset([ast.Constant, ast.Name, ast.Load, ast.Store, str, int, type(None)])


def _list_restricted_nodes(tree: ast.AST) -> Iterator[_RestrictedNode]:
    """Yield all nodes of a type that can execute code, such as calls and imports."""
    pending = [tree]
    # The loop also visits the nodes that it appends to `pending`.
    for node in pending:
        if node.__class__ in _RESTRICTED:
            yield cast("_RestrictedNode", node)
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ in _LEAVES:
                continue
            if isinstance(value, list):
                pending += [item for item in value if item.__class__ not in _LEAVES]
            elif isinstance(value, ast.AST):
                pending.append(value)


def _imports_one_name(node: ast.Import | ast.ImportFrom) -> bool:
    """Return whether an import imports exactly one name, without an alias."""
    return len(node.names) == 1 and node.names[0].asname is None


def _list_statement_forms(node: ast.stmt) -> Iterator[str]:
    """Yield the short form of a top-level statement; see `PythonShape`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield "docstring"
    elif isinstance(node, ast.ImportFrom):
        yield f"from {'.' * node.level}{node.module or ''}"
    elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        keyword = "class" if isinstance(node, ast.ClassDef) else "def"
        yield f"{keyword} {node.name}"
    elif isinstance(node, ast.Assign):
        yield from (f"{_format_dotted_name(target)} =" for target in node.targets)
    elif isinstance(node, ast.AnnAssign):
        yield f"{_format_dotted_name(node.target)}:"
    elif isinstance(node, ast.If):
        test = node.test.left if isinstance(node.test, ast.Compare) else node.test
        yield f"if {_format_dotted_name(test)}"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield f"{_format_dotted_name(node.value.func)}()"
    else:
        yield type(node).__name__.lower()


def _format_dotted_name(node: ast.expr) -> str:
    """Return a name such as `REGISTRY.call_tool`; other expressions become `<NodeType>`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_format_dotted_name(node.value)}.{node.attr}"
    return f"<{type(node).__name__}>"


# Patterns of CommonMark: an opening or closing code fence, a heading with `#`, and the line
# below a heading that is underlined.
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")


def _find_markdown_problem(
    text: str, shape: MarkdownShape, template_words: frozenset[str] | None
) -> str:
    """Return the first difference of Markdown from its shape; empty if there is none."""
    if shape.front_matter:
        front, _, text = text.removeprefix("---\n").partition("\n---\n")
        keys = tuple(re.findall(r"^[^\s#][^:]*(?=:)", front, re.MULTILINE))
        if keys != shape.front_matter or "---" in front:
            return f"front matter has the keys {keys} instead of {shape.front_matter}"
    headings: list[str] = []
    fence, previous = "", ""
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
                return "an indented fence, which could belong to a list item"
            fence = match[1]
        elif first == "#" and _HEADING.match(line):
            headings.append(line)
        elif first in "=-" and previous.strip() and _UNDERLINE.match(line):
            headings.append(previous)
        # A line of a code block cannot be a heading that the next line underlines.
        previous = "" if fence else line
    if fence:
        return "a fenced block is not closed"
    if template_words is not None:
        name_words = re.findall(r"\w+", " ".join(shape.names))
        template_words = template_words.union(name_words)
    return _compare(headings, shape.headings, template_words, "headings ")


def _find_json_problem(text: str, shape: JsonShape) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    keys = tuple(value) if isinstance(value, dict) else None
    return "" if keys == shape.keys else f"the keys {keys} instead of {shape.keys}"


def _find_text_problem(text: str, shape: TextShape) -> str:
    newlines = text.count("\n")
    if text and not text.endswith("\n"):
        return "the last line does not end with a newline"
    # `splitlines` also splits at separators such as U+2028, which a line must not contain.
    if newlines != shape.lines or len(text.splitlines()) != newlines:
        return f"{len(text.splitlines())} lines instead of {shape.lines}"
    return ""


class View:
    """The values that a template can print, as attributes.

    Values are Code, booleans, other views, and lists of these. For each value `NAME` the
    view also has a boolean `has_NAME`: whether the value is neither empty nor None.
    """

    def __init__(
        self,
        shape: Shape | None = None,
        /,
        **values: Code | bool | Sequence[Code] | View | Sequence[View] | None,
    ) -> None:
        """Create a view.

        Args:
            shape: the shape of the rendered file; None for a view inside of another view.
            values: the values by attribute name.
        """
        vars(self).update(values, shape=shape)

    def __getattr__(self, name: str) -> Any:
        """Return `has_NAME` for a value `NAME`.

        Raises:
            AttributeError: the view has no such value.
        """
        value_name = name.removeprefix("has_")
        if value_name == name or value_name not in vars(self):
            raise AttributeError(f"the view has no `{name}`")
        return bool(vars(self)[value_name])
