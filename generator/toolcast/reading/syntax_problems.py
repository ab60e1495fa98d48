"""What a file that is no YAML has wrong, and where: a parser's words for the people who write it."""

from __future__ import annotations

from typing import NamedTuple

import yaml

__all__ = ["SyntaxProblem", "explain"]

_NOT_CLOSED = {
    "quoted scalar": "the text that begins with this quotation mark does not end",
    "flow sequence": "the list that begins with this `[` does not end",
    "flow mapping": "the mapping that begins with this `{` does not end",
}
_QUOTE_COLON = (
    "quote a text that has `: ` in it; else indent the keys of one mapping alike, and write"
    " a space after the `:` of each"
)
_INDENT = (
    "indent what belongs together alike; quote a text that has quotation marks within"
)
_COMMENT = (
    "close what is open; a `#` after white space begins a comment: quote a text with it"
)
# What a parser says of the place, and what then helps.
_HELP = (
    ("mapping values are not allowed", _QUOTE_COLON),
    ("sequence entries are not allowed", "begin a list on a line of its own"),
    ("expected key", _INDENT),
    ("expected <block end>", _INDENT),
    ("expected '-' indicator", _INDENT),
    ("expected ':'", "write `key: value`, or indent a text that goes on"),
    ("expected ',' or", "write a comma between two entries, and quote texts"),
    ("expected node content", "quote a text that begins with this character"),
    ("unknown escape character", "write `\\\\` for `\\`, or use single quotes"),
)
_NO_BEGINNING = "cannot start any token"


class SyntaxProblem(NamedTuple):
    """One place of a text that a parser stumbles over.

    Attributes:
        start: the index of the place.
        message: what is wrong there.
        help: what to do about it; "" where nothing is known.
    """

    start: int
    message: str
    help: str


def explain(error: yaml.MarkedYAMLError, text: str) -> SyntaxProblem:
    """What a parser's error says of a text.

    What is open to the end of the file is shown where it begins: its end is nowhere.

    Args:
        error: of PyYAML, with libyaml's parser or its own.
        text: that was parsed.
    """
    problem = error.problem or "not valid YAML"
    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    context = error.context or ""
    opened = error.context_mark
    if opened is not None and not text[start:].strip():
        for what, message in _NOT_CLOSED.items():
            if context.endswith(what):
                return SyntaxProblem(opened.index, message, "close it")
        if context.endswith("flow node"):
            return SyntaxProblem(start, problem, _COMMENT)
    if _NO_BEGINNING in problem:
        return SyntaxProblem(
            start, problem, _help_with_character(text[start : start + 1])
        )
    help_ = next((help_ for words, help_ in _HELP if words in problem), "")
    if opened is not None and context.endswith(("flow sequence", "flow mapping")):
        help_ += (
            f"; the `{text[opened.index]}` of line {opened.line + 1} may not be closed"
        )
    return SyntaxProblem(start, problem, help_)


def _help_with_character(character: str) -> str:
    if character == "\t":
        return "indent with spaces"
    return f"quote a text that begins with `{character}`"
