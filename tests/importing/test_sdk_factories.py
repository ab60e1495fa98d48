"""`toolcast import --python`: functions that are registered where an SDK server is created."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.importing.imports import describe_module, patch_server, run_import
from tests.program import run_toolcast
from toolcast.importing.handler_module import plan_handlers
from toolcast.importing.python_server import build_python_server
from toolcast.mcp_client.read_server import read_server
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.model import Workspace

# Each function is registered in another way. The tools share the state of the lifespan.
SHOP = '''
from contextlib import asynccontextmanager

from mcp.server.mcpserver import MCPServer


class Catalog:
    def __init__(self, prices):
        self.prices = prices

    def count(self) -> int:
        """Count the items."""
        return len(self.prices)


def register_prices(server, prices, currency):
    @server.tool()
    def price(item: str) -> str:
        """Return a price."""
        return f"{prices[item]} {currency}"

    @server.resource("shop://items/{item}")
    def item(item: str) -> str:
        return item


def create_server(PARAMETERS):
    prices = {"tea": 3}

    @asynccontextmanager
    async def lifespan(server):
        prices["cup"] = 5
        yield {"prices": prices}

    server = MCPServer("Shop", lifespan=lifespan)

    @server.tool()
    def add(item: str, price: int) -> int:
        """Add an item."""
        prices[item] = price
        return len(prices)

    @server.prompt()
    def greeting() -> str:
        return "Hello"

    register_prices(server, prices, "EUR")
    server.add_tool(Catalog(prices).count)
    server.add_tool(lambda: 1, name="retired", description="Retired.")
    server.remove_tool("retired")
    server.add_tool(lambda: 2, name="retired", description="Renewed.")
    return server
'''
CALLS = [
    ("price", {"item": "cup"}),
    ("add", {"item": "pot", "price": 9}),
    ("price", {"item": "pot"}),
    ("count", {}),
    ("retired", {}),
]


def test_functions_registered_by_an_sdk_server_factory_become_handlers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closures, methods and lambdas have handlers, and share the lifespan's state."""
    text = SHOP.replace("PARAMETERS", "") + "\n\nmcp = create_server()\n"
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    server = build_python_server("shop_module", None, [str(tmp_path)], 60)
    patch_server(monkeypatch, tmp_path, "shop_module", read_server(server))
    source = ("--python", "shop_module")
    assert "stub" not in run_import(tmp_path, *source, "--toolset", "shop")
    handlers = (tmp_path / "handlers/shop.py").read_text("utf-8")
    assert "SERVER = build_server(shop_module.create_server)\n" in handlers
    assert "@adapt_lifespan(SERVER)\n" in handlers
    run_toolcast(tmp_path, "generate")
    run_toolcast(tmp_path, "check")
    lines = [json.dumps({"tool": t, "arguments": a}) for t, a in CALLS]
    (tmp_path / "calls.jsonl").write_text("\n".join(lines), "utf-8")
    printed = run_toolcast(tmp_path, "verify", *source, "--calls", "calls.jsonl")
    assert "5 calls: 5 equal, 0 with permitted differences, 0 different" in printed


@pytest.mark.parametrize(
    ("parameters", "assignment", "reference"),
    [
        ("", "mcp = create_server()", "shop_module"),
        ("", "mcp: MCPServer = create_server()", "shop_module:mcp"),
        ("", "", "shop_module:create_server"),
        ("currency='EUR'", "", "shop_module:create_server"),
    ],
)
def test_python_server_created_by_a_function_is_described_by_that_function(
    tmp_path: Path, parameters: str, assignment: str, reference: str
) -> None:
    text = SHOP.replace("PARAMETERS", parameters) + f"\n\n{assignment}\n"
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    server = describe_module(reference, tmp_path)
    assert (server.attribute, server.is_factory) == ("create_server", True)
    assert {(function.kind, function.key) for function in server.functions} == {
        *(("tool", name) for name in ("add", "price", "count", "retired")),
        ("prompt", "greeting"),
        ("resource", "shop://items/{item}"),
    }


@pytest.mark.parametrize(
    ("parameters", "statement", "assignment"),
    [
        ("currency", "", "mcp = create_server('EUR')"),
        ("currency='USD'", "", "mcp = create_server('EUR')"),
        ("", "", "mcp = create_server()\nmcp.add_tool(print)"),
        ("", "", "SERVERS = [create_server()]\nmcp = SERVERS[0]"),
        ("", "CALLS.append(1); assert len(CALLS) == 1", "mcp = create_server()"),
    ],
)
def test_tool_is_a_stub_if_calling_the_sdk_server_factory_again_gives_another_server(
    tmp_path: Path, parameters: str, statement: str, assignment: str
) -> None:
    text = (
        "from mcp.server.mcpserver import MCPServer\n\n"
        "CALLS = []\n\n"
        f"def create_server({parameters}) -> MCPServer:\n"
        f"    {statement}\n"
        "    server = MCPServer('Depot')\n"
        "    @server.tool()\n"
        "    def price(item: str) -> str:\n"
        "        return item\n"
        "    return server\n\n"
        f"{assignment}\n"
    )
    (tmp_path / "depot.py").write_text(text, "utf-8")
    server = describe_module("depot", tmp_path)
    listing = ServerListing("depot", tools=({"name": "price", "inputSchema": {}},))
    plan = plan_handlers(
        Workspace(str(tmp_path), (), ()), None, "shop", listing, server
    )
    shown = parameters.replace("'USD'", "...")
    message = f"tool `price` is a stub: `create_server({shown})` registers it"
    assert message in "\n".join(plan.notes)
