"""An optional part of the runtime that is absent or broken: what needs it is refused by its name.

No handler runs without the confirmation, the record or the check that its tool's definition
requires.
"""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import pytest
from mcp_types import PaginatedRequestParams

from tests.runtime.broken_parts import (
    HANDLERS,
    PACKAGES,
    SECRET,
    YES,
    Break,
    ended,
    registry,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime import (
    AccessError,
    Caller,
    Client,
    OverrideFile,
    Registry,
    calling_as,
)
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.optional import OptionalPartError
from toolcast_runtime.ledger import LedgerError, LedgerSettings
from toolcast_runtime.lifespan import Lifespan, LifespanError
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.resources import LinkLimits


def refused(made: Registry, part: str, arguments: Any = None, **how: Any) -> None:
    """Sees to it that a call is refused by the name of a part."""
    how.setdefault("ask", lambda question: YES)
    response = made.call_tool_sync("t", arguments or {}, **how)
    assert response.error is not None, response
    assert f"the part `{part}` of toolcast-runtime cannot be loaded" in response.error


@pytest.mark.parametrize(
    "module",
    ["toolcast_runtime.consent", "toolcast_runtime.consent.confirmation"],
)
@pytest.mark.parametrize("condition", [{}, {"when": {"required": ["x"]}}])
def test_a_yes_that_nobody_can_be_asked_for(
    module: str, condition: Any, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(module)
    confirm = {"message": "Really?", **condition}
    refused(registry(tmp_path, confirm=confirm), "consent")
    assert not ran


def test_a_yes_that_can_be_asked_for_but_not_put(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("toolcast_runtime.consent.questions")
    refused(registry(tmp_path, confirm={"message": "Really?"}), "consent")
    assert not ran


@pytest.mark.parametrize("handler", ["asking", "asking_later"])
def test_a_question_that_nobody_declared(
    handler: str, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("toolcast_runtime.consent")
    refused(registry(tmp_path, handler=f"{HANDLERS}:{handler}"), "consent")
    assert not ran


def test_a_handler_that_asks_again_gets_no_answer_either(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("toolcast_runtime.consent")
    made = registry(tmp_path, handler=f"{HANDLERS}:stubborn")
    assert made.call_tool_sync("t", {}, ask=lambda question: YES).result == "done"
    assert not ran


@pytest.mark.parametrize(
    "module",
    [
        "toolcast_runtime.ledger",
        "toolcast_runtime.ledger.recorder",
        "toolcast_runtime.ledger.secret_arguments",
    ],
)
@pytest.mark.parametrize("is_declared", [False, True])
def test_a_record_that_cannot_be_kept(
    module: str, is_declared: bool, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(module)
    file = str(tmp_path / "ledger.sqlite3")
    ledger = LedgerSettings("toy", "NO_LEDGER", file) if is_declared else None
    made = registry(tmp_path, persistent=True, schema=SECRET, LEDGER=ledger)
    refused(made, "ledger", {"pin": "1234"})
    assert not ran and not Path(file).exists()
    with pytest.raises(LedgerError, match="`ledger`"):
        run_sync(made.get_single_toolset().check_ledger())


@pytest.mark.parametrize(
    "module",
    [
        "toolcast_runtime.ledger",
        "toolcast_runtime.ledger.tables",
        "toolcast_runtime.ledger.secret_arguments",
    ],
)
def test_a_question_whose_secrets_cannot_be_replaced(
    module: str, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(module)
    file = str(tmp_path / "ledger.sqlite3")
    ledger = LedgerSettings("toy", "NO_LEDGER", file)
    confirm = {"message": "Really?"}
    made = registry(tmp_path, confirm=confirm, schema=SECRET, LEDGER=ledger)
    refused(made, "ledger", {"pin": "1234"})
    assert not ran and not Path(file).exists()


@pytest.mark.parametrize(
    "typed",
    [
        {"values": "python"},
        {"arguments_type": f"{HANDLERS}:A"},
        {"result_type": f"{HANDLERS}:A"},
    ],
)
def test_arguments_that_cannot_be_made(
    typed: Any, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("toolcast_runtime.values")
    refused(registry(tmp_path, **typed), "values")
    assert not ran


def test_resources_that_cannot_be_opened(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("toolcast_runtime.lifespan.dependencies")
    lifespan = Lifespan(f"{HANDLERS}:opened", ("db",))
    made = registry(tmp_path, uses=["db"], LIFESPAN=lifespan)
    refused(made, "lifespan")
    with pytest.raises(LifespanError, match="`lifespan`"):
        made.__enter__()
    assert not ran


LEFT_OUT = """
sys.meta_path.insert(0, Breaks())
from {package} import tools
from toolcast_runtime.lifespan import Lifespan
from toolcast_runtime.mcp import McpServer
from toolcast_runtime import Registry

handlers = "tests.runtime.core_handlers"
lifespan = Lifespan(f"{{handlers}}:opened", ("a",))
registry = Registry(tools, handlers=handlers, lifespan=lifespan)
McpServer(registry, name="demo").main(sys.argv[1:])
"""


@pytest.mark.rows(1)
@pytest.mark.parametrize("is_left_out", [True, False])
def test_a_lifespan_that_is_left_out_is_not_missed(
    is_left_out: bool, tmp_path: Path
) -> None:
    handler = "tests.runtime.core_handlers:add"
    one = definition("t", handler=handler, uses=["a"])
    package = Package(tmp_path, one)
    words = ["--no-lifespan"] * is_left_out
    broken = ("toolcast_runtime.lifespan.dependencies",)
    done = ended(LEFT_OUT, tmp_path, broken, *words, package=package.name)
    told = "the part `lifespan` of toolcast-runtime cannot be loaded"
    if not is_left_out:
        assert done.returncode == 3 and not done.stdout
        assert told in done.stderr.splitlines()[-1]
        return
    assert done.returncode == 0, done.stderr
    answers = {
        one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())
    }
    assert [tool["name"] for tool in answers["tools/list"]["tools"]] == ["t"]
    assert answers["t"]["isError"] and told in answers["t"]["content"][0]["text"]


def test_a_choice_that_nobody_can_make(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("toolcast_runtime.router")
    with pytest.raises(OptionalPartError, match="`router`"):
        registry(tmp_path).route_tools_sync("do it")


@pytest.mark.parametrize(
    "has",
    [
        {"mcp_resources": types.ModuleType("resources")},
        {"mcp_prompts": types.ModuleType("prompts")},
        {"links": LinkLimits()},
    ],
)
def test_a_server_of_what_cannot_be_read_is_not_made(
    has: Any, tmp_path: Path, broken: Break
) -> None:
    made = McpServer(registry(tmp_path), name="demo", **has)
    broken("toolcast_runtime.resources")
    with pytest.raises(OptionalPartError, match="the part `resources` of toolcast-r"):
        made.build()


async def test_skills_that_cannot_be_read(tmp_path: Path, broken: Break) -> None:
    broken("toolcast_runtime.skills")
    server = McpServer(registry(tmp_path), name="demo", skills=".skills").build()
    listed: Any = server.get_request_handler("skills/list")
    with pytest.raises(OptionalPartError, match="the part `skills` of"):
        await listed.handler(None, PaginatedRequestParams())


def test_who_may_have_it_needs_no_other_part(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(*PACKAGES)
    one = {"handler": f"{HANDLERS}:work", "permission": "billing"}
    clients = {"desk": Client("*", permissions=("billing",)), "guest": Client()}
    tools = Package(tmp_path, definition("t", **one)).load()
    made = Registry(tools, handlers=HANDLERS, clients=clients)
    for client in ("guest", "stranger", None):
        assert made.call_tool_sync("t", {}, client).error
    with calling_as(Caller("mia", permissions=frozenset())):
        assert made.call_tool_sync("t", {}, "desk").error == "unknown tool `t`"
    assert not ran
    assert made.call_tool_sync("t", {}, "desk").result == "done"


def test_an_override_that_cannot_be_read_leaves_nobody_anything(
    tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def apply(*_: Any) -> Any:
        raise AccessError("it cannot be read")

    monkeypatch.setattr(OverrideFile, "apply", apply)
    made = registry(tmp_path, CLIENTS={"a": Client("*")}, OVERRIDE=OverrideFile("X"))
    for _ in range(2):
        assert "access rules cannot be loaded" in str(
            made.call_tool_sync("t", {}, "a").error
        )
    assert not ran


OAUTH = """
import asyncio
from pathlib import Path

if {at_once}:
    sys.meta_path.insert(0, Breaks())
from tests.oauth.shop import serving
from tests.mcp.servers import MODERN, sent
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime import Client

sys.meta_path.insert(0, Breaks())
tools = Package(Path({folder!r}), definition("who")).load()
registry = Registry(tools, clients={{"desk": Client("*"), "back": Client("*")}})
given = {{"SHOP_PUBLIC_URL": "https://shop.example", "SHOP_OAUTH_ISSUER": "http://127.0.0.1:9"}}

async def serve():
    async with serving(registry, given) as server:
        print((await server.request(None)).status_code, (await server.request("x")).status_code)

asyncio.run(serve())
"""


@pytest.mark.rows(1)
@pytest.mark.parametrize("at_once", [True, False])
def test_scopes_that_nobody_can_check(tmp_path: Path, at_once: bool) -> None:
    """Whoever looks at OAuth's tokens is missing: nothing is served at all."""
    done = ended(OAUTH, tmp_path, ("toolcast_runtime.oauth",), at_once=at_once)
    assert done.returncode == 1 and not done.stdout, done.stdout
    assert "toolcast_runtime.oauth" in done.stderr.splitlines()[-1]
    assert "is broken" in done.stderr.splitlines()[-1]
