"""Queries composed of several strings, or read from files, are analyzed as well."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from tests.handler_code.handler_findings import find_problems
from tests.project_files import write_files

# The handler queries `lessons` in the pool `main`, but the table is in the pool `memory`.
COMPOSED = [
    'for table in ("cards", "lessons"): c.execute(f"SELECT * FROM {table}")',
    'for table in NAMES: c.execute("SELECT * FROM " + table)',
    'for number, table in enumerate(sorted(NAMES)): c.execute("SELECT * FROM %s" % table)',
    'for table in BY_KIND.values(): c.execute(f"SELECT * FROM {table}")',
    'for kind, table in BY_KIND.items(): c.execute(f"SELECT {kind} FROM {table}")',
    'for table, column in [("cards", "id"), ("lessons", "id")]:'
    ' c.execute(f"SELECT {column} FROM {table}")',
    'return [c.execute(f"SELECT * FROM {table}") for table in NAMES]',
    'for table in "cards lessons".split(): c.execute(f"SELECT * FROM {table}")',
    'return c.execute(f"SELECT * FROM {BY_KIND[kind]}")',
    'return c.execute("SELECT * FROM %(table)s" % {"table": TABLE})',
    'parts = ["SELECT *", "FROM", TABLE]\nreturn c.execute(" ".join(parts))',
    'return c.execute("SELECT * FROM TABLE_NAME".replace("TABLE_NAME", TABLE))',
    'table = "lessons"\nreturn c.execute(f"SELECT * FROM {table}")',
    'table = "lessons" if kind else "cards"\nreturn c.execute(f"SELECT * FROM {table}")',
    'query = "SELECT *"\nquery += f" FROM {TABLE}"\nreturn c.execute(query)',
    'return c.execute(Queries().all("lessons"))',
    'return c.execute(select(METADATA.tables["lessons"]))',
    'for table in ("lessons",): c.execute(select(METADATA.tables[table]))',
    "return c.execute(select(METADATA.tables[kind]))",
    "return [c.execute(select(table)) for table in METADATA.sorted_tables]",
    "for table in METADATA.tables.values(): c.execute(table.delete())",
    "METADATA.drop_all(c)",
    "for table in Base.metadata.sorted_tables: c.execute(select(table))",
    "for table in OBJECTS: c.execute(select(table))",
    'return c.execute(select({"a": lessons}[kind]))',
    'return c.execute(sa.select(sa.table("lessons")))',
    'return c.execute(select(Table("lessons", MetaData(), autoload_with=c)))',
    'return pandas.read_sql_table("lessons", c)',
    "return pandas.read_sql_table(table_name=TABLE, con=c)",
    'frame.to_sql("lessons", c)',
    'c.copy_records_to_table("lessons", records=rows)',
    'return c.table("lessons").select("*").execute()',
    'return c.execute(open("handlers/sql/lessons.sql").read())',
    'return c.execute((Path(__file__).parent / "sql" / "lessons.sql").read_text())',
    "return c.execute((HERE / FILE).read_text())",
    'return c.execute(open(os.path.join(FOLDER, "sql", "lessons.sql")).read())',
    'return c.execute(files(__package__).joinpath("sql/lessons.sql").read_text())',
    'return c.execute(Path(f"{FOLDER}/sql/{TABLE}.sql").read_text())',
]
CODE = """
from .pools import main
from .tables import lessons
from sqlalchemy import MetaData, Table, select
import sqlalchemy as sa
NAMES = ["cards", "lessons"]
BY_KIND = {"card": "cards", "lesson": "lessons"}
TABLE = "lessons"
FILE = "sql/lessons.sql"
METADATA = MetaData()
THEIRS = Table("lessons", METADATA)
OBJECTS = (lessons,)
class Base(DeclarativeBase): ...
class Mine(Base):
    __tablename__ = "lessons"
class Queries:
    verb = "SELECT * FROM "
    def all(self, table): return self.verb + table
def work(kind=None):
    with main() as c:
"""


@pytest.mark.parametrize("code", COMPOSED)
def test_composed_query_to_a_wrong_pool_is_reported(code: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"handlers/sql/lessons.sql": "SELECT *\nFROM lessons\n"})
    body = textwrap.indent(textwrap.dedent(code), " " * 8)
    found = find_problems(tmp_path, CODE + body)
    assert set(found) == {"data/wrong-pool"}, found


def test_undeclared_delete_in_an_sql_file_is_reported_at_the_handler_line(
    tmp_path: Path,
) -> None:
    code = """
        from .pools import main
        def work():
            with main() as c: return c.execute(open("chats.sql").read())
        """
    (tmp_path / "chats.sql").write_text("-- all of them\nDELETE FROM cards;\n")
    found = find_problems(tmp_path, code)
    assert found["data/undeclared-effect"] == (
        "handlers/work.py:4 deletes `cards`, but `data.deletes` does not contain it"
    )


UNSAFE_FILES = {
    "a link": lambda root: (root / "q.sql").symlink_to("/etc/passwd"),
    "a pipe": lambda root: os.mkfifo(root / "q.sql"),
    "a folder": lambda root: (root / "q.sql").mkdir(),
    "nothing": lambda root: None,
}


@pytest.mark.parametrize("make", UNSAFE_FILES.values(), ids=UNSAFE_FILES)
@pytest.mark.parametrize("name", ["q.sql", "../q.sql", "/etc/q.sql", "a\\0b.sql"])
def test_sql_file_that_is_not_a_regular_project_file_is_not_read(
    make: object, name: str, tmp_path: Path
) -> None:
    """Unread statements cause no finding."""
    assert callable(make)
    root = tmp_path / "project"
    root.mkdir()
    make(root)
    (tmp_path / "q.sql").write_text("DELETE FROM lessons")
    code = f"""
        from .pools import main
        def work():
            with main() as c: return c.execute(open("{name}").read())
        """
    assert find_problems(root, code) == {}


def test_growing_strings_are_analyzed_in_bounded_time(tmp_path: Path) -> None:
    twice = "\n".join(
        f"def f{n}(a): return f{n + 1}(a) + f{n + 1}(a + 'x')" for n in range(40)
    )
    wide = "+".join(f"BY_KIND[{n}]" for n in range(60))
    code = f"""
from .pools import main
BY_KIND = {{{", ".join(f"{n}: 'table{n}'" for n in range(200))}}}
{twice}
def f40(a): return a
def work(kind=1):
    query = "SELECT"
{chr(10).join(f"    query += ' part{n}'" for n in range(300))}
    with main() as c:
        c.execute(query)
        c.execute(f0("SELECT * FROM cards"))
        return c.execute("SELECT * FROM " + {wide})
"""
    assert "data/wrong-pool" not in find_problems(tmp_path, code)
