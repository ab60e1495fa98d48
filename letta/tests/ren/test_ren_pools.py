"""Two pools: what a tool's spec says of tables is what its statements do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine, event, inspect

from examples.ren.index_code import index_folder
from examples.ren.main_tables import chat_transcripts
from examples.ren.pools import main_pool, memory_pool
from letta.tests.fake_letta import FakeLetta
from letta.tests.ren.conftest import Call
from letta.tests.ren.story import tell
from toolcast.static_analysis.tables import find_sql_tables
from toolcast_runtime import current_call

SPECS = Path(__file__).parents[3] / "specs" / "ren"
POOLS = yaml.safe_load((SPECS / "toolset.yaml").read_text("utf-8"))["pools"]

Seen = dict[str, set[tuple[str, str, str]]]
"""`{tool: {(pool, what it does, table)}}`."""


@pytest.fixture
def seen() -> Iterator[Seen]:
    """What statements do while they run, by the tool that runs them."""
    found: Seen = {}

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        try:
            tool = current_call().tool
        except LookupError:
            return
        database = connection.engine.url.database or ""
        pool = "memory" if "memory" in Path(database).name else "main"
        if statement.lstrip().startswith("CREATE"):
            return  # The tables are made when a database is first used.
        for table in find_sql_tables(statement):
            found.setdefault(tool, set()).add((pool, table.kind, table.name))

    event.listen(Engine, "before_cursor_execute", note)
    yield found
    event.remove(Engine, "before_cursor_execute", note)


def declared(tool: str) -> tuple[str | None, Mapping[str, list[str]]]:
    data = yaml.safe_load((SPECS / f"{tool}.yaml").read_text("utf-8")).get("data", {})
    kinds = ("reads", "writes", "deletes")
    return data.get("pool"), {kind: data.get(kind, []) for kind in kinds}


@pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
)
def test_statements_are_those_that_the_specs_declare(
    kind: str,
    call: Call,
    letta: FakeLetta,
    seen: Seen,
    request: pytest.FixtureRequest,
) -> None:
    if kind == "postgresql":
        request.getfixturevalue("on_postgres")
    for tool in tell(call, letta.script):
        pool, tables = declared(tool)
        done = seen.get(tool, set())
        assert {used for used, _, _ in done} <= {pool}, tool
        for _, what, table in done:
            every = [*tables["reads"], *tables["writes"], *tables["deletes"]]
            assert table in (every if what == "reads" else tables[what]), (tool, done)
        named = {table for listed in tables.values() for table in listed}
        assert named == {table for _, _, table in done}, tool


def test_each_pool_has_its_own_tables_and_no_other() -> None:
    for pool, accessor in (("main", main_pool), ("memory", memory_pool)):
        with accessor() as connection:
            there = inspect(connection).get_table_names()
        assert sorted(there) == sorted(POOLS[pool]["tables"])
    assert not set(POOLS["main"]["tables"]) & set(POOLS["memory"]["tables"])


def test_the_embedded_databases_are_two_files(tmp_path: Path, call: Call) -> None:
    call("write_session_log", summary="One.")
    call("create_notecard", text="Two.")
    for name, table, count in (
        ("memory", "session_headers", 1),
        ("main", "notecards", 1),
    ):
        with sqlite3.connect(tmp_path / "data" / f"{name}.sqlite3") as file:
            assert file.execute(f"SELECT count(*) FROM {table}").fetchone() == (count,)
    with (
        sqlite3.connect(tmp_path / "data" / "main.sqlite3") as file,
        pytest.raises(sqlite3.OperationalError, match="no such table"),
    ):
        file.execute("SELECT * FROM session_headers")


def test_chats_are_searched_and_the_bridge_is_not(call: Call, letta: FakeLetta) -> None:
    letta.script.append({"text": "The walrus is well."})
    call("send_to_ren", message="How is the walrus?")
    said = {"speaker": "scott", "said_at": "2026-06-13T10:00:00.000Z"}
    with main_pool(write=True) as connection:
        connection.execute(
            chat_transcripts.insert(), {**said, "content": "A WALRUS ÄSSE"}
        )
    (found,) = call("search_transcripts", query="walrus ässe")["messages"]
    assert (found["content"], found["matched"]) == ("A WALRUS ÄSSE", 2)


def test_code_is_found_once_it_is_indexed(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "walrus.py").write_text("x = 1\n" * 40 + "def walrus(): ...\n")
    (source / ".hidden.py").write_text("walrus\n")
    (source / "picture.py").write_bytes(b"\xff\xfe walrus")
    for _ in range(2):  # A second run replaces the first.
        assert index_folder(source) == 2
    (found,) = call("search_code", query="def walrus")["chunks"]
    assert (found["file"], found["start_line"], found["end_line"]) == (
        "inner/walrus.py",
        41,
        41,
    )


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ren:hunter2@127.0.0.1:9/ren", "The main database does not"),
        ("mysql://ren:hunter2@127.0.0.1/ren", "REN_DATABASE_URL must begin with"),
        ("hunter2", "REN_DATABASE_URL is not the address of a database."),
    ],
)
def test_a_database_that_is_not_there_is_told_without_its_password(
    url: str, says: str, error_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REN_DATABASE_URL", url)
    told = error_of("list_notecards")
    assert told.startswith(says)
    assert "hunter2" not in told


@pytest.mark.parametrize("number", [10**30, 2**63, 4711, 4711.0])
def test_numbers_that_no_row_has(number: int, error_of: Any) -> None:
    told = error_of("update_notecard", notecard_id=number, status="archived")
    assert told == f"There is no notecard {number}."


def test_texts_that_no_database_takes(call: Call, error_of: Any) -> None:
    assert call("create_notecard", text="a\x00b")["text"] == "a b"
    assert "arguments of `create_notecard` are not valid" in error_of(
        "create_notecard", text="\ud800"
    )
