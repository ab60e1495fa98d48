"""What a docstring says: in Google's, NumPy's or Sphinx's style, or in none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..parsing.characters import is_printable

MAX_DOCSTRING_CHARACTERS = 16_000
"""Length of a docstring that is parsed."""


class Docstring(NamedTuple):
    """A docstring, in texts that can be seen.

    Attributes:
        text: what it says as a whole, without its sections.
        parameters: what it says of each parameter.
        types: the type that it gives a parameter, as it stands there.
        result: what it says of the result.
        problem: why it was not read; empty when it was.
    """

    text: str = ""
    parameters: Mapping[str, str] = {}
    types: Mapping[str, str] = {}
    result: str = ""
    problem: str = ""


def parse_docstring(text: str | None, names: Collection[str]) -> Docstring:
    """Reads a docstring that `ast.get_docstring` gives.

    It is read in the style that knows most of the names.

    Args:
        names: the parameters of the function, or the fields of the class.
    """
    if not text or not text.strip():
        return Docstring()
    if len(text) > MAX_DOCSTRING_CHARACTERS:
        return Docstring(problem=f"it has {len(text):,} characters")
    from docstring_parser import DocstringStyle, ParseError, parse

    text = "".join(c for c in text.expandtabs() if c == "\n" or is_printable(c))
    read = []
    for style in (DocstringStyle.GOOGLE, DocstringStyle.NUMPYDOC, DocstringStyle.REST):
        try:
            read.append(parse(text, style))
        # Its parsers raise errors of their own for some texts that have no style.
        except (ParseError, ValueError, IndexError, KeyError, AttributeError):
            continue
    if not read:
        return _plain(text, Docstring())
    best = max(
        read,
        key=lambda one: (
            sum(p.arg_name in names for p in one.params),
            one.returns is not None,
        ),
    )
    params = {p.arg_name.lstrip("*"): p for p in best.params}
    returns = best.returns.description if best.returns is not None else None
    docstring = Docstring(
        parameters={k: _words(p.description) for k, p in params.items()},
        types={k: p.type_name for k, p in params.items() if p.type_name},
        result=_words(returns),
    )
    parts = [best.short_description, best.long_description]
    return _plain("\n\n".join(part for part in parts if part), docstring)


def _plain(text: str, docstring: Docstring) -> Docstring:
    return docstring._replace(text=_lines(text))


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _lines(text: str) -> str:
    """Paragraphs, their lines as they stand, without blanks at the ends."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
