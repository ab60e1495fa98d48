"""Tables in SQL: the access, the name and the position of each."""

from __future__ import annotations

import pytest

from toolcast.static_analysis.modules import PLACEHOLDER
from toolcast.static_analysis.tables import (
    find_sql_tables,
    is_certainly_sql,
    is_probably_sql,
)

# `?` is an unknown part of a name.
TABLES = [
    ("SELECT * FROM a", "reads a"),
    ("select * from a", "reads a"),
    ("SELECT * FROM a, b AS x, c y WHERE d", "reads a, reads b, reads c"),
    ("SELECT * FROM a AS x(y), b", "reads a, reads b"),
    ("SELECT * FROM a WHERE b IN (SELECT c FROM d), e", "reads a, reads d"),
    ("SELECT * FROM (SELECT * FROM a) x, b", "reads a"),
    ("SELECT * FROM a JOIN b ON c, d", "reads a, reads b"),
    ("SELECT * FROM a LEFT JOIN b USING (c)", "reads a, reads b"),
    ("SELECT * FROM ONLY a", "reads a"),
    ("SELECT * FROM", ""),
    ("SELECT * FROM only", ""),
    ("SELECT * FROM a,", "reads a"),
    ("SELECT * FROM WHERE a", ""),
    ("FROM a; FROM b", "reads a, reads b"),
    # Qualified and quoted names, and system tables.
    ("SELECT * FROM s.a, d.s.b", "reads a, reads b"),
    ("SELECT * FROM s.", "reads s"),
    ('SELECT * FROM "My a", `b c`, [d e]', "reads My a, reads b c, reads d e"),
    ('SELECT * FROM "where"', "reads where"),
    (
        "SELECT * FROM pg_catalog.a, information_schema.b, pg_class, sqlite_x, c",
        "reads c",
    ),
    ("SELECT * FROM pg, a_pg_b", "reads pg, reads a_pg_b"),
    ("SELECT * FROM a?, b", "reads b"),
    # Functions that return rows.
    ("SELECT * FROM generate_series(1, (2)), a", "reads a"),
    ("SELECT * FROM f(1) AS x JOIN a ON b", "reads a"),
    ("SELECT * FROM a JOIN LATERAL f(a.b) x ON true", "reads a"),
    ("SELECT * FROM a JOIN f(1) x ON true", "reads a"),
    ("SELECT * FROM f(", ""),
    # FROM and UPDATE without a table.
    ("SELECT extract(year FROM c) FROM a", "reads a"),
    ("SELECT extract(year FROM (c)), trim(b FROM c) FROM a", "reads a"),
    ("SELECT f(extract(year FROM c), (SELECT 1 FROM b)) FROM a", "reads b, reads a"),
    (") FROM a", "reads a"),
    ("SELECT a IS DISTINCT FROM b FROM c", "reads c"),
    ("SELECT * FROM a FOR UPDATE", "reads a"),
    ("SELECT * FROM a FOR NO KEY UPDATE", "reads a"),
    ("INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1", "writes a"),
    ("CREATE TABLE a (b REFERENCES c ON UPDATE CASCADE)", "writes a"),
    # Names that WITH defines.
    ("WITH a AS (SELECT * FROM b) SELECT * FROM A, c", "reads b, reads c"),
    ("SELECT b AS a FROM a", "reads a"),
    # Writes and deletions.
    ("INSERT INTO a (b) SELECT * FROM c", "writes a, reads c"),
    ("INSERT INTO a, b", "writes a"),
    ("UPDATE a SET b = 1 FROM c", "writes a, reads c"),
    ("DELETE FROM a", "deletes a"),
    ("DELETE FROM a WHERE b IN (SELECT c FROM d)", "deletes a, reads d"),
    ("TRUNCATE a", "deletes a"),
    ("TRUNCATE TABLE a", "deletes a"),
    ("DROP TABLE IF EXISTS a", "deletes a"),
    ("CREATE TABLE IF NOT EXISTS a (b INT)", "writes a"),
    ("ALTER TABLE a ADD b INT", "writes a"),
    ("SELECT 1 AS table FROM a", "reads a"),
    ("SELECT a AS truncate, b FROM c", "reads c"),
    # Comments and strings.
    ("SELECT * -- FROM a\nFROM b", "reads b"),
    ("SELECT * /* FROM a\n */ FROM b /* FROM c", "reads b"),
    ("SELECT ' FROM a '' FROM b ' FROM c", "reads c"),
    ("SELECT $$ FROM a $$, $x$ FROM b $x$ FROM c", "reads c"),
]


@pytest.mark.parametrize(("sql", "tables"), TABLES)
def test_sql_has_the_listed_tables(sql: str, tables: str) -> None:
    found = list(find_sql_tables(sql.replace("?", PLACEHOLDER)))
    assert ", ".join(f"{table.kind} {table.name}" for table in found) == tables
    assert all(
        table.name in sql[table.start :][: len(table.name) + 1] for table in found
    )


@pytest.mark.parametrize(
    ("text", "is_probable", "is_certain"),
    [
        ("SELECT 1", True, True),
        ("(SELECT 1)", True, True),
        ("-- Notes\nSELECT 1", True, False),
        ("select a", True, False),
        ("Select a tool from the list", True, False),
        ("copy that", True, False),
        ("update the notes and set it", True, False),
        ("update the notes", False, False),
        ("UPDATE", False, False),
        ("Read it FROM a", True, False),
        ("ORDER BY a FROM b", True, True),
        ("OR a FROM b", True, True),
        ("A tool FROM b", True, False),
        ("read it from a", False, False),
        ("with some as it is", False, False),
        ("WITH a AS (SELECT 1)", True, True),
        ("INSERT OR IGNORE INTO a", True, True),
        ("DROP TABLE a", True, True),
        ("DROP a", False, False),
        ("TABLE a", True, True),
        ("", False, False),
        (" ", False, False),
    ],
)
def test_sql_is_recognized_by_a_statement_or_an_upper_case_clause(
    text: str, is_probable: bool, is_certain: bool
) -> None:
    """SQL is certain if its first word is upper-case and has two characters."""
    assert (is_probably_sql(text), is_certainly_sql(text)) == (is_probable, is_certain)
