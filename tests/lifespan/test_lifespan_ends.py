"""The end of the lifespan for every end of a process, and messages of a failed start."""

from __future__ import annotations

import asyncio
import dataclasses
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import Server, run_server
from tests.lifespan.conftest import Toolset
from tests.lifespan.shop import Shop, write_shop
from tests.mcp.servers import MODERN, encode_requests
from toolcast_runtime.http import Endpoint, HttpSettings
from toolcast_runtime.mcp import McpServer

SLOW = pytest.mark.slow
LIVED = ["starting", "opened", "closed"]
SERVER = ("-m", "generated.shop.mcp_server")
FAILED = (
    "the lifespan of `shop` (shop.app:lifespan) failed to start: ConnectionError: no"
    " database answers ("
)


@pytest.fixture(scope="session")
def shop_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    write_shop(root)
    return root


@pytest.fixture
def shop(shop_root: Path, tmp_path: Path) -> Shop:
    return Shop(shop_root, tmp_path / "events.txt")


def with_start(shop: Shop, how: str) -> Shop:
    return dataclasses.replace(shop, start=how)


def encode_calls(*tools: str) -> str:
    arguments = {"add": {"text": "a"}}
    asked = [{"name": tool, "arguments": arguments.get(tool, {})} for tool in tools]
    return encode_requests(MODERN, *(("tools/call", each) for each in asked))


def test_stdio_server_closes_the_lifespan_when_input_ends(shop: Shop) -> None:
    code, out, err = shop.run(*SERVER, input=encode_calls("add", "wait"))
    assert code == 0
    assert sorted(line.split()[2:5] for line in err.splitlines()) == [
        ["toolcast.calls", "tool=add", "outcome=ok"],
        ["toolcast.calls", "tool=wait", "outcome=ok"],
    ]
    assert '"text":"1"' in out and "finished" in out
    assert [word for word in shop.events if word != "begun"] == LIVED


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=SLOW)]
)
def test_stdio_server_finishes_calls_and_closes_the_lifespan_after_a_signal(
    shop: Shop, number: int
) -> None:
    with shop.start_process(*SERVER) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(encode_calls("wait"))
        process.stdin.flush()
        shop.wait_for(lambda: "begun" in shop.events)
        process.send_signal(number)
        assert process.wait(30) == 0
        assert "finished" in process.stdout.read()
    assert shop.events == ["starting", "opened", "begun", "closed"]


@SLOW
def test_stdio_server_cancels_a_starting_lifespan_after_a_signal(shop: Shop) -> None:
    hanging = with_start(shop, "hang")
    with hanging.start_process(*SERVER) as process:
        assert process.stdin is not None
        process.stdin.write(encode_calls("ping"))
        process.stdin.flush()
        hanging.wait_for(lambda: hanging.events == ["starting"])
        process.terminate()
        assert process.wait(30) == 0
        assert process.stdout is not None and process.stdout.read() == ""
    assert hanging.events == ["starting", "cancelled"]


def test_stdio_server_exits_with_3_and_prints_why_the_lifespan_failed(
    shop: Shop,
) -> None:
    code, out, err = with_start(shop, "fail").run(*SERVER, input=encode_calls("ping"))
    assert (code, out) == (3, "")
    program = "python -m generated.shop.mcp_server"
    assert err.startswith(f"{program}: error: {FAILED}")
    assert err.count("\n") == 1


def serve(shop: Shop, *, workers: int = 1) -> Server:
    options = ("--workers", str(workers))
    project: Any = {"package": "generated.shop", "root": shop.root}
    with run_server(*options, **project, env=shop.environment) as running:
        # A ready server has started a lifespan; other workers can still be starting.
        assert "opened" in shop.events
        shop.wait_for(lambda: shop.events.count("opened") == workers)
        call = {"name": "add", "arguments": {"text": "a"}}
        assert b'"1"' in running.request("/mcp/", "tools/call", call, modern=True).body
        assert running.stop() == 0
    return running


def test_http_server_closes_the_lifespan_after_a_signal(shop: Shop) -> None:
    serve(shop)
    assert shop.events == LIVED


@SLOW
def test_every_http_worker_has_its_own_lifespan(shop: Shop) -> None:
    serve(shop, workers=2)
    assert sorted(shop.events) == sorted(LIVED * 2)


@SLOW
@pytest.mark.parametrize("workers", ["1", "2"])
def test_http_server_exits_with_3_and_prints_why_the_lifespan_failed(
    shop: Shop, workers: str
) -> None:
    options = ("--http", "--port", "0", "--workers", workers)
    code, _, err = with_start(shop, "fail").run(*SERVER, *options)
    assert code == 3
    assert FAILED in err
    assert "Traceback" not in err


@SLOW
def test_http_server_cancels_a_starting_lifespan_after_a_signal(shop: Shop) -> None:
    hanging = with_start(shop, "hang")
    with hanging.start_process(*SERVER, "--http", "--port", "0") as process:
        hanging.wait_for(lambda: hanging.events == ["starting"])
        process.terminate()
        assert process.wait(30) == 0
    assert hanging.events == ["starting", "cancelled"]


