"""A server behind a toolset: its calls go through what the specs say, its answers come back.

The tools of `servers/source.py` are specs here; `generated.press` passes their calls on.
"""

from __future__ import annotations

import importlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.corpus.imported import import_tools
from tests.external.conftest import SERVERS
from tests.external.servers.source import DEFINITIONS, PIXEL
from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, StdioServer, stdio_server
from toolcast_runtime import Registry, UnknownToolError
from toolcast_runtime.consent import Answer, Question
from toolcast_runtime.core.question import Action

BOTH = ("stdio", pytest.param("http", marks=pytest.mark.slow))


def press(root: Path, server: dict[str, Any], **fields: Any) -> None:
    """The project of a toolset whose tools a server answers."""
    folder = root / "specs" / "press"
    # As `print` is called here, the server calls it otherwise.
    tools = [{**DEFINITIONS[0], "name": "print"}, DEFINITIONS[1]]
    import_tools(root, "press", tools, ("registry", "mcp", "langchain"))
    for name, spec in fields.pop("specs", {}).items():
        with folder.joinpath(f"{name}.yaml").open("a", encoding="utf-8") as file:
            file.write(yaml.safe_dump(spec))
    servers = {"printer": {**server, "tools": {"print-it": "print"}}}
    more = {"proxy": "printer", "mcp_servers": servers, **fields}
    with folder.joinpath("toolset.yaml").open("a", encoding="utf-8") as file:
        file.write(yaml.safe_dump(more))
    generate_project(root)


def program(called: Path) -> dict[str, Any]:
    """The server as a program."""
    script = str(SERVERS / "source.py")
    return {"command": sys.executable, "args": [script, str(called)]}


@pytest.fixture(scope="module", params=BOTH)
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The project over both transports to the server; calls are in `called`."""
    root = tmp_path_factory.mktemp(f"press_{request.param}")
    if request.param == "stdio":
        press(root, program(root / "called"))
        yield root
        return
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    script = str(SERVERS / "source.py")
    process = subprocess.Popen(
        [sys.executable, script, str(root / "called"), str(port)],
        stderr=subprocess.DEVNULL,
    )
    try:
        _until_it_listens(port, process)
        press(root, {"url": f"http://127.0.0.1:{port}/mcp"})
        yield root
    finally:
        process.kill()
        process.wait()


def _until_it_listens(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)


def called(root: Path) -> list[Any]:
    path = root / "called"
    return [*map(json.loads, path.read_text().splitlines())] if path.exists() else []


def _start(server: StdioServer, tool: str, arguments: dict[str, Any]) -> int:
    given = {"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}}
    return server.start("tools/call", given)


@pytest.mark.parametrize(
    "era", [pytest.param(ERAS[0], marks=pytest.mark.slow), ERAS[1]]
)
@pytest.mark.slow
def test_a_call_its_progress_its_errors_and_its_end_pass_through(
    project: Path, era: str
) -> None:
    with stdio_server(project, "generated.press", era=era) as server:
        listed = server.request("tools/list")["result"]["tools"]
        # Each once: what the server lists is not offered beside the specs.
        assert listed == [{**DEFINITIONS[0], "name": "print"}, DEFINITIONS[1]]

        arguments = {"text": "hello", "at": "someday", "copies": 2.50}
        result = server.answer(_start(server, "print", arguments))["result"]
        assert called(project)[-1] == ["print-it", arguments]
        assert [block["type"] for block in result["content"]] == ["text", "image"]
        assert result["content"][1]["data"] == PIXEL
        assert result["structuredContent"] == {"pages": 3}
        told = server.notification()["params"]
        assert (told["progress"], told["message"]) == (1, "half of it")

        jammed = server.call("print", {"text": "jam"})["result"]
        assert jammed["isError"] and "the paper is jammed" in str(jammed["content"])
        assert jammed["content"][1]["data"] == PIXEL
        # A value of a tool that declares no schema of it.
        waited = server.call("wait", {"for": "nothing"})["result"]
        assert waited["structuredContent"] == {"waited": True}
        lied = server.call("print", {"text": "lie"})["result"]
        assert lied["isError"] and "declared schema" in str(lied["content"])

        before = len(called(project))
        wrong = server.call("print", {"text": 5})["result"]
        assert wrong["isError"] and "not valid" in str(wrong["content"])
        assert len(called(project)) == before

        number = _start(server, "wait", {})
        assert server.notification()["params"]["message"] == "a quarter"
        off = {"requestId": number}
        server.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": off}
        )
        end = time.monotonic() + 15
        while called(project)[-1] != "called off":
            assert time.monotonic() < end, called(project)
            time.sleep(0.02)


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The tools with clients, a ledger and a question, in this process."""
    monkeypatch.setenv("PRESS_LEDGER", str(tmp_path / "ledger.sqlite3"))
    press(
        tmp_path,
        program(tmp_path / "called"),
        clients={"office": {"allow": "*"}, "guest": {"allow": ["wait"]}},
        specs={
            "print": {"persistent": True, "confirm": {"message": "Print this?"}},
            "wait": {"timeout": 0.5},
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in _modules():
        monkeypatch.delitem(sys.modules, name)
    registry = importlib.import_module("generated.press.registry").REGISTRY
    yield registry
    registry.toolsets[0].providers[0].close_sync()
    for name in _modules():
        del sys.modules[name]


def _modules() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "generated"]


@pytest.mark.slow
async def test_clients_consent_ledger_and_time_out_are_the_specs(
    guarded: Registry, tmp_path: Path
) -> None:
    asked: list[str] = []

    def answers(action: Action) -> Any:
        def ask(question: Question) -> Answer:
            asked.append(question.message)
            return Answer(action, {question.approval or "": True})

        return ask

    given = {"text": "hello"}
    with pytest.raises(UnknownToolError):
        await guarded.find_tool("print", "guest")
    assert not (await guarded.call_tool("print", given, "guest")).success
    refused = await guarded.call_tool("print", given, "office")
    assert refused.error is not None and "no user can be asked" in refused.error
    declined = await guarded.call_tool("print", given, "office", ask=answers("decline"))
    assert not declined.success
    assert called(tmp_path) == []
    done = await guarded.call_tool("print", given, "office", ask=answers("accept"))
    assert done.result == {"pages": 3} and len(asked) == 2
    assert called(tmp_path) == [["print-it", given]]
    late = await guarded.call_tool("wait", {}, "guest")
    assert late.error is not None and "0.5 s" in late.error
    await guarded.close()
    rows = _ledger(tmp_path / "ledger.sqlite3")
    assert {row["tool"] for row in rows} == {"print"}
    assert [row["outcome"] for row in rows][-1] == "ok"


def _ledger(path: Path) -> list[dict[str, Any]]:
    import sqlite3

    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        names = [
            row[0]
            for row in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            )
        ]
        table = next(name for name in names if "call" in name)
        return [dict(row) for row in database.execute(f"SELECT * FROM {table}")]


async def test_a_server_that_is_down_costs_its_calls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press(tmp_path, {"command": "/nowhere/at/all"})
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in _modules():
        monkeypatch.delitem(sys.modules, name)
    registry = importlib.import_module("generated.press.registry").REGISTRY
    assert [tool.name for tool in await registry.list_tools()] == ["print", "wait"]
    response = await registry.call_tool("wait", {})
    assert response.error == (
        "the external server `printer` of this tool cannot be reached now"
    )
    await registry.close()
    for name in _modules():
        del sys.modules[name]
