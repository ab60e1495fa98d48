"""Handlers that name functions of other servers, and servers that only record them."""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
import types
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from tests.rules.layout import list_findings, write_example
from toolcast.static_analysis.adapted_functions import (
    CONTEXT_MEMBERS,
    list_unsupported_uses,
)
from toolcast_runtime.core.calls.handlers import HandlerAdapter, load_function
from toolcast_runtime.core.context import CURRENT_CALL, CallContext, ToolError
from toolcast_runtime.core.validation.checker import DeclaredNames
from toolcast_runtime.fastmcp import Recorder, adapt, adapt_lifespan, build_server
from toolcast_runtime.fastmcp.context import FastMcpContext, SdkContext, make_context


def register_math(server: Any) -> None:
    """Register functions in each form that the libraries have."""

    @server.tool()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @server.tool
    def bare(a: int) -> int:
        return -a

    @server.tool("first")
    def by_position() -> str:
        return "first"

    @server.tool(name="named", description="By name.")
    async def by_name() -> str:
        return "named"

    def added() -> str:
        return "added"

    server.add_tool(added)
    server.add_tool(added, name="added-again")

    @server.resource("notes://{name}", name="note")
    def read_note(name: str) -> str:
        return name

    @server.prompt(name="both")
    def both_prompt() -> str:
        return "prompt"

    @server.tool(name="both")
    def both_tool() -> str:
        return "tool"

    @server.completion()
    async def complete(*_: Any) -> None: ...

    @server.custom_route("/health", methods=["GET"])
    async def health(request: Any) -> None: ...


SERVER = Recorder(register_math)


@pytest.mark.parametrize(
    ("name", "kind", "arguments", "result"),
    [
        ("add", None, {"a": 1}, 3),
        ("bare", None, {"a": 1}, -1),
        ("first", None, {}, "first"),
        ("added", None, {}, "added"),
        ("added-again", None, {}, "added"),
        ("notes://{name}", None, {"name": "a"}, "a"),
        ("note", None, {"name": "a"}, "a"),
        ("both", "tool", {}, "tool"),
        ("both", "prompt", {}, "prompt"),
    ],
)
def test_adapt_calls_the_recorded_function(
    name: str, kind: Any, arguments: dict[str, Any], result: Any
) -> None:
    @adapt(SERVER, name, source="x:y", kind=kind)
    def handler(**arguments: Any) -> Any: ...

    assert handler(**arguments) == result


def test_adapt_keeps_the_handler_signature_and_module() -> None:
    @adapt(register_math)
    def handler(**arguments: Any) -> Any: ...

    assert str(inspect.signature(handler)) == "(server: 'Any') -> 'None'"
    assert (handler.__module__, handler.__name__) == (__name__, "handler")

    @adapt(SERVER, "named")
    def named(**arguments: Any) -> Any: ...

    assert HandlerAdapter(named, DeclaredNames({})).is_async


def test_handler_that_adapts_a_function_in_another_package_is_loaded() -> None:
    """Plain aliases of that function are rejected."""

    def elsewhere() -> str:
        return "found"

    elsewhere.__module__ = "other.package"
    stub: Callable[..., Any] = types.FunctionType(
        (lambda: None).__code__, {"__name__": "my_handlers.math"}, "handler"
    )
    module: Any = types.ModuleType("my_handlers.math")
    module.handler = adapt(elsewhere)(stub)
    module.alias = elsewhere
    sys.modules["my_handlers.math"] = module
    try:
        assert load_function("my_handlers.math:handler", "my_handlers")() == "found"
        with pytest.raises(ImportError, match="outside of"):
            load_function("my_handlers.math:alias", "my_handlers")
    finally:
        del sys.modules["my_handlers.math"]


