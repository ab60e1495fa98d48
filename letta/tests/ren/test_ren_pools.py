"""Two database pools: declared tables equal the tables of executed statements."""

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
from letta.tests.ren.story import run_story
from toolcast.static_analysis.tables import find_sql_tables
from toolcast_runtime import current_call

SPECS = Path(__file__).parents[3] / "specs" / "ren"
POOLS = yaml.safe_load((SPECS / "toolset.yaml").read_text("utf-8"))["pools"]

Seen = dict[str, set[tuple[str, str, str]]]
"""`{tool: {(pool, kind of access, table)}}`."""


@pytest.fixture
def recorded_tables() -> Iterator[Seen]:
    """Yield the tables of executed statements by the tool that runs them."""
    found: Seen = {}

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        try:
            tool = current_call().tool
        except LookupError:
            return
        database = connection.engine.url.database or ""
        pool = "memory" if "memory" in Path(database).name else "main"
        if statement.lstrip().startswith("CREATE"):
            return  # Tables are created when a database is first used.
        for table in find_sql_tables(statement):
            found.setdefault(tool, set()).add((pool, table.kind, table.name))

    event.listen(Engine, "before_cursor_execute", note)
    yield found
    event.remove(Engine, "before_cursor_execute", note)


def read_declared_tables(tool: str) -> tuple[str | None, Mapping[str, list[str]]]:
    data = yaml.safe_load((SPECS / f"{tool}.yaml").read_text("utf-8")).get("data", {})
    kinds = ("reads", "writes", "deletes")
    return data.get("pool"), {kind: data.get(kind, []) for kind in kinds}


@pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
)
def test_example_tools_sql_statements_use_exactly_the_tables_in_their_specs(
    kind: str,
    call: Call,
    letta: FakeLetta,
    recorded_tables: Seen,
    request: pytest.FixtureRequest,
) -> None:
    """Compare executed statements with `data` in the specs of all tools."""
    if kind == "postgresql":
        request.getfixturevalue("on_postgres")
    for tool in run_story(call, letta.script):
        pool, tables = read_declared_tables(tool)
        accesses = recorded_tables.get(tool, set())
        assert {used for used, _, _ in accesses} <= {pool}, tool
        for _, kind_of_access, table in accesses:
            every = [*tables["reads"], *tables["writes"], *tables["deletes"]]
            assert table in (
                every if kind_of_access == "reads" else tables[kind_of_access]
            ), (tool, accesses)
        named = {table for listed in tables.values() for table in listed}
        assert named == {table for _, _, table in accesses}, tool


def test_each_example_database_pool_contains_only_its_declared_tables() -> None:
    for pool, accessor in (("main", main_pool), ("memory", memory_pool)):
        with accessor() as connection:
            there = inspect(connection).get_table_names()
        assert sorted(there) == sorted(POOLS[pool]["tables"])
    assert not set(POOLS["main"]["tables"]) & set(POOLS["memory"]["tables"])


def test_sqlite_database_pools_are_separate_files(tmp_path: Path, call: Call) -> None:
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


def test_search_transcripts_tool_finds_chat_but_no_bridge_messages(
    call: Call, letta: FakeLetta
) -> None:
    letta.script.append({"text": "The walrus is well."})
    call("send_to_ren", message="How is the walrus?")
    columns = {"speaker": "scott", "said_at": "2026-06-13T10:00:00.000Z"}
    with main_pool(write=True) as connection:
        connection.execute(
            chat_transcripts.insert(), {**columns, "content": "A WALRUS ÄSSE"}
        )
    (found,) = call("search_transcripts", query="walrus ässe")["messages"]
    assert (found["content"], found["matched"]) == ("A WALRUS ÄSSE", 2)


def test_search_code_tool_finds_each_indexed_chunk_once(
    call: Call, tmp_path: Path
) -> None:
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
    ("url", "beginning"),
    [
        ("postgresql://ren:hunter2@127.0.0.1:9/ren", "The main database does not"),
        ("mysql://ren:hunter2@127.0.0.1/ren", "REN_DATABASE_URL must begin with"),
        ("hunter2", "REN_DATABASE_URL is not a database URL."),
    ],
)
def test_list_notecards_tool_error_for_the_database_contains_no_password(
    url: str, beginning: str, call_for_error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REN_DATABASE_URL", url)
    error = call_for_error("list_notecards")
    assert error.startswith(beginning)
    assert "hunter2" not in error


@pytest.mark.parametrize("number", [10**30, 2**63, 4711, 4711.0])
def test_update_notecard_tool_with_an_unknown_number_returns_an_error(
    number: int, call_for_error: Any
) -> None:
    error = call_for_error("update_notecard", notecard_id=number, status="archived")
    assert error == f"There is no notecard {number}."


def test_create_notecard_tool_replaces_null_characters_and_refuses_surrogates(
    call: Call, call_for_error: Any
) -> None:
    assert call("create_notecard", text="a\x00b")["text"] == "a b"
    assert "arguments of `create_notecard` are not valid" in call_for_error(
        "create_notecard", text="\ud800"
    )
