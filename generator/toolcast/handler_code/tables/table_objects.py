"""Tables that code names by objects: SQLAlchemy's tables and metadata, and mapped classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..module_scope import ModuleScope
from ..package_names import Definition, HandlerPackage
from ..python_module import last_name
from ..string_values import Place, texts_of

__all__ = ["declared_tables", "named_by_call", "tables_of"]

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


def named_by_call(call: ast.Call) -> tuple[ast.expr, str] | None:
    """The expression of a table's name that a call is given, and what is done with it."""
    name = last_name(call.func)
    kind = _BY_NAME.get(name)
    if kind is None:
        return None
    by_word = {keyword.arg: keyword.value for keyword in call.keywords}
    index = 1 if name == "copy_from" else 0
    given = call.args[index] if index < len(call.args) else None
    for word in ("table_name", "name", "table"):
        given = given or by_word.get(word)
    return (given, kind) if given is not None else None


def tables_of(node: ast.expr, package: HandlerPackage, place: Place) -> tuple[str, ...]:
    """The names of the tables that an expression may stand for."""
    return tuple(dict.fromkeys(_found(node, package, place, _STEPS)))


def declared_tables(known: Definition, package: HandlerPackage) -> tuple[str, ...]:
    """The table of a `Table(...)`, or of a class with `__tablename__`."""
    return tuple(_declared(known, package))


def _found(
    node: ast.expr, package: HandlerPackage, place: Place, steps: int
) -> Iterator[str]:
    if steps <= 0:
        return
    if isinstance(node, ast.Subscript):
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr == "tables":
            # `METADATA.tables["notes"]`
            named = texts_of(node.slice, package, place)
            yield from named or _of_metadata(owner.value, package, place)
        else:
            yield from _each(owner, package, place, steps - 1)
    elif isinstance(node, ast.Name) and node.id in place.aliases:
        alias = place.aliases[node.id]
        if isinstance(alias, (ast.Subscript, ast.Name, ast.IfExp)):
            yield from _found(alias, package, place.without(node.id), steps - 1)
    elif isinstance(node, ast.IfExp):
        yield from _found(node.body, package, place, steps - 1)
        yield from _found(node.orelse, package, place, steps - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        known = package.of(node, place.scope, place.names)
        if known is not None:
            yield from _declared(known, package)


def _each(
    items: ast.expr, package: HandlerPackage, place: Place, steps: int
) -> Iterator[str]:
    """The tables among the items of a list, a dictionary or the tables of metadata."""
    if isinstance(items, ast.Call):
        function = items.func
        if isinstance(function, ast.Attribute) and function.attr in ("values", "items"):
            items = function.value
        elif isinstance(function, ast.Name) and items.args:
            items = items.args[0]
    if isinstance(items, ast.Attribute) and items.attr in ("sorted_tables", "tables"):
        yield from _of_metadata(items.value, package, place)
        return
    if isinstance(items, ast.Name) and items.id in place.aliases:
        alias = place.aliases[items.id]
        yield from _each(alias, package, place.without(items.id), steps - 1)
        return
    if isinstance(items, (ast.Name, ast.Attribute)):
        known = package.of(items, place.scope, place.names)
        if known is None or known.kind != "value" or known.value is None:
            return
        items, place = known.value, Place(known.scope, {}, {})
        if isinstance(items, ast.Attribute):
            yield from _each(items, package, place, steps - 1)
            return
    parts: Iterable[ast.expr] = ()
    if isinstance(items, ast.Dict):
        parts = items.values
    elif isinstance(items, (ast.List, ast.Tuple, ast.Set)):
        parts = items.elts
    for part in parts:
        yield from _found(part, package, place, steps - 1)


def _declared(known: Definition, package: HandlerPackage) -> Iterator[str]:
    """The table of a `Table(...)`, or of a class with `__tablename__`."""
    name: ast.expr | None = None
    if known.class_ is not None and known.kind == "class":
        name = known.class_.values.get("__tablename__")
        table = known.class_.values.get("__table__")
        name = name or (_first(table) if table is not None else None)
    elif known.kind == "value" and known.value is not None:
        name = _first(known.value)
    if name is not None:
        yield from texts_of(name, package, Place(known.scope, {}, {}))


def _first(value: ast.expr) -> ast.expr | None:
    """The name in `Table(name, ...)`."""
    if not isinstance(value, ast.Call) or not value.args:
        return None
    return value.args[0] if last_name(value.func) in ("Table", "table") else None


def _of_metadata(
    node: ast.expr, package: HandlerPackage, place: Place
) -> Iterator[str]:
    """The tables that are declared with metadata, in the modules that were read so far."""
    metadata = package.of(node, place.scope, place.names)
    base = _base_of(node, package, place)
    for scope in package.scopes:
        if base is not None:
            yield from _of_base(base, scope, package)
        for value in scope.values.values() if metadata is not None else ():
            name = _first(value)
            if name is None or not isinstance(value, ast.Call) or len(value.args) < 2:
                continue
            given = package.of(value.args[1], scope, {})
            if given is not None and metadata and given.key == metadata.key:
                yield from texts_of(name, package, Place(scope, {}, {}))


def _base_of(
    node: ast.expr, package: HandlerPackage, place: Place
) -> Definition | None:
    """The class in `Base.metadata`."""
    if isinstance(node, ast.Attribute) and node.attr == "metadata":
        return package.of(node.value, place.scope, place.names)
    return None


def _of_base(
    base: Definition, scope: ModuleScope, package: HandlerPackage
) -> Iterator[str]:
    for name, class_ in scope.classes.items():
        for parent in class_.bases:
            known = package.of(parent, scope, {})
            if known is not None and known.key == base.key:
                mapped = package.named(scope, name)
                if mapped is not None:
                    yield from _declared(mapped, package)
