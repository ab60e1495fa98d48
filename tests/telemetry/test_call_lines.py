"""Log lines of calls: one for each call and outcome, without arguments and results."""

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
from toolcast_runtime.core.access import Client as ClientAccess
from toolcast_runtime.langchain import LangChainTools
from toolcast_runtime.mcp import McpServer

HANDLERS = "tests.telemetry.handlers"
SECRET = {"note": "s3cret"}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    handlers = {name: f"{HANDLERS}:{name}" for name in ("give", "fail", "crash")}
    tools = [definition(name, handler=handler) for name, handler in handlers.items()]
    for name, timeout in (("wait", 0.01), ("wait_long", 60)):
        tools.append(definition(name, handler=f"{HANDLERS}:wait", timeout=timeout))
    tools.append(definition("unwritten"))
    package = Package(tmp_path, *tools).load()
    clients = {"desk": ClientAccess("*"), "guest": ClientAccess(("fail",))}
    return Registry(package, handlers=HANDLERS, clients=clients)


@pytest.fixture
def call_log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "toolcast.calls")
    return caplog


def call_fields(call_log: pytest.LogCaptureFixture) -> list[tuple[Any, ...]]:
    """Return tool, client, user, outcome and request id of each line."""
    names = ("tool", "client", "user", "outcome", "request_id")
    records = [r for r in call_log.records if r.name == "toolcast.calls"]
    for record in records:
        assert "s3cret" not in str(record.__dict__)
        assert 0 <= record.__dict__["seconds"] < 60
    return [tuple(record.__dict__[name] for name in names) for record in records]


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
        ("give", "stranger", "refused"),
    ],
)
def test_every_tool_call_logs_one_line_with_its_outcome(
    registry: Registry,
    call_log: pytest.LogCaptureFixture,
    tool: str,
    client: str,
    outcome: str,
) -> None:
    registry.call_tool_sync(tool, SECRET, client)
    assert call_fields(call_log) == [(tool, client, None, outcome, None)]


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("give", "outcome=ok"),
        ("fail", 'outcome=error error="s3cret reason"'),
        ("crash", 'outcome=error error="the tool failed; the log has the details'),
        ("wait", 'outcome=timeout error="the tool did not answer within 0.01 s"'),
    ],
)
def test_tool_error_text_is_logged_at_debug_level(
    registry: Registry, caplog: pytest.LogCaptureFixture, tool: str, fields: str
) -> None:
    caplog.set_level(logging.DEBUG, "toolcast.calls")
    registry.call_tool_sync(tool, {}, "desk")
    [record] = [record for record in caplog.records if record.name == "toolcast.calls"]
    line = re.sub(r" seconds=\S+", "", record.getMessage())
    assert line.startswith(f"tool={tool} client=desk {fields}")
    assert ("error=" in line) == (tool != "give")


def test_cancelled_tool_call_is_logged_with_the_outcome_cancelled(
    registry: Registry, call_log: pytest.LogCaptureFixture
) -> None:
    registry.get_tool("wait_long", "desk")

    async def cancel_call() -> None:
        call = registry.call_tool("wait_long", SECRET, "desk")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, 0.001)

    asyncio.run(cancel_call())
    assert call_fields(call_log) == [("wait_long", "desk", None, "cancelled", None)]


def test_tool_call_with_invalid_arguments_is_logged_without_the_arguments(
    tmp_path: Path, call_log: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "object", "additionalProperties": False}
    tool = definition("give", handler=f"{HANDLERS}:give")
    tool["mcp"]["inputSchema"] = schema
    registry = Registry(Package(tmp_path, tool).load(), handlers=HANDLERS)
    registry.call_tool_sync("give", SECRET)
    assert call_fields(call_log) == [("give", None, None, "invalid", None)]


def test_langchain_tool_call_is_logged_with_tool_client_and_outcome(
    registry: Registry, call_log: pytest.LogCaptureFixture
) -> None:
    LangChainTools(registry).get("give", "desk").invoke(SECRET)
    assert call_fields(call_log) == [("give", "desk", None, "ok", None)]


def test_mcp_tool_call_is_logged_with_its_request_id_but_without_an_unknown_tool_name(
    registry: Registry, call_log: pytest.LogCaptureFixture
) -> None:
    async def call_twice() -> None:
        server = McpServer(registry, name="demo", client="desk").build()
        async with Client(server) as client:
            await client.call_tool("give", SECRET)
            with pytest.raises(MCPError):
                await client.call_tool("s3cret", SECRET)

    asyncio.run(call_twice())
    (tool, _, _, ok, first), (unknown, _, _, refused, second) = call_fields(call_log)
    assert (tool, ok, unknown, refused) == ("give", "ok", None, "refused")
    assert int(first) < int(second)


@pytest.mark.parametrize(
    ("user", "logged"),
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
def test_user_and_request_id_in_a_call_log_line_are_quoted_escaped_and_truncated(
    registry: Registry, call_log: pytest.LogCaptureFixture, user: str, logged: str
) -> None:
    with calling_as(Caller(user, request_id=user)):
        registry.call_tool_sync("give", SECRET, "desk")
    record = call_log.records[-1]
    assert "s3cret" not in record.getMessage()
    head, seconds = record.getMessage().split(" seconds=")
    assert head == f"tool=give client=desk user={logged} outcome=ok"
    assert seconds[8:] == f" request_id={logged}"


def test_tool_call_logger_is_disabled_without_a_logging_configuration(
    registry: Registry,
) -> None:
    assert not logging.getLogger("toolcast.calls").isEnabledFor(logging.INFO)
    assert not logging.getLogger("toolcast.calls").handlers
    assert registry.call_tool_sync("give", {}, "desk").success
