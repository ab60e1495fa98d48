"""Handlers modules that `toolcast import --python` plans for a described server."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from toolcast.importing.formats import source_from_server
from toolcast.importing.handler_module import plan_handlers
from toolcast.importing.python_server import PythonServer, ServerFunction
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.model import Workspace


def make_python_server(*functions: ServerFunction, **members: object) -> PythonServer:
    """Return the description of a FastMCP server."""
    values = {
        "module": "shop",
        "attribute": "mcp",
        "is_factory": False,
        "library": "fastmcp",
        "version": "4.2.3",
        "is_supported": True,
        "has_lifespan": False,
        "functions": functions,
    }
    return PythonServer(**{**values, **members})  # type: ignore[arg-type]


def plan_module(root: Path, server: PythonServer | None) -> str:
    """Return the handlers module of a server with a tool, a resource and a prompt."""
    tool = {"name": 'a"; import os', "inputSchema": {}}
    listing = ServerListing(
        "shop",
        tools=({"name": "both", "inputSchema": {}}, tool),
        resources=({"name": "shop", "uri": "shop://a"},),
        prompts=({"name": "both"},),
    )
    empty = Workspace(str(root), (), ())
    plan = plan_handlers(empty, None, "shop", listing, server)
    text = plan.files["handlers/shop.py"].decode()
    ast.parse(text)
    return text + "\n".join(plan.notes)


@pytest.mark.parametrize(("reported", "own"), [("4.0.9", ""), ("1.2", "1.2")])
def test_import_drops_a_listed_server_version_that_equals_the_library_version(
    reported: str, own: str
) -> None:
    """The environment of `--interpreter` can have another version of the library."""
    listing = ServerListing("shop", server_info={"name": "shop", "version": reported})
    server = make_python_server(version="4.0.9")
    assert source_from_server(listing, server).server_version == own


def test_import_python_writes_valid_handlers_for_any_names(tmp_path: Path) -> None:
    """Function names that collide are renamed, and quotes are escaped."""
    text = plan_module(
        tmp_path,
        make_python_server(
            ServerFunction("tool", "both", "nested", "shop", "f.both", "", "f", ()),
            ServerFunction("tool", 'a"; import os', "object"),
            ServerFunction("prompt", "both", "method", "shop", "A.both"),
            ServerFunction("resource", "shop://a", "none"),
        ),
    )
    assert '@adapt(SERVER, "both", source="shop:f.both", kind="tool")' in text
    assert "def both_prompt(" in text
    # `shop` is the name of the imported module.
    assert "def shop_resource(" in text
    assert "\nimport os" not in text
    assert "resource `shop://a` is a stub: another server" in text


def test_import_python_writes_stubs_if_the_server_library_is_unsupported(
    tmp_path: Path,
) -> None:
    server = make_python_server(is_supported=False, version="3.4.11", attribute="mcp")
    text = plan_module(tmp_path, server)
    assert "adapt" not in text
    assert text.count("raise NotImplementedError") == 4
    assert text.count("FastMCP 3.4.11 needs mcp 1") == 1
