"""Descriptions in docstrings of Google, NumPy or Sphinx style."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..parsing.characters import is_printable
from .modules import FunctionDefinition

MAX_DOCSTRING_CHARACTERS = 16_000
"""The maximum length of a docstring that is parsed."""


class Docstring(NamedTuple):
    """The parts of a docstring, without unprintable characters.

    Attributes:
        text: the description, without sections.
        parameters: the description of each parameter.
        types: the type of each parameter, as written in the docstring.
        result: the description of the result.
        problem: the reason why the docstring was not parsed; empty if it was.
    """

    text: str = ""
    parameters: Mapping[str, str] = {}
    types: Mapping[str, str] = {}
    result: str = ""
    problem: str = ""


def get_docstring(node: FunctionDefinition | ast.ClassDef) -> str | None:
    """Return a function's or class's docstring without indentation; None without one.

    `ast.get_docstring` is not used: it also removes the indentation of a section that
    begins on the first line.
    """
    text = ast.get_docstring(node, clean=False)
    if text is None:
        return None
    return inspect.cleandoc(f"\n{' ' * node.body[0].col_offset}{text}")


def parse_docstring(text: str | None, names: Collection[str]) -> Docstring:
    """Parse a docstring in the style that documents most of the names.

    Without sections, or if no style can be parsed, the whole text is the description. A
    text of white space is empty.

    Args:
        text: the result of `get_docstring`.
        names: the parameters of the function, or the fields of the class.
    """
    if not text or not text.strip():
        return Docstring()
    if len(text) > MAX_DOCSTRING_CHARACTERS:
        return Docstring(problem=f"it has {len(text):,} characters")
    from docstring_parser import DocstringStyle, ParseError, parse

    text = "".join(c for c in text.expandtabs() if c == "\n" or is_printable(c))
    candidates = []
    for style in (DocstringStyle.GOOGLE, DocstringStyle.NUMPYDOC, DocstringStyle.REST):
        try:
            # The parsers dedent all lines except the first one, which can be the title
            # of a section: begin with an empty line.
            candidates.append(parse(f"\n{text}", style))
        # The parsers raise various errors for some texts without sections.
        except (ParseError, ValueError, IndexError, KeyError, AttributeError):
            continue
    if not candidates:
        return Docstring(_strip_lines(text))
    # The style that documents most of the parameters, then one that documents the
    # result.
    best = max(
        candidates,
        key=lambda parsed: (
            sum(parameter.arg_name in names for parameter in parsed.params),
            parsed.returns is not None,
        ),
    )
    parameters = {p.arg_name.lstrip("*"): p for p in best.params}
    returns = best.returns.description if best.returns is not None else None
    paragraphs = [best.short_description, best.long_description]
    description = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return Docstring(
        _strip_lines(description),
        {name: _normalize_spaces(p.description) for name, p in parameters.items()},
        {name: p.type_name for name, p in parameters.items() if p.type_name},
        _normalize_spaces(returns),
    )


def _normalize_spaces(text: str | None) -> str:
    return " ".join((text or "").split())


def _strip_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
