"""Toolsets that proxy a server: the specs apply to the calls, and responses pass through.

The specs are the imported tools of `servers/source.py`; `generated.press` proxies their calls.
"""

from __future__ import annotations

import importlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.corpus.imported import import_tools
from tests.external.conftest import SERVERS
from tests.external.servers.http_servers import start_script
from tests.external.servers.source import DEFINITIONS, PIXEL
from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, StdioServer, stdio_server
from tests.ports import reserve_port
from tests.waiting import wait_until
from toolcast_runtime import Registry, ToolResponse, UnknownToolError
from toolcast_runtime.consent import Answer, Question
from toolcast_runtime.core.question import Action


def write_press_project(root: Path, server: dict[str, Any], **fields: Any) -> None:
    """Write and generate the project of a toolset that proxies a server."""
    folder = root / "specs" / "press"
    # The name differs from the server's `print-it`, to test the renaming.
    tools = [{**DEFINITIONS[0], "name": "print"}, DEFINITIONS[1]]
    import_tools(root, "press", tools, ("registry", "mcp", "langchain"))
    for name, spec in fields.pop("specs", {}).items():
        with folder.joinpath(f"{name}.yaml").open("a", encoding="utf-8") as file:
            file.write(yaml.safe_dump(spec))
    servers = {"printer": {**server, "tools": {"print-it": "print"}}}
    settings = {"proxy": "printer", "mcp_servers": servers, **fields}
    with folder.joinpath("toolset.yaml").open("a", encoding="utf-8") as file:
        file.write(yaml.safe_dump(settings))
    generate_project(root)


def make_stdio_settings(read_calls: Path) -> dict[str, Any]:
    """Return the settings of the server as a command."""
    script = str(SERVERS / "source.py")
    return {"command": sys.executable, "args": [script, str(read_calls)]}


@pytest.fixture(scope="module", params=["stdio", "http"])
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Yield a project with the server, which appends its calls to `called`."""
    root = tmp_path_factory.mktemp(f"press_{request.param}")
    if request.param == "stdio":
        write_press_project(root, make_stdio_settings(root / "called"))
        yield root
        return
    with reserve_port() as port:
        args = (str(root / "called"), str(port))
        process = start_script("source.py", *args, port=port)
        try:
            write_press_project(root, {"url": f"http://127.0.0.1:{port}/mcp"})
            yield root
        finally:
            process.kill()
            process.wait()


def read_calls(root: Path) -> list[Any]:
    path = root / "called"
    return [*map(json.loads, path.read_text().splitlines())] if path.exists() else []


def start_call(server: StdioServer, tool: str, arguments: dict[str, Any]) -> int:
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}}
    return server.start("tools/call", params)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.slow
def test_proxied_toolset_passes_on_results_progress_errors_and_cancellation(
    project: Path, era: str
) -> None:
    with stdio_server(project, "generated.press", era=era) as server:
        tools = server.request("tools/list")["result"]["tools"]
        # Each tool is listed once: the server's own list is not added to the specs.
        assert tools == [{**DEFINITIONS[0], "name": "print"}, DEFINITIONS[1]]

        arguments = {"text": "hello", "at": "someday", "copies": 2.50}
        result = server.answer(start_call(server, "print", arguments))["result"]
        assert read_calls(project)[-1] == ["print-it", arguments]
        assert [block["type"] for block in result["content"]] == ["text", "image"]
        assert result["content"][1]["data"] == PIXEL
        assert result["structuredContent"] == {"pages": 3}
        progress = server.notification()["params"]
        assert (progress["progress"], progress["message"]) == (1, "half of it")

        failed = server.call("print", {"text": "jam"})["result"]
        assert failed["isError"] and "the paper is jammed" in str(failed["content"])
        assert failed["content"][1]["data"] == PIXEL
        result_without_schema = server.call("wait", {"for": "nothing"})["result"]
        assert result_without_schema["structuredContent"] == {"waited": True}
        invalid = server.call("print", {"text": "lie"})["result"]
        assert invalid["isError"] and "declared schema" in str(invalid["content"])

        before = len(read_calls(project))
        wrong = server.call("print", {"text": 5})["result"]
        assert wrong["isError"] and "not valid" in str(wrong["content"])
        assert len(read_calls(project)) == before

        number = start_call(server, "wait", {})
        assert server.notification()["params"]["message"] == "a quarter"
        method, cancelled = "notifications/cancelled", {"requestId": number}
        server.send({"jsonrpc": "2.0", "method": method, "params": cancelled})
        wait_until(
            lambda: read_calls(project)[-1] == "called off", lambda: read_calls(project)
        )


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """Import a registry with clients, a ledger, a confirmation and a timeout."""
    monkeypatch.setenv("PRESS_LEDGER", str(tmp_path / "ledger.sqlite3"))
    write_press_project(
        tmp_path,
        make_stdio_settings(tmp_path / "called"),
        clients={"office": {"allow": "*"}, "guest": {"allow": ["wait"]}},
        specs={
            "print": {"persistent": True, "confirm": {"message": "Print this?"}},
            "wait": {"timeout": 0.5},
        },
    )
    with import_registry(tmp_path, monkeypatch) as imported:
        yield imported
        imported.toolsets[0].providers[0].close_sync()


@contextmanager
def import_registry(root: Path, patch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """Import `generated.press` from a project; forget its modules afterwards."""
    patch.syspath_prepend(str(root))
    for name in list_generated_modules():
        patch.delitem(sys.modules, name)
    yield importlib.import_module("generated.press.registry").REGISTRY
    for name in list_generated_modules():
        del sys.modules[name]


def list_generated_modules() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "generated"]


@pytest.mark.slow
async def test_proxied_calls_apply_access_confirmation_and_timeout_from_specs(
    registry: Registry, tmp_path: Path
) -> None:
    """They are recorded in the ledger, too."""
    questions: list[str] = []

    async def call(action: Action) -> ToolResponse:
        def ask(question: Question) -> Answer:
            questions.append(question.message)
            return Answer(action, {question.approval or "": True})

        return await registry.call_tool("print", arguments, "office", ask=ask)

    arguments = {"text": "hello"}
    with pytest.raises(UnknownToolError):
        await registry.find_tool("print", "guest")
    assert not (await registry.call_tool("print", arguments, "guest")).success
    refused = await registry.call_tool("print", arguments, "office")
    assert refused.error is not None and "no user can be asked" in refused.error
    assert not (await call("decline")).success
    assert read_calls(tmp_path) == []
    response = await call("accept")
    assert response.result == {"pages": 3} and len(questions) == 2
    assert read_calls(tmp_path) == [["print-it", arguments]]
    timed_out = await registry.call_tool("wait", {}, "guest")
    assert timed_out.error is not None and "0.5 s" in timed_out.error
    await registry.close()
    with sqlite3.connect(tmp_path / "ledger.sqlite3") as ledger:
        rows = ledger.execute("SELECT tool, outcome FROM calls").fetchall()
    assert {tool for tool, _ in rows} == {"print"} and rows[-1][1] == "ok"


async def test_proxied_tools_stay_listed_but_fail_while_the_server_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_press_project(tmp_path, {"command": "/nowhere/at/all"})
    with import_registry(tmp_path, monkeypatch) as registry:
        assert [tool.name for tool in await registry.list_tools()] == ["print", "wait"]
        response = await registry.call_tool("wait", {})
        reason = "the external server `printer` of this tool cannot be reached now"
        assert response.error == reason
        await registry.close()
