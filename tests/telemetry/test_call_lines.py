"""One log line a call: on every surface, whatever came of it, and not what was sent."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from tests.runtime.packages import Package, definition
from toolcast_runtime import Caller, Registry, calling_as
from toolcast_runtime.core.access import Client as Allowed
from toolcast_runtime.langchain import LangChainTools
from toolcast_runtime.mcp import McpServer

HANDLERS = "tests.telemetry.handlers"
SECRET = {"note": "s3cret"}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    handlers = {name: f"{HANDLERS}:{name}" for name in ("give", "fail", "crash")}
    tools = [definition(name, handler=handler) for name, handler in handlers.items()]
    tools.append(definition("wait", handler=f"{HANDLERS}:wait", timeout=0.01))
    tools.append(definition("unwritten"))
    package = Package(tmp_path, *tools).load()
    clients = {"desk": Allowed("*"), "guest": Allowed(("fail",))}
    return Registry(package, handlers=HANDLERS, clients=clients)


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "toolcast.calls")
    return caplog


def told(lines: pytest.LogCaptureFixture) -> list[tuple[Any, ...]]:
    """Tool, client, user, outcome and request of each line."""
    names = ("tool", "client", "user", "outcome", "request_id")
    found = [r for r in lines.records if r.name == "toolcast.calls"]
    for record in found:
        assert "s3cret" not in str(record.__dict__)
        assert 0 <= record.__dict__["seconds"] < 60
    return [tuple(record.__dict__[name] for name in names) for record in found]


@pytest.mark.parametrize(
    ("tool", "client", "outcome"),
    [
        ("give", "desk", "ok"),
        ("fail", "desk", "error"),
        ("crash", "desk", "error"),
        ("wait", "desk", "timeout"),
        ("unwritten", "desk", "error"),
        ("give", "guest", "refused"),
        ("ghost", "desk", "refused"),
        ("give", "nobody", "refused"),
    ],
)
def test_a_call_is_one_line_whatever_comes_of_it(
    registry: Registry,
    lines: pytest.LogCaptureFixture,
    tool: str,
    client: str,
    outcome: str,
) -> None:
    registry.call_tool_sync(tool, SECRET, client)
    assert told(lines) == [(tool, client, None, outcome, None)]


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("give", "outcome=ok"),
        ("fail", 'outcome=error error="s3cret reason"'),
        ("crash", 'outcome=error error="the tool failed; the log has the details'),
        ("wait", 'outcome=timeout error="the tool did not answer within 0.01 s"'),
    ],
)
def test_why_a_call_failed_is_told_to_who_asks_for_details(
    registry: Registry,
    caplog: pytest.LogCaptureFixture,
    tool: str,
    said: str,
) -> None:
    caplog.set_level(logging.DEBUG, "toolcast.calls")
    registry.call_tool_sync(tool, {}, "desk")
    [record] = [one for one in caplog.records if one.name == "toolcast.calls"]
    line = re.sub(r" seconds=\S+", "", record.getMessage())
    assert line.startswith(f"tool={tool} client=desk {said}")
    assert ("error=" in line) == (tool != "give")


def test_a_call_that_is_given_up_has_its_line(
    registry: Registry, lines: pytest.LogCaptureFixture
) -> None:
    registry.get_tool("wait", "desk")

    async def leave() -> None:
        call = registry.call_tool("wait", SECRET, "desk")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, 0.001)

    asyncio.run(leave())
    assert told(lines) == [("wait", "desk", None, "cancelled", None)]


def test_arguments_that_are_refused_are_not_told(
    tmp_path: Path, lines: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "object", "additionalProperties": False}
    tool = definition("give", handler=f"{HANDLERS}:give")
    tool["mcp"]["inputSchema"] = schema
    registry = Registry(Package(tmp_path, tool).load(), handlers=HANDLERS)
    registry.call_tool_sync("give", SECRET)
    assert told(lines) == [("give", None, None, "invalid", None)]


def test_langchain_tools_log_through_the_program_s_own_logging(
    registry: Registry, lines: pytest.LogCaptureFixture
) -> None:
    LangChainTools(registry).get("give", "desk").invoke(SECRET)
    assert told(lines) == [("give", "desk", None, "ok", None)]


def test_a_request_of_mcp_brings_its_number(
    registry: Registry, lines: pytest.LogCaptureFixture
) -> None:
    async def ask() -> None:
        server = McpServer(registry, name="demo", client="desk").build()
        async with Client(server) as client:
            await client.call_tool("give", SECRET)
            with pytest.raises(MCPError):
                await client.call_tool("s3cret", SECRET)

    asyncio.run(ask())
    (one, _, _, ok, first), (other, _, _, refused, second) = told(lines)
    assert (one, ok, other, refused) == ("give", "ok", None, "refused")
    assert int(first) < int(second)


@pytest.mark.parametrize(
    ("user", "shown"),
    [
        ("mia", "mia"),
        ("mia@example.org", "mia@example.org"),
        ("Mia Müller", '"Mia Müller"'),
        ("mia outcome=ok", '"mia outcome=ok"'),
        ('mia" outcome="ok', '"mia\\" outcome=\\"ok"'),
        ("mia\n2026-11-23T00:00:00 INFO", '"mia\\n2026-11-23T00:00:00 INFO"'),
        ("mia\r\x1b[2K\x9b1A\u2028\u202e", '"mia\\r\\x1b[2K\\x9b1A\\u2028\\u202e"'),
        ("mia\\n", '"mia\\\\n"'),
        ("%s%(tool)s", '"%s%(tool)s"'),
        ("\ud800", '"\\ud800"'),
        ("", '""'),
        ("m" * 128, "m" * 128),
        ("m" * 100_000, "m" * 128 + "..."),
    ],
)
def test_a_name_from_outside_can_forge_nothing(
    registry: Registry, lines: pytest.LogCaptureFixture, user: str, shown: str
) -> None:
    with calling_as(Caller(user, request_id=user)):
        registry.call_tool_sync("give", SECRET, "desk")
    record = lines.records[-1]
    assert "s3cret" not in record.getMessage()
    head, seconds = record.getMessage().split(" seconds=")
    assert head == f"tool=give client=desk user={shown} outcome=ok"
    assert seconds[8:] == f" request_id={shown}"


def test_nothing_is_told_where_nobody_has_set_logging_up(registry: Registry) -> None:
    assert not logging.getLogger("toolcast.calls").isEnabledFor(logging.INFO)
    assert not logging.getLogger("toolcast.calls").handlers
    assert registry.call_tool_sync("give", {}, "desk").success
