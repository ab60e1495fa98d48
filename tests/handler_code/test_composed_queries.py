"""Queries composed of several strings, or read from files, are analyzed as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.handler_code.handler_findings import find_problems
from tests.project_files import write_files

# The handler queries `lessons` in the pool `main`, but the table is in the pool
# `memory`.
COMPOSED = {
    "a loop over names": """
        for table in ("cards", "lessons"):
            c.execute(f"SELECT * FROM {table}")
        """,
    "a loop over a constant": """
        for table in NAMES: c.execute("SELECT * FROM " + table)
        """,
    "a loop over a sorted constant": """
        for number, table in enumerate(sorted(NAMES)): c.execute("SELECT * FROM %s" % table)
        """,
    "a loop over the values of a dictionary": """
        for table in BY_KIND.values(): c.execute(f"SELECT * FROM {table}")
        """,
    "a loop over the items of a dictionary": """
        for kind, table in BY_KIND.items(): c.execute(f"SELECT {kind} FROM {table}")
        """,
    "a loop over pairs": """
        for table, column in [("lessons", "id")]: c.execute(f"SELECT {column} FROM {table}")
        """,
    "a comprehension": """
        return [c.execute(f"SELECT * FROM {table}") for table in NAMES]
        """,
    "a loop over words": """
        for table in "cards lessons".split(): c.execute(f"SELECT * FROM {table}")
        """,
    "an item of a dictionary": """
        return c.execute(f"SELECT * FROM {BY_KIND['lesson']}")
        """,
    "any item of a dictionary": """
        return c.execute(f"SELECT * FROM {BY_KIND[kind]}")
        """,
    "get of a dictionary": """
        return c.execute("SELECT * FROM " + BY_KIND.get(kind, "cards"))
        """,
    "format": """
        return c.execute("SELECT * FROM {}".format(TABLE))
        """,
    "format by name": """
        return c.execute("SELECT {column} FROM {table}".format(table=TABLE, column="id"))
        """,
    "percent by name": """
        return c.execute("SELECT * FROM %(table)s" % {"table": TABLE})
        """,
    "a template": """
        return c.execute(Template("SELECT * FROM $table").substitute(table=TABLE))
        """,
    "join": """
        return c.execute(" ".join(["SELECT *", "FROM", "lessons"]))
        """,
    "join of a list by name": """
        parts = ["SELECT *", "FROM", TABLE]
        return c.execute(" ".join(parts))
        """,
    "replace": """
        return c.execute("SELECT * FROM TABLE_NAME".replace("TABLE_NAME", TABLE))
        """,
    "a local name": """
        table = "lessons"
        return c.execute(f"SELECT * FROM {table}")
        """,
    "one of two": """
        table = "lessons" if kind else "cards"
        return c.execute(f"SELECT * FROM {table}")
        """,
    "a text that grows": """
        query = "SELECT *"
        query += f" FROM {TABLE}"
        return c.execute(query)
        """,
    "a function gives the name": """
        return c.execute(f"SELECT * FROM {named('less')}")
        """,
    "a method gives the query": """
        return c.execute(Queries().all("lessons"))
        """,
    "an identifier of psycopg": """
        return c.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier("lessons")))
        """,
    "the tables of metadata": """
        return c.execute(select(METADATA.tables["lessons"]))
        """,
    "the tables of metadata, by name": """
        for table in ("lessons",): c.execute(select(METADATA.tables[table]))
        """,
    "any table of metadata": """
        return c.execute(select(METADATA.tables[kind]))
        """,
    "all tables of metadata": """
        return [c.execute(select(table)) for table in METADATA.sorted_tables]
        """,
    "all tables of metadata, emptied": """
        for table in METADATA.tables.values(): c.execute(table.delete())
        """,
    "all tables of metadata, dropped": """
        METADATA.drop_all(c)
        """,
    "all tables of a base class": """
        for table in Base.metadata.sorted_tables: c.execute(select(table))
        """,
    "a list of table objects": """
        for table in OBJECTS: c.execute(select(table))
        """,
    "a dictionary of table objects": """
        return c.execute(select({"a": lessons}[kind]))
        """,
    "a table by its name": """
        return c.execute(sa.select(sa.table("lessons")))
        """,
    "a table without declaration": """
        return c.execute(select(Table("lessons", MetaData(), autoload_with=c)))
        """,
    "pandas": """
        return pandas.read_sql_table("lessons", c)
        """,
    "pandas, by word": """
        return pandas.read_sql_table(table_name=TABLE, con=c)
        """,
    "pandas, writing": """
        frame.to_sql("lessons", c)
        """,
    "rows that are copied": """
        c.copy_records_to_table("lessons", records=rows)
        """,
    "a builder of queries": """
        return c.table("lessons").select("*").execute()
        """,
    "a file": """
        return c.execute(open("handlers/sql/lessons.sql").read())
        """,
    "a file beside the module": """
        return c.execute((Path(__file__).parent / "sql" / "lessons.sql").read_text())
        """,
    "a file by a constant": """
        return c.execute((HERE / FILE).read_text())
        """,
    "a file that is joined": """
        return c.execute(open(os.path.join(FOLDER, "sql", "lessons.sql")).read())
        """,
    "a file of the package": """
        return c.execute(files(__package__).joinpath("sql/lessons.sql").read_text())
        """,
    "a file of a name that is formatted": """
        return c.execute(Path(f"{FOLDER}/sql/{TABLE}.sql").read_text())
        """,
}
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
def named(start): return start + "ons"
def work(kind=None):
    with main() as c:
"""


@pytest.mark.parametrize("code", COMPOSED.values(), ids=COMPOSED)
def test_composed_query_to_a_wrong_pool_is_reported(code: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"handlers/sql/lessons.sql": "SELECT *\nFROM lessons\n"})
    body = "\n".join(f"    {line}" for line in code.strip("\n").splitlines())
    found = find_problems(tmp_path, CODE + body)
    assert set(found) == {"data/wrong-pool"}, found


def test_statement_in_a_file_is_reported_at_its_use(tmp_path: Path) -> None:
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
    "a pipe": lambda root: __import__("os").mkfifo(root / "q.sql"),
    "a folder": lambda root: (root / "q.sql").mkdir(),
    "nothing": lambda root: None,
}


@pytest.mark.parametrize("make", UNSAFE_FILES.values(), ids=UNSAFE_FILES)
@pytest.mark.parametrize("name", ["q.sql", "../q.sql", "/etc/q.sql", "a\\0b.sql"])
def test_unsafe_file_is_not_read(make: object, name: str, tmp_path: Path) -> None:
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
