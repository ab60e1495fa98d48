"""Calls and servers that need an absent or broken optional part fail with its name.

No handler runs without the confirmation, record or check that its tool requires.
"""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.broken_parts import (
    HANDLERS,
    PACKAGES,
    SECRET,
    YES,
    BreakModules,
    make_registry,
    run_program,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime import Caller, Client, Registry, calling_as
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.optional import OptionalPartError
from toolcast_runtime.ledger import LedgerError, LedgerSettings
from toolcast_runtime.lifespan import Lifespan, LifespanError
from toolcast_runtime.mcp import McpServer


def assert_refused(
    registry: Registry, part: str, arguments: Any = None, **options: Any
) -> None:
    """Assert that a call is refused with the name of a part."""
    options.setdefault("ask", lambda question: YES)
    response = registry.call_tool_sync("t", arguments or {}, **options)
    assert response.error is not None, response
    assert f"the part `{part}` of toolcast-runtime cannot be loaded" in response.error


@pytest.mark.parametrize("condition", [{}, {"when": {"required": ["x"]}}])
def test_tool_with_confirm_is_refused_without_the_consent_part(
    condition: Any, tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    break_modules("toolcast_runtime.consent")
    confirm = {"message": "Really?", **condition}
    assert_refused(make_registry(tmp_path, confirm=confirm), "consent")
    assert not handler_log


@pytest.mark.parametrize("handler", ["asking", "asking_later"])
def test_handler_that_puts_a_question_to_the_user_fails_without_the_consent_part(
    handler: str, tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    break_modules("toolcast_runtime.consent")
    registry = make_registry(tmp_path, handler=f"{HANDLERS}:{handler}")
    assert_refused(registry, "consent")
    assert not handler_log


def test_each_user_question_from_a_handler_fails_without_the_consent_package(
    tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    """Handlers that catch the error and repeat the question get no answer either."""
    break_modules("toolcast_runtime.consent")
    registry = make_registry(tmp_path, handler=f"{HANDLERS}:stubborn")
    assert registry.call_tool_sync("t", {}, ask=lambda question: YES).result == "done"
    assert not handler_log


@pytest.mark.parametrize(
    "module", ["toolcast_runtime.ledger", "toolcast_runtime.ledger.secret_arguments"]
)
@pytest.mark.parametrize("is_declared", [False, True])
def test_persistent_tool_call_is_refused_without_the_ledger_part(
    module: str,
    is_declared: bool,
    tmp_path: Path,
    handler_log: list[str],
    break_modules: BreakModules,
) -> None:
    break_modules(module)
    file = str(tmp_path / "ledger.sqlite3")
    ledger = LedgerSettings("toy", "NO_LEDGER", file) if is_declared else None
    registry = make_registry(tmp_path, persistent=True, schema=SECRET, LEDGER=ledger)
    assert_refused(registry, "ledger", {"pin": "1234"})
    assert not handler_log and not Path(file).exists()
    with pytest.raises(LedgerError, match="`ledger`"):
        run_sync(registry.get_single_toolset().check_ledger())


@pytest.mark.parametrize(
    "module", ["toolcast_runtime.ledger", "toolcast_runtime.ledger.secret_arguments"]
)
def test_tool_with_confirm_is_refused_if_the_ledger_cannot_redact_secret_arguments(
    module: str, tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    break_modules(module)
    file = str(tmp_path / "ledger.sqlite3")
    ledger = LedgerSettings("toy", "NO_LEDGER", file)
    confirm = {"message": "Really?"}
    registry = make_registry(tmp_path, confirm=confirm, schema=SECRET, LEDGER=ledger)
    assert_refused(registry, "ledger", {"pin": "1234"})
    assert not handler_log and not Path(file).exists()


@pytest.mark.parametrize(
    "fields", [{"arguments_type": f"{HANDLERS}:A"}, {"result_type": f"{HANDLERS}:A"}]
)
def test_tool_with_typed_arguments_or_result_is_refused_without_the_values_part(
    fields: Any, tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    break_modules("toolcast_runtime.values")
    assert_refused(make_registry(tmp_path, **fields), "values")
    assert not handler_log


def test_tool_with_a_dependency_is_refused_without_the_lifespan_part(
    tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    break_modules("toolcast_runtime.lifespan.dependencies")
    lifespan = Lifespan(f"{HANDLERS}:opened", ("db",))
    registry = make_registry(tmp_path, uses=["db"], LIFESPAN=lifespan)
    assert_refused(registry, "lifespan")
    with pytest.raises(LifespanError, match="`lifespan`"):
        registry.__enter__()
    assert not handler_log


LIFESPAN_PROGRAM = """
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
@pytest.mark.parametrize("is_disabled", [True, False])
def test_server_without_the_lifespan_part_starts_only_with_no_lifespan(
    is_disabled: bool, tmp_path: Path
) -> None:
    """With `--no-lifespan` the server lists the tool; a call of the tool is an error."""
    handler = "tests.runtime.core_handlers:add"
    package = Package(tmp_path, definition("t", handler=handler, uses=["a"]))
    options = ["--no-lifespan"] * is_disabled
    broken = ("toolcast_runtime.lifespan.dependencies",)
    process = run_program(
        LIFESPAN_PROGRAM, tmp_path, broken, *options, package=package.name
    )
    message = "the part `lifespan` of toolcast-runtime cannot be loaded"
    if not is_disabled:
        assert process.returncode == 3 and not process.stdout
        assert message in process.stderr.splitlines()[-1]
        return
    assert process.returncode == 0, process.stderr
    answers = map(json.loads, process.stdout.splitlines())
    results = {answer["id"]: answer["result"] for answer in answers}
    assert [tool["name"] for tool in results["tools/list"]["tools"]] == ["t"]
    assert results["t"]["isError"] and message in results["t"]["content"][0]["text"]


def test_server_with_mcp_prompts_cannot_be_built_without_the_resources_part(
    tmp_path: Path, break_modules: BreakModules
) -> None:
    prompts = types.ModuleType("prompts")
    server = McpServer(make_registry(tmp_path), name="demo", mcp_prompts=prompts)
    break_modules("toolcast_runtime.resources")
    with pytest.raises(OptionalPartError, match="the part `resources` of toolcast-r"):
        server.build()


def test_client_access_and_permissions_are_enforced_without_any_optional_part(
    tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    break_modules(*PACKAGES)
    fields = {"handler": f"{HANDLERS}:work", "permission": "billing"}
    clients = {"desk": Client("*", permissions=("billing",)), "guest": Client()}
    tools = Package(tmp_path, definition("t", **fields)).load()
    registry = Registry(tools, handlers=HANDLERS, clients=clients)
    for client in ("guest", "stranger", None):
        assert registry.call_tool_sync("t", {}, client).error
    with calling_as(Caller("mia", permissions=frozenset())):
        assert registry.call_tool_sync("t", {}, "desk").error == "unknown tool `t`"
    assert not handler_log
    assert registry.call_tool_sync("t", {}, "desk").result == "done"


OAUTH_PROGRAM = """
import asyncio
from pathlib import Path

if {at_once}:
    sys.meta_path.insert(0, Breaks())
from tests.oauth.shop import run_shop
from tests.mcp.servers import MODERN, encode_requests
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime import Client

sys.meta_path.insert(0, Breaks())
tools = Package(Path({folder!r}), definition("ping")).load()
registry = Registry(tools, clients={{"desk": Client("*"), "back": Client("*")}})
environment = {{"SHOP_PUBLIC_URL": "https://shop.example", "SHOP_OAUTH_ISSUER": "http://127.0.0.1:9"}}

async def serve():
    async with run_shop(registry, environment) as server:
        print((await server.request(None)).status_code, (await server.request("x")).status_code)

asyncio.run(serve())
"""


@pytest.mark.rows(1)
@pytest.mark.parametrize("at_once", [True, False])
def test_server_with_oauth_needs_oauth_package(tmp_path: Path, at_once: bool) -> None:
    """No request is answered, because tokens and scopes cannot be checked."""
    broken = ("toolcast_runtime.oauth",)
    process = run_program(OAUTH_PROGRAM, tmp_path, broken, at_once=at_once)
    assert process.returncode == 1 and not process.stdout, process.stdout
    assert "toolcast_runtime.oauth" in process.stderr.splitlines()[-1]
    assert "is broken" in process.stderr.splitlines()[-1]
