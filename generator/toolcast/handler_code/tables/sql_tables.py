"""Finds the tables that SQL names, in fragments as they stand in code.

No SQL parser reads half a statement, and code is full of halves: clauses that are joined,
f-strings with holes. So this looks for the words behind which a table's name stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["HOLE", "SqlTable", "is_surely_sql", "looks_like_sql", "tables_in_sql"]

HOLE = "\x00"
"""A part of a text that is known at run time only: the holes of an f-string."""

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|$)|'(?:[^']|'')*(?:'|$)|\$\w*\$.*?(?:\$\w*\$|$)
    |(?P<quoted>"(?:[^"]|"")+"|`[^`]+`|\[[A-Za-z_][^\]]*\])
    |(?P<word>[A-Za-z_\x00][\w$\x00]*)|(?P<mark>[().,;])""",
    re.VERBOSE | re.DOTALL,
)
_STATEMENT = re.compile(
    r"""\s*(?:\(\s*|--[^\n]*\n\s*|/\*.*?\*/\s*)*
    (?:SELECT\b.*|INSERT\s+(?:OR\s+\w+\s+)?INTO\b|REPLACE\s+INTO\b|UPDATE\b.+\bSET\b
    |DELETE\s+FROM\b|MERGE\s+INTO\b|TRUNCATE\b|COPY\b|WITH\b.+\bAS\b.*\(
    |(?:CREATE|ALTER|DROP)\s+(?:TEMP\w*\s+)?TABLE\b|LOCK\s+TABLE\b|TABLE\s+\w)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# Upper-case words that prose does not have.
_CLAUSE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+[\w\"`\[\x00]")
_ENDS = frozenset(
    (
        "where group order having limit offset union on set using returning"
        " values select window fetch for when intersect except natural left"
        " right inner cross full outer join default lateral only as"
        " tablesample"
    ).split()
)
_BEFORE_NAMES = frozenset("only lateral if not exists table".split())
_KINDS = {"from": "reads", "join": "reads", "into": "writes", "update": "writes"}
# The databases' own tables.
_SYSTEM = re.compile(r"(?:sqlite|pg|pragma)_\w+", re.IGNORECASE)
_SCHEMAS = frozenset(["information_schema", "pg_catalog"])
# `extract(year FROM created_at)`: no table follows.
_FUNCTIONS = frozenset(["extract", "substring", "trim", "overlay", "position"])


class SqlTable(NamedTuple):
    """A table that a text names.

    Attributes:
        name: without schema and quotes.
        kind: `reads`, `writes` or `destroys`.
        start: where the name stands in the text.
    """

    name: str
    kind: str
    start: int


def looks_like_sql(text: str) -> bool:
    """Whether a text is SQL, or a clause of it."""
    return bool(_STATEMENT.match(text) or _CLAUSE.search(text))


def is_surely_sql(text: str) -> bool:
    """Whether it is SQL and surely no prose: a statement or clause in capitals."""
    first = text.split(maxsplit=1)[0].lstrip("(") if text.strip() else ""
    return len(first) > 1 and first.isupper() and looks_like_sql(text)


def tables_in_sql(text: str) -> Iterator[SqlTable]:
    """The tables that SQL names, in order, without those that `WITH` defines."""
    tokens = [_Token.of(match) for match in _TOKEN.finditer(text)]
    tokens = [token for token in tokens if token.text]
    own = {
        before.text.casefold()
        for before, word, mark in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word.word == "as" and mark.text == "("
    }
    brackets: list[bool] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1].word if index else ""
        if token.text == "(":
            brackets.append(before in _FUNCTIONS)
        elif token.text == ")" and brackets:
            brackets.pop()
        kind = _KINDS.get(token.word)
        if token.word in ("truncate", "table") and before not in ("as", "truncate"):
            kind = (
                "destroys" if token.word == "truncate" or before == "drop" else "writes"
            )
        if kind is None or (token.word == "from" and brackets[-1:] == [True]):
            continue
        if token.word == "from" and before == "distinct":
            continue  # IS DISTINCT FROM
        if token.word == "update" and before in ("do", "for", "key", "on"):
            continue
        if token.word == "from" and before == "delete":
            kind = "destroys"
        for name in _names(tokens, index + 1, several=token.word == "from"):
            if name.text.casefold() not in own and HOLE not in name.text:
                yield SqlTable(name.text, kind, name.start)


class _Token(NamedTuple):
    text: str
    word: str
    start: int

    @classmethod
    def of(cls, match: re.Match[str]) -> _Token:
        if match["quoted"]:
            return cls(match["quoted"][1:-1], "", match.start())
        text = match["word"] or match["mark"] or ""
        return cls(text, text.casefold() if match["word"] else "", match.start())


def _names(tokens: list[_Token], index: int, *, several: bool) -> Iterator[_Token]:
    """The names from a place on: `a`, `s.a`, and after FROM `a AS x, b y`."""
    while index < len(tokens):
        while index < len(tokens) and tokens[index].word in _BEFORE_NAMES:
            index += 1
        if index >= len(tokens) or tokens[index].text in "().,;":
            return
        if tokens[index].word in _ENDS:
            return
        name = tokens[index]
        index += 1
        schema = ""
        while index + 1 < len(tokens) and tokens[index].text == ".":
            schema = name.text.casefold()
            name, index = tokens[index + 1], index + 2
        is_function = index < len(tokens) and tokens[index].text == "(" and several
        if is_function:
            index = _behind_brackets(tokens, index)
        elif schema not in _SCHEMAS and not _SYSTEM.fullmatch(name.text):
            yield name
        if not several:
            return
        # An alias may come before the comma.
        while index < len(tokens) and tokens[index].text not in ("(", ")", ",", ";"):
            if tokens[index].word in _ENDS and tokens[index].word != "as":
                return
            index += 1
        if index >= len(tokens) or tokens[index].text != ",":
            return
        index += 1


def _behind_brackets(tokens: list[_Token], index: int) -> int:
    depth = 0
    while index < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        index += 1
        if depth == 0:
            break
    return index