@pytest.mark.parametrize(
    ("target", "name", "error", "message"),
    [
        (SERVER, "ad", LookupError, "the server has no `ad`; did you mean `add`"),
        (SERVER, "both", LookupError, r"`both` is ambiguous \(prompt, tool\)"),
        (MCPServer("x"), "add", TypeError, "`build_server`, not MCPServer; help:"),
        (3, "add", TypeError, "not int"),
        (SERVER, None, LookupError, "has no ``"),
    ],
)
def test_adapt_raises_for_a_function_that_the_fastmcp_server_does_not_have(
    target: Any, name: str | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        adapt(target, name)


def test_recorder_run_and_adapt_lifespan_without_a_lifespan_raise() -> None:
    with pytest.raises(AttributeError, match="a Recorder has no `run`; help:"):
        Recorder(lambda server: server.run())
    with pytest.raises(TypeError, match="MCPServer has no lifespan"):
        adapt_lifespan(MCPServer("x"))


@pytest.mark.parametrize(
    ("library", "context"), [("mcp", SdkContext), ("fastmcp", FastMcpContext)]
)
def test_context_members_that_check_accepts_equal_the_runtime_members(
    library: str, context: type[SdkContext]
) -> None:
    methods = {name for name in dir(context) if not name.startswith("_")}
    missing = CONTEXT_MEMBERS[library] - methods
    assert methods <= CONTEXT_MEMBERS[library]
    source = inspect.getsource(context) + inspect.getsource(SdkContext)
    assert not [n for n in missing if f"{n}=" not in source and f".{n} =" not in source]


async def test_fastmcp_context_has_an_mcp_calls_values_and_sends_its_logs() -> None:
    """Outside of an MCP server, it has default values and sends nothing."""
    logged: list[Any] = []

    async def flush() -> None:
        logged.append("flush")

    request: Any = types.SimpleNamespace(
        server_name="toys", client_id="desk", session_id="1", flush=flush
    )
    request.send_log = lambda *log: logged.append(log)

    def make(request: Any, library: str = "fastmcp") -> Any:
        token = CURRENT_CALL.set(CallContext("add", request=request))
        try:
            return make_context(library, {"a": 1})
        finally:
            CURRENT_CALL.reset(token)

    context = make(request)
    values = context.fastmcp.name, context.client_id, context.session_id
    assert values == ("toys", "desk", "1")
    assert context.lifespan_context == {"a": 1}
    await context.log("hi")
    await context.log("hi", "error", "library", {"b": 2})
    await context.warning("hi")
    assert logged == [
        ("info", {"msg": "hi", "extra": None}, None),
        "flush",
        ("error", {"msg": "hi", "extra": {"b": 2}}, "library"),
        "flush",
        ("warning", {"msg": "hi", "extra": None}, None),
        "flush",
    ]
    context = make(None)
    assert (context.fastmcp.name, context.client_id) == ("add", None)
    assert uuid.UUID(context.session_id)
    await context.log("hi")
    assert len(logged) == 6
    with pytest.raises(ToolError, match="only in an MCP server"):
        await make(None, "mcp").read_resource("text://a")


@pytest.mark.parametrize(
    ("parameters", "body", "use"),
    [
        ("ctx: Context", "ctx.sample('Hi')", "`Context.sample` in line 3"),
        ("*, c: Context | None = None", "c.set_state('a', 1)", "`Context.set_state`"),
        ("ctx=CurrentContext()", "return ctx.get_state('a')", "`Context.get_state`"),
        ("a: Annotated[int, Depends(f)]", "pass", "`Depends` for the parameter `a`"),
        ("a: int = Depends(f)", "pass", "`Depends` for the parameter `a`"),
        ("ctx: Context", "ctx.info('a')", ""),
        ("other: int", "other.sample", ""),
    ],
)
def test_unsupported_context_members_and_injected_values_are_listed(
    parameters: str, body: str, use: str
) -> None:
    """Members that no `Context` here has, and injected values, are found in the text."""
    text = f"from fastmcp import Context\ndef f({parameters}):\n    {body}\n"
    node = ast.parse(text).body[1]
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    names = [*arguments.args, *arguments.kwonlyargs]
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    given = {
        name.arg: (name.annotation, default)
        for name, default in zip(names, defaults or [None], strict=True)
    }
    contexts = {n: "fastmcp" for n in given if n in ("ctx", "c")}
    found = list(list_unsupported_uses(node, contexts, given))
    assert [message.startswith(use) for message in found] == ([True] if use else [])


ADAPTED = """\
handler: handlers.work:work
# handlers/work.py
from toolcast_runtime.fastmcp import adapt
@adapt(None, source="shop.math:{source}")
def work(**arguments): ...
# shop/math.py
@server.tool()
def add(a): ...
@cache
def cached(a): ...
class Shop:
    def method(self, a): ...
    @staticmethod
    def static(a): ...
    @classmethod
    def from_class(cls, a): ...
"""


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("add", "the handler requires `a`, which is not a parameter of the tool"),
        ("cached", ""),
        ("Shop.method", "the handler requires `a`"),
        ("Shop.static", "the handler requires `a`"),
        ("Shop.from_class", "the handler requires `a`"),
        ("Shop.methods", "shop/math.py has no function `Shop.methods`; did you mean"),
    ],
)
def test_check_reports_problems_of_the_adapted_function(
    source: str, problem: str, tmp_path: Path
) -> None:
    """An unknown decorator can change the parameters, so its function is not checked."""
    write_example(ADAPTED.format(source=source), tmp_path)
    messages = [finding.message for finding in list_findings(tmp_path)]
    assert [problem in message for message in messages] == [True] * bool(problem)


