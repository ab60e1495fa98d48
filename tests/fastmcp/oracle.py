"""Comparison of a FastMCP or SDK server with Toolcast's server of the same functions.

    python -m tests.fastmcp.oracle fastmcp

prints the differences, in an environment with FastMCP.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
import types
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp import Client

from tests.fastmcp import context_functions, functions
from tests.fastmcp.compared import MODES, Answers, Call, Imported, compare
from toolcast_runtime.core.definitions.tool import module_name
from toolcast_runtime.fastmcp import Recorder, adapt, adapt_lifespan

FUNCTION_CALLS: list[Call] = [
    (function.__name__, arguments)
    for function, calls in functions.CALLS.items()
    for arguments in calls
]
# The SDK itself fails at an alias of a parameter.
SDK_FUNCTION_CALLS = [call for call in FUNCTION_CALLS if call[0] != "renamed"]
CONTEXT_CALLS = context_functions.CALLS
PROMPTS = [*context_functions.PROMPTS, ("conversation", {"values": "[1, 2]"})]
QUESTIONS = [call for call in CONTEXT_CALLS if call[0] == "asks"]
# Neither library can ask over the stateless version.
STATELESS_CALLS = [call for call in CONTEXT_CALLS if call[0] != "asks"]


@contextlib.asynccontextmanager
async def serve_functions(library: str, folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the servers of the plain functions: the original and Toolcast's."""
    server = make_server(library, None)
    functions.register(server)
    assert not functions.SKIPPED
    original = getattr(server, "_mcp_server", server)
    imported = Imported(original, folder, functions.__name__, None)
    async with imported.serve() as served:
        yield original, served


@contextlib.asynccontextmanager
async def serve_contexts(library: str, folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the servers of the functions with a Context, which are adapted."""
    if library == "fastmcp":
        server = target = make_server(library, context_functions.open_table)
        context_functions.register_fastmcp(server)
    else:
        server = make_server(library, context_functions.open_state)
        context_functions.register_sdk(server)
        target = Recorder(context_functions.register_sdk)
    original = getattr(server, "_mcp_server", server)
    module = await make_handlers(original, server, target)
    imported = Imported(original, folder, module, "lifespan")
    async with imported.serve() as served:
        yield original, served


def make_server(library: str, lifespan: Any) -> Any:
    """Return an empty server of a library."""
    if library == "fastmcp":
        from fastmcp import FastMCP

        return FastMCP("demo", lifespan=lifespan)
    from mcp.server.mcpserver import MCPServer

    return MCPServer("demo", lifespan=lifespan)


async def make_handlers(original: Any, server: Any, target: Any) -> str:
    """Make the handlers module that an import writes; return its name."""
    name = f"adapted_handlers_{id(server)}"
    module: Any = types.ModuleType(name)
    sys.modules[name] = module

    def define(function_name: str) -> Any:
        def stub(**arguments: Any) -> None: ...

        stub.__module__, stub.__name__ = name, function_name
        return stub

    async with Client(original) as client:
        listed: list[tuple[Any, Any]] = [
            ("tool", (await client.list_tools()).tools),
            ("resource", (await client.list_resources()).resources),
            ("prompt", (await client.list_prompts()).prompts),
        ]
        templates = await client.list_resource_templates()
        listed.append(("resource", templates.resource_templates))
    for kind, items in listed:
        for item in items:
            stub = define(module_name(item.name))
            handler = adapt(target, item.name, source="x:y", kind=kind)(stub)
            setattr(module, module_name(item.name), handler)
    module.lifespan = adapt_lifespan(server)(define("lifespan"))
    return name


async def find_differences(library: str) -> list[str]:
    """Return all differences between a library's answers and Toolcast's."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        async with serve_functions(library, Path(folder)) as (original, served):
            calls = FUNCTION_CALLS if library == "fastmcp" else SDK_FUNCTION_CALLS
            for mode in MODES:
                answers = Answers(mode)
                theirs = await answers.collect(original, calls)
                ours = await answers.collect(served, calls)
                found += compare(theirs, ours, calls)
        async with serve_contexts(library, Path(folder)) as (original, served):
            for mode in MODES:
                calls = STATELESS_CALLS if mode == "auto" else CONTEXT_CALLS
                if library == "fastmcp":
                    calls = [*calls, *context_functions.FASTMCP_CALLS]
                answers = Answers(mode)
                resources = context_functions.RESOURCES
                if library == "fastmcp":
                    resources = [*resources, "result://a"]
                asked = calls, resources, PROMPTS
                theirs = await answers.collect(original, *asked)
                ours = await answers.collect(served, *asked)
                found += compare(theirs, ours, [*calls, *resources, *PROMPTS])
            for action in ("decline", "cancel"):
                answers = Answers("legacy", action)
                theirs = await answers.collect(original, QUESTIONS)
                ours = await answers.collect(served, QUESTIONS)
                found += compare(theirs, ours, QUESTIONS)
    return found


if __name__ == "__main__":
    differences = asyncio.run(find_differences(sys.argv[1]))
    print("\n".join(differences) or "no differences")