def test_tool_command_opens_and_closes_the_lifespan_only_if_the_tool_uses_it(
    shop: Shop,
) -> None:
    cli = ("-m", "generated.shop.cli")
    assert shop.run(*cli, "ping") == (0, "pong\n", "")
    assert shop.events == []
    assert shop.run(*cli, "add", "a") == (0, "1\n", "")
    assert shop.events == LIVED
    code, _, err = with_start(shop, "fail").run(*cli, "add", "a")
    assert code == 1
    assert err.splitlines()[-1] == (
        "error: the tool `add` is not available: its dependencies cannot be opened; the log has"
        " the details"
    )


@pytest.mark.parametrize(
    ("number", "ended"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 1, marks=SLOW)],
)
def test_tool_command_closes_the_lifespan_after_a_signal(
    shop: Shop, number: int, ended: int
) -> None:
    with shop.start_process("-m", "generated.shop.cli", "wait", "60") as process:
        shop.wait_for(lambda: "begun" in shop.events)
        process.send_signal(number)
        assert process.wait(30) == ended
    assert shop.events == ["starting", "opened", "begun", "closed"]


SCRIPT = """
from generated.shop.registry import REGISTRY, call_tool_sync
import sys
assert call_tool_sync("add", {"text": "a"}).result == 1
sys.exit("it failed")
"""
ENTERED = """
import asyncio
from generated.shop.registry import REGISTRY

async def main():
    async with REGISTRY:
        assert (await REGISTRY.call_tool("add", {"text": "a"})).result == 1
        raise KeyboardInterrupt

asyncio.run(main())
"""
LANGCHAIN = """
from generated.shop.langchain_tools import get_langchain_tool
import asyncio
tool = get_langchain_tool("add")
assert tool.invoke({"text": "a"}) == "1"
assert asyncio.run(tool.ainvoke({"text": "a"})) == "2"
"""


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        (SCRIPT, 1),
        (ENTERED, -signal.SIGINT),
        pytest.param(LANGCHAIN, 0, marks=SLOW),
    ],
)
def test_python_script_that_calls_a_registry_closes_the_lifespan_at_its_end(
    shop: Shop, script: str, ended: int
) -> None:
    entered = "async with" in script
    code, _, err = dataclasses.replace(shop, threads=entered).run("-c", script)
    assert code in (ended, 130 if ended < 0 else ended), err
    assert shop.events == LIVED


async def test_mounted_mcp_server_shares_the_asgi_applications_registry_lifespan(
    toolset: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_TOKEN", "token-of-the-toy")
    endpoints = (Endpoint("/mcp/", None, "TOY_TOKEN"),)
    http = HttpSettings(endpoints, "TOY_ADMIN", "TOY_HOSTS", ("toy.example",))
    app = McpServer(toolset.registry, name="toy", http=http).asgi_app()
    async with toolset.registry:
        async with app.lifespan():
            assert toolset.events == ["opened"]
        await asyncio.sleep(0)
        assert toolset.events == ["opened"]
    assert toolset.events == ["opened", "closed"]


@pytest.mark.slow
def test_stdio_server_no_lifespan_option_starts_no_lifespan(shop: Shop) -> None:
    calls = encode_calls("ping", "add")
    code, out, err = shop.run(*SERVER, "--no-lifespan", input=calls)
    assert code == 0
    assert "pong" in out and "its dependencies cannot be opened" in out
    assert "the lifespan of `shop` is disabled" in err
    assert shop.events == []
    code, _, err = shop.run(*SERVER, "--no-lifespan", "--http")
    assert (code, "--no-lifespan cannot be used with --http" in err) == (2, True)


@SLOW
def test_generated_tests_start_no_lifespan(shop: Shop) -> None:
    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "generated/shop")
    code, out, _ = shop.run(*arguments)
    assert code == 0, out
    assert shop.events == []


@SLOW
def test_mypy_checks_handlers_against_dependency_types(
    tmp_path: Path, mypy_cache: str
) -> None:
    write_shop(tmp_path)
    checker = Shop(tmp_path, tmp_path / "events.txt")
    arguments = ("-m", "mypy", "--strict", "--cache-dir", mypy_cache)
    code, out, _ = checker.run(*arguments, "-p", "generated.shop")
    assert code == 0, out
    tools = tmp_path / "shop/tools.py"
    text = tools.read_text()
    text = text.replace(
        "text: str, *, db: sqlite3.Connection", "text: str, *, db: bytes"
    )
    text = text.replace("float = 0.5, *, db: sqlite3.Connection", "float = 0")
    tools.write_text(text)
    code, out, _ = checker.run(*arguments, "-p", "generated.shop")
    assert code == 1
    assert "tools/add.py" in out and 'to "add"' in out
    assert "tools/wait.py" in out and 'for "wait"' in out