SDK = "from mcp.server.mcpserver import MCPServer"
REGISTERED = """\
handler: handlers.work:work
# handlers/work.py
{server}
{decorator}
def work(a): ...
"""


@pytest.mark.parametrize(
    ("server", "decorator", "is_checked"),
    [
        ("", "", True),
        (f"{SDK}\nserver = MCPServer('x')", "@server.tool()", True),
        (f"{SDK}\nserver = MCPServer('x')", "@server.tool", True),
        (f"{SDK}\nserver = MCPServer('x')", "@server.other()", False),
        (f"{SDK}\nserver = MCPServer('x')", "@cache\n@server.tool()", False),
        (f"{SDK}\nserver = MCPServer", "@server.tool()", False),
        ("import fastmcp\nserver = fastmcp.FastMCP()", "@server.tool()", True),
        ("import fastmcp\nserver = fastmcp.Client()", "@server.tool()", False),
        ("import other\nserver = other.MCPServer()", "@server.tool()", False),
        ("class MCPServer: ...\nserver = MCPServer()", "@server.tool()", False),
        ("server = unknown()", "@server.tool()", False),
        ("", "@server.tool()", False),
        ("", "@tool()", False),
    ],
)
def test_check_reads_a_handler_signature_below_mcp_server_decorators(
    server: str, decorator: str, is_checked: bool, tmp_path: Path
) -> None:
    """Other decorators can change the signature, which is then unknown."""
    write_example(REGISTERED.format(server=server, decorator=decorator), tmp_path)
    messages = [finding.message for finding in list_findings(tmp_path)]
    problem = "the handler requires `a`, which is not a parameter of the tool"
    assert [problem in message for message in messages] == [True] * is_checked


def make_fastmcp_server(tools: list[Any]) -> Any:
    """Return an object of a class with the name and the lists of FastMCP's server."""

    async def list_tools(self: Any, *, run_middleware: bool) -> list[Any]:
        assert not run_middleware
        return tools

    async def list_nothing(self: Any, *, run_middleware: bool) -> list[Any]:
        return []

    names = ["list_resources", "list_resource_templates", "list_prompts"]
    methods = dict.fromkeys(names, list_nothing) | {"list_tools": list_tools}
    return type("FastMCP", (), {**methods, "__module__": "fastmcp.server.server"})()


def test_adapt_finds_functions_in_a_fastmcp_servers_lists() -> None:
    """Another server provides a listed tool without a function."""
    validated = types.SimpleNamespace(raw_function=lambda: "raw")
    tools = [
        types.SimpleNamespace(name="plain", fn=lambda: "plain"),
        types.SimpleNamespace(name="validated", fn=validated),
        types.SimpleNamespace(name="proxied"),
    ]
    server = make_fastmcp_server(tools)
    for name, result in (("plain", "plain"), ("validated", "raw")):
        assert adapt(server, name)(lambda: None)() == result
    with pytest.raises(LookupError, match="`proxied` has no function"):
        adapt(server, "proxied")


async def test_a_factory_is_called_outside_the_event_loop() -> None:
    """Factories may run an event loop of their own, or be coroutine functions."""

    async def load() -> str:
        return "server"

    assert build_server(lambda: asyncio.run(load())) == "server"
    assert build_server(load) == "server"


def test_adapt_finds_functions_that_an_sdk_server_factory_registered() -> None:
    methods = {**vars(MCPServer)}

    def create_server() -> MCPServer:
        server = MCPServer("math")
        for number in range(3):
            # The server keeps the first tool with a name.
            server.add_tool(lambda number=number: number, name="number")
            if number == 0:
                server.remove_tool("number")
        server.resource("notes://all", name="all")(lambda: "notes")
        server.prompt(name="ask")(lambda: "question")
        MCPServer("other").add_tool(lambda: "other", name="other")
        return server

    server = build_server(create_server)
    results = {
        key: adapt(server, key)(lambda: None)()
        for key in ("number", "notes://all", "ask")
    }
    assert results == {"number": 1, "notes://all": "notes", "ask": "question"}
    with pytest.raises(LookupError, match="the server has no `other`"):
        adapt(server, "other")
    assert {**vars(MCPServer)} == methods, "the class is as before"
