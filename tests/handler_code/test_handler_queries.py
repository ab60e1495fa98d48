"""Queries of handlers, compared with the pool and tables that the spec declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.handler_code.handler_findings import find_problems


def in_main(expression: str) -> str:
    """Return a handler that evaluates an expression with a connection of `main`."""
    return f"""
        from .pools import main
        from .tables import Lesson, cards, chats, lessons
        def work():
            with main() as connection: return {expression}
        """


VALID = {
    "text": in_main('connection.execute("SELECT * FROM cards")'),
    "its helper": """
        from .pools import main
        def work():
            with main() as connection: return _rows(connection)
        def _rows(connection): return connection.execute("SELECT * FROM cards")
        """,
    "both pools, each for its own": """
        from .pools import main, memory
        from .tables import cards
        def work():
            with main() as connection: rows = connection.execute(select(cards))
            with memory() as connection: connection.execute("SELECT 1")
            return rows
        """,
    "system tables": """
        from .pools import main
        def work():
            with main() as connection:
                connection.execute("SELECT name FROM sqlite_master")
                connection.execute("SELECT * FROM information_schema.tables")
                return connection.execute("SELECT * FROM shop.public.cards")
        """,
    "tables of the statement": in_main(
        'connection.execute("WITH best AS (SELECT * FROM cards) SELECT * FROM best")'
    ),
    "names from an unknown function": """
        from .pools import main
        def work():
            for table in _find(["chats"]):
                with main() as connection: connection.execute(f"SELECT * FROM {table}")
        """,
    "prose": """
        from .pools import main
        def work():
            '''Reads from cards, never from lessons.'''
            with main() as connection: rows = connection.execute("SELECT * FROM cards")
            if not rows: raise LookupError("Select one from lessons instead.")
            return rows
        """,
    "a local of a table's name": """
        from .pools import main
        from .tables import cards, lessons
        def work():
            with main() as connection: rows = connection.execute(select(cards))
            for lessons in rows: print(lessons)
        """,
}

WRONG_POOL = {
    "text": in_main('connection.execute("SELECT * FROM lessons")'),
    "lower case": in_main('connection.execute("select * from lessons")'),
    "concatenated": in_main('connection.execute("SELECT *" " FROM lessons")'),
    "f-string": in_main(
        'connection.execute(f"SELECT * FROM lessons ORDER BY {order}")'
    ),
    "a constant": """
        from .pools import main
        QUERY = "SELECT * FROM lessons"
        def work():
            with main() as connection: return connection.execute(QUERY)
        """,
    "a table": in_main("connection.execute(select(lessons.c.id))"),
    "a table by another name": """
        from .pools import main
        from .tables import lessons as cards
        def work():
            with main() as connection: return connection.execute(select(cards))
        """,
    "a mapped class": in_main("connection.query(Lesson.id).all()"),
    "a helper that is given the query": """
        from .pools import main
        def work(): return _rows("SELECT * FROM lessons")
        def _rows(query):
            with main() as connection: return connection.execute(query)
        """,
    "a helper that makes the connection": """
        from .pools import main
        def work():
            connection = _connection()
            return connection.execute("SELECT * FROM lessons")
        def _connection(): return main()
        """,
    "the other of two connections": """
        from .pools import main, memory
        def work():
            with main() as one, memory() as two:
                two.execute("SELECT 1")
                return one.execute("SELECT * FROM lessons")
        """,
    "a join": in_main('connection.execute("SELECT * FROM cards JOIN lessons ON true")'),
    "the accessor as an argument": """
        from .pools import main
        def work(): return fetch(main, "SELECT * FROM lessons")
        """,
    "a pool that is a name": """
        from . import pools
        def work():
            with pools.POOL.connect() as c: return c.execute("SELECT * FROM cards")
        """,
}

UNDECLARED = {
    "text": in_main('connection.execute("SELECT * FROM chats")'),
    "without an accessor": """
        def work(): return connect().execute("SELECT * FROM chats")
        """,
    "a table": in_main("connection.execute(select(chats))"),
    "that no pool has": in_main('connection.execute("SELECT * FROM nowhere")'),
    "a subquery": in_main(
        'connection.execute("SELECT * FROM cards WHERE id IN (SELECT id FROM chats)")'
    ),
}


@pytest.mark.parametrize("code", VALID.values(), ids=VALID)
def test_query_to_the_declared_pool_has_no_finding(code: str, tmp_path: Path) -> None:
    assert find_problems(tmp_path, code) == {}


@pytest.mark.parametrize("code", WRONG_POOL.values(), ids=WRONG_POOL)
def test_query_to_the_wrong_pool_is_reported(code: str, tmp_path: Path) -> None:
    found = find_problems(tmp_path, code)
    assert set(found) == {"data/wrong-pool"}, found


@pytest.mark.parametrize("code", UNDECLARED.values(), ids=UNDECLARED)
def test_query_for_an_undeclared_table_is_reported(code: str, tmp_path: Path) -> None:
    found = find_problems(tmp_path, code)
    assert set(found) == {"data/undeclared-table"}, found


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("'INSERT INTO cards (id) VALUES (1)'", "writes"),
        ("'UPDATE cards SET id = 1'", "writes"),
        ("'DELETE FROM cards'", "deletes"),
        ("insert(cards)", "writes"),
        ("cards.update()", "writes"),
        ("delete(cards).where(cards.c.id == 1)", "deletes"),
    ],
)
def test_write_or_delete_without_declaration_is_an_undeclared_effect(
    statement: str, kind: str, tmp_path: Path
) -> None:
    found = find_problems(tmp_path, in_main(f"connection.execute({statement})"))
    assert set(found) == {"data/undeclared-effect"}, found
    assert f"{kind} `cards`" in found["data/undeclared-effect"]
