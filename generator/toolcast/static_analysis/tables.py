"""The tables that code names: in SQL, by SQLAlchemy's objects, and by mapped classes.

No SQL parser reads half a statement, and code is full of halves: clauses that are joined,
f-strings with holes. So this looks for the words behind which a table's name stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from .module_names import Definition
from .modules import PLACEHOLDER, get_last_name
from .resolver import ExpressionScope, Resolver
from .string_values import find_strings

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
        kind: `reads`, `writes` or `deletes`.
        start: where the name stands in the text.
    """

    name: str
    kind: str
    start: int


def looks_like_sql(text: str) -> bool:
    """Whether a text is SQL, or a clause of it."""
    return bool(_STATEMENT.match(text) or _CLAUSE.search(text))


def is_certainly_sql(text: str) -> bool:
    """Whether it is SQL and surely no prose: a statement or clause in capitals."""
    first = text.split(maxsplit=1)[0].lstrip("(") if text.strip() else ""
    return len(first) > 1 and first.isupper() and looks_like_sql(text)


def find_sql_tables(text: str) -> Iterator[SqlTable]:
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
                "deletes" if token.word == "truncate" or before == "drop" else "writes"
            )
        if kind is None or (token.word == "from" and brackets[-1:] == [True]):
            continue
        if token.word == "from" and before == "distinct":
            continue  # IS DISTINCT FROM
        if token.word == "update" and before in ("do", "for", "key", "on"):
            continue
        if token.word == "from" and before == "delete":
            kind = "deletes"
        for name in _names(tokens, index + 1, several=token.word == "from"):
            if name.text.casefold() not in own and PLACEHOLDER not in name.text:
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


_STEPS = 10
# Calls whose first text is the name of a table, and what they do with it.
_BY_NAME = {
    "read_sql_table": "reads",
    "read_table": "reads",
    "Table": "reads",
    "table": "reads",
    "from_": "reads",
    "copy_from_table": "reads",
    "to_sql": "writes",
    "copy_records_to_table": "writes",
    "copy_to_table": "writes",
    "copy_from": "writes",
    "blobopen": "writes",
}


def find_named_table(call: ast.Call) -> tuple[ast.expr, str] | None:
    """The expression of a table's name that a call is given, and what is done with it."""
    name = get_last_name(call.func)
    kind = _BY_NAME.get(name)
    if kind is None:
        return None
    by_word = {keyword.arg: keyword.value for keyword in call.keywords}
    index = 1 if name == "copy_from" else 0
    given = call.args[index] if index < len(call.args) else None
    for word in ("table_name", "name", "table"):
        given = given or by_word.get(word)
    return (given, kind) if given is not None else None


def find_tables(node: ast.expr, place: ExpressionScope) -> tuple[str, ...]:
    """The names of the tables that an expression may stand for."""
    return tuple(dict.fromkeys(_found(node, place, _STEPS, set())))


def find_declared_tables(known: Definition, resolver: Resolver) -> tuple[str, ...]:
    """The table of a `Table(...)`, or of a class with `__tablename__`."""
    name: ast.expr | None = None
    if known.class_ is not None and known.kind == "class":
        values = resolver.members(known.class_, known.scope).values
        table = values.get("__table__")
        name = values.get("__tablename__") or (_first(table) if table else None)
    elif known.kind == "value" and known.value is not None:
        name = _first(known.value)
    return (
        find_strings(name, ExpressionScope(resolver, known.scope))
        if name is not None
        else ()
    )


def _found(
    node: ast.expr, place: ExpressionScope, steps: int, seen: set[ast.expr]
) -> Iterator[str]:
    """The tables of an expression; each expression is looked at once."""
    if steps <= 0 or node in seen:
        return
    seen.add(node)
    if isinstance(node, ast.Subscript):
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr == "tables":
            # `METADATA.tables["notes"]`
            named = find_strings(node.slice, place)
            yield from named or _of_metadata(owner.value, place)
        else:
            yield from _each(owner, place, steps - 1, seen)
    elif isinstance(node, ast.Name) and node.id in place.aliases:
        alias = place.assigned(node)
        if alias and isinstance(alias[0], (ast.Subscript, ast.Name, ast.IfExp)):
            yield from _found(*alias, steps - 1, seen)
    elif isinstance(node, ast.IfExp):
        yield from _found(node.body, place, steps - 1, seen)
        yield from _found(node.orelse, place, steps - 1, seen)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        known = place.of(node)
        if known is not None:
            yield from find_declared_tables(known, place.resolver)


def _each(
    items: ast.expr, place: ExpressionScope, steps: int, seen: set[ast.expr]
) -> Iterator[str]:
    """The tables among the items of a list, a dictionary or the tables of metadata."""
    if steps <= 0:
        return
    if isinstance(items, ast.Call):
        function = items.func
        if isinstance(function, ast.Attribute) and function.attr in ("values", "items"):
            items = function.value
        elif isinstance(function, ast.Name) and items.args:
            items = items.args[0]
    if isinstance(items, ast.Attribute) and items.attr in ("sorted_tables", "tables"):
        yield from _of_metadata(items.value, place)
    elif isinstance(items, (ast.Name, ast.Attribute)):
        assigned = place.assigned(items)
        if assigned is not None:
            yield from _each(*assigned, steps - 1, seen)
    elif isinstance(items, (ast.Dict, ast.List, ast.Tuple, ast.Set)):
        for part in items.values if isinstance(items, ast.Dict) else items.elts:
            yield from _found(part, place, steps - 1, seen)


def _first(value: ast.expr) -> ast.expr | None:
    """The name in `Table(name, ...)`."""
    if not isinstance(value, ast.Call) or not value.args:
        return None
    return value.args[0] if get_last_name(value.func) in ("Table", "table") else None


def _of_metadata(node: ast.expr, place: ExpressionScope) -> Iterator[str]:
    """The tables that are declared with metadata, in the modules that were read so far."""
    resolver, metadata = place.resolver, place.of(node)
    # The class in `Base.metadata`.
    base = None
    if isinstance(node, ast.Attribute) and node.attr == "metadata":
        base = place.of(node.value)
    for module in [one for one in resolver.read.values() if one is not None]:
        within = ExpressionScope(resolver, module)
        for name, class_ in module.bindings.classes.items() if base is not None else ():
            parents = [within.of(parent) for parent in class_.bases]
            if any(parent and base and parent.key == base.key for parent in parents):
                mapped = resolver.named(module, name)
                if mapped is not None:
                    yield from find_declared_tables(mapped, resolver)
        for value in (
            module.bindings.assignments.values() if metadata is not None else ()
        ):
            text = _first(value)
            if text is None or not isinstance(value, ast.Call) or len(value.args) < 2:
                continue
            given = within.of(value.args[1])
            if given is not None and metadata and given.key == metadata.key:
                yield from find_strings(text, within)
