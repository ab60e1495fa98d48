"""Database tables in code: in SQL, in SQLAlchemy objects, and in mapped classes.

SQL is not parsed, because code often contains only parts of statements: joined clauses, and
f-strings with replacement fields. Instead, table names are found by the keyword before them.
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
# Case-sensitive, because these words are upper-case in SQL and rarely in prose.
_CLAUSE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+[\w\"`\[\x00]")
_NAME_LIST_ENDS = frozenset(
    (
        "where group order having limit offset union on set using returning"
        " values select window fetch for when intersect except natural left"
        " right inner cross full outer join default lateral only as"
        " tablesample"
    ).split()
)
_WORDS_BEFORE_NAME = frozenset("only lateral if not exists table".split())
_ACCESS_KINDS = {"from": "reads", "join": "reads", "into": "writes", "update": "writes"}
# SQLite and PostgreSQL have tables of their own with these prefixes, which no pool
# declares.
_SYSTEM_TABLE = re.compile(r"(?:sqlite|pg|pragma)_\w+", re.IGNORECASE)
_SYSTEM_SCHEMAS = frozenset(["information_schema", "pg_catalog"])
# No table follows FROM inside these functions, as in `extract(year FROM created_at)`.
_FUNCTIONS_WITH_FROM = frozenset(
    ["extract", "substring", "trim", "overlay", "position"]
)


class SqlTable(NamedTuple):
    """A table name in SQL.

    Attributes:
        name: the name without schema and quotes.
        kind: `reads`, `writes` or `deletes`.
        start: the index of the name in the text; with a quote, of the quote.
    """

    name: str
    kind: str
    start: int


def is_probably_sql(text: str) -> bool:
    """Return whether a text is probably SQL: a statement, or an upper-case clause.

    Ordinary prose can look like a statement.
    """
    return bool(_STATEMENT.match(text) or _CLAUSE.search(text))


def is_certainly_sql(text: str) -> bool:
    """Return whether a text is probably SQL and begins with an upper-case word.

    Prose does not begin like this.
    """
    first = text.split(maxsplit=1)[0].lstrip("(") if text.strip() else ""
    return len(first) > 1 and first.isupper() and is_probably_sql(text)


def find_sql_tables(text: str) -> Iterator[SqlTable]:
    """Yield the tables in SQL, in their order.

    Names that a `WITH` clause defines, system tables, and names with unknown parts are
    left out. A table that occurs several times is yielded several times.
    """
    tokens = [_Token.from_match(match) for match in _TOKEN.finditer(text)]
    tokens = [token for token in tokens if token.text]
    # `WITH name AS (` defines a name that is not a table.
    defined_names = {
        name.text.casefold()
        for name, keyword, mark in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if keyword.word == "as" and mark.text == "("
    }
    # One item for each open parenthesis: whether it follows a function that contains
    # FROM.
    parentheses: list[bool] = []
    for index, token in enumerate(tokens):
        previous = tokens[index - 1].word if index else ""
        if token.text == "(":
            parentheses.append(previous in _FUNCTIONS_WITH_FROM)
        elif token.text == ")" and parentheses:
            parentheses.pop()
        is_in_function = parentheses[-1:] == [True]
        kind = _get_access_kind(token.word, previous, is_in_function)
        if kind is None:
            continue
        for name in _list_names(tokens, index + 1, token.word):
            is_defined = name.text.casefold() in defined_names
            if not is_defined and PLACEHOLDER not in name.text:
                yield SqlTable(name.text, kind, name.start)


def _get_access_kind(word: str, previous: str, is_in_function: bool) -> str | None:
    """Return the kind of access to the tables after a keyword; None if none follows.

    Args:
        word: the keyword, in lower case.
        previous: the word before it.
        is_in_function: whether it is inside a function that contains FROM.
    """
    # `TRUNCATE TABLE x` is a single access, so its word TABLE is skipped.
    if word in ("truncate", "table") and previous not in ("as", "truncate"):
        return "deletes" if word == "truncate" or previous == "drop" else "writes"
    if word == "from":
        # `IS DISTINCT FROM` compares two values.
        if is_in_function or previous == "distinct":
            return None
        if previous == "delete":
            return "deletes"
    # No table follows in `DO UPDATE`, `FOR UPDATE`, `FOR NO KEY UPDATE` and `ON
    # UPDATE`.
    if word == "update" and previous in ("do", "for", "key", "on"):
        return None
    return _ACCESS_KINDS.get(word)


class _Token(NamedTuple):
    text: str
    word: str
    start: int

    @classmethod
    def from_match(cls, match: re.Match[str]) -> _Token:
        if match["quoted"]:
            return cls(match["quoted"][1:-1], "", match.start())
        text = match["word"] or match["mark"] or ""
        return cls(text, text.casefold() if match["word"] else "", match.start())


def _list_names(tokens: list[_Token], index: int, keyword: str) -> Iterator[_Token]:
    """Yield the table names after a keyword: `a`, `schema.a`, or a list of tables.

    Args:
        tokens: the tokens of the SQL.
        index: the index after the keyword.
        keyword: the keyword; only after `from`, a list such as `a AS x, b y` can follow.
    """
    while True:
        while index < len(tokens) and tokens[index].word in _WORDS_BEFORE_NAME:
            index += 1
        if index >= len(tokens) or tokens[index].text in "().,;":
            return
        if tokens[index].word in _NAME_LIST_ENDS:
            return
        name = tokens[index]
        index += 1
        schema = ""
        while index + 1 < len(tokens) and tokens[index].text == ".":
            schema = name.text.casefold()
            name, index = tokens[index + 1], index + 2
        # A function that returns rows is no table, as in `FROM generate_series(1, 3)`.
        has_parenthesis = index < len(tokens) and tokens[index].text == "("
        if has_parenthesis and keyword in ("from", "join"):
            index = _skip_parentheses(tokens, index)
        elif schema not in _SYSTEM_SCHEMAS and not _SYSTEM_TABLE.fullmatch(name.text):
            yield name
        if keyword != "from":
            return
        # A table can have an alias before the comma, as in `f() AS x(a), b`.
        while index < len(tokens) and tokens[index].text not in (")", ",", ";"):
            if tokens[index].word in _NAME_LIST_ENDS and tokens[index].word != "as":
                return
            is_open = tokens[index].text == "("
            index = _skip_parentheses(tokens, index) if is_open else index + 1
        if index >= len(tokens) or tokens[index].text != ",":
            return
        index += 1


def _skip_parentheses(tokens: list[_Token], index: int) -> int:
    """Return the index after the parenthesis that closes the parenthesis at `index`."""
    depth = 0
    while index < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        index += 1
        if depth == 0:
            break
    return index


# The maximum length of a followed chain of names and containers.
_MAX_STEPS = 10
# Functions with the name of a table as an argument, and their access to it.
_TABLE_FUNCTIONS = {
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
    """Return the argument with a table's name, and the kind of access.

    None for calls of functions that are not known to name a table.
    """
    name = get_last_name(call.func)
    kind = _TABLE_FUNCTIONS.get(name)
    if kind is None:
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    # The first argument of psycopg2's `copy_from` is the file.
    index = 1 if name == "copy_from" else 0
    argument = call.args[index] if index < len(call.args) else None
    for keyword in ("table_name", "name", "table"):
        argument = argument or keywords.get(keyword)
    return (argument, kind) if argument is not None else None


def find_tables(node: ast.expr, scope: ExpressionScope) -> tuple[str, ...]:
    """Return the names of the tables that an expression can refer to, each once."""
    return tuple(dict.fromkeys(_list_tables(node, scope, _MAX_STEPS, set())))


def find_declared_tables(definition: Definition, resolver: Resolver) -> tuple[str, ...]:
    """Return the table names of a `Table(...)`, or of a class with `__tablename__`.

    Several names are possible if the name is not a literal; empty for other
    definitions.
    """
    name: ast.expr | None = None
    if definition.class_ is not None and definition.kind == "class":
        values = resolver.collect_members(definition.class_, definition.module).values
        table = values.get("__table__")
        name = values.get("__tablename__")
        if name is None and table is not None:
            name = _get_table_name(table)
    elif definition.kind == "value" and definition.value is not None:
        name = _get_table_name(definition.value)
    if name is None:
        return ()
    return find_strings(name, ExpressionScope(resolver, definition.module))


def _list_tables(
    node: ast.expr, scope: ExpressionScope, steps: int, visited: set[ast.expr]
) -> Iterator[str]:
    """Yield the tables that an expression can refer to; visit each expression once."""
    if steps <= 0 or node in visited:
        return
    visited.add(node)
    if isinstance(node, ast.Subscript):
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr == "tables":
            # SQLAlchemy: `METADATA.tables["notes"]` is the table `notes`.
            names = find_strings(node.slice, scope)
            yield from names or _list_metadata_tables(owner.value, scope)
        else:
            yield from _list_item_tables(owner, scope, steps - 1, visited)
    elif isinstance(node, ast.Name) and node.id in scope.aliases:
        assigned = scope.find_assigned(node)
        if assigned and isinstance(assigned[0], (ast.Subscript, ast.Name, ast.IfExp)):
            yield from _list_tables(*assigned, steps - 1, visited)
    elif isinstance(node, ast.IfExp):
        yield from _list_tables(node.body, scope, steps - 1, visited)
        yield from _list_tables(node.orelse, scope, steps - 1, visited)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        definition = scope.resolve(node)
        if definition is not None:
            yield from find_declared_tables(definition, scope.resolver)


def _list_item_tables(
    items: ast.expr, scope: ExpressionScope, steps: int, visited: set[ast.expr]
) -> Iterator[str]:
    """Yield the tables among the items of a list, dictionary or metadata object."""
    if steps <= 0:
        return
    if isinstance(items, ast.Call):
        function = items.func
        if isinstance(function, ast.Attribute) and function.attr in ("values", "items"):
            items = function.value
        elif isinstance(function, ast.Name) and items.args:
            # The called function is assumed to return its argument's items, as
            # `reversed` does.
            items = items.args[0]
    if isinstance(items, ast.Attribute) and items.attr in ("sorted_tables", "tables"):
        yield from _list_metadata_tables(items.value, scope)
    elif isinstance(items, (ast.Name, ast.Attribute)):
        assigned = scope.find_assigned(items)
        if assigned is not None:
            yield from _list_item_tables(*assigned, steps - 1, visited)
    elif isinstance(items, (ast.Dict, ast.List, ast.Tuple, ast.Set)):
        for item in items.values if isinstance(items, ast.Dict) else items.elts:
            yield from _list_tables(item, scope, steps - 1, visited)


def _get_table_name(value: ast.expr) -> ast.expr | None:
    """Return the first argument of `Table(name, ...)`; None for other expressions."""
    if not isinstance(value, ast.Call) or not value.args:
        return None
    return value.args[0] if get_last_name(value.func) in ("Table", "table") else None


def _list_metadata_tables(node: ast.expr, scope: ExpressionScope) -> Iterator[str]:
    """Yield the tables declared with a metadata object, such as `Base.metadata`.

    Only modules that have been loaded so far are searched.
    """
    resolver, metadata = scope.resolver, scope.resolve(node)
    # In `Base.metadata`, `Base` is the declarative base class, whose subclasses are the
    # tables.
    base = None
    if isinstance(node, ast.Attribute) and node.attr == "metadata":
        base = scope.resolve(node.value)
    modules = [module for module in resolver.loaded_modules.values() if module]
    for module in modules:
        module_scope = ExpressionScope(resolver, module)
        if base is not None:
            for name, class_ in module.bindings.classes.items():
                parents = [module_scope.resolve(parent) for parent in class_.bases]
                if any(parent and parent.key == base.key for parent in parents):
                    mapped_class = resolver.find_definition(module, name)
                    if mapped_class is not None:
                        yield from find_declared_tables(mapped_class, resolver)
        if metadata is None:
            continue
        for value in module.bindings.assignments.values():
            # SQLAlchemy: `Table(name, metadata, ...)` declares a table.
            table_name = _get_table_name(value)
            if table_name is None or not isinstance(value, ast.Call):
                continue
            if len(value.args) < 2:
                continue
            table_metadata = module_scope.resolve(value.args[1])
            if table_metadata is not None and table_metadata.key == metadata.key:
                yield from find_strings(table_name, module_scope)
