"""The clinic within an application of its own, as FastAPI and Starlette have it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from clinic_tools.reception.mcp_server import SERVER
from clinic_tools.reception.registry import REGISTRY
from clinic_tools.records.registry import REGISTRY as RECORDS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

MCP = SERVER.http_app("portal")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with REGISTRY, RECORDS, MCP.router.lifespan_context(MCP):
        yield


async def call(request: Request) -> JSONResponse:
    """The body is the arguments; what the portal's patients may not do is not there."""
    arguments = await request.json()
    response = await REGISTRY.call_tool(
        request.path_params["tool"], arguments, "portal"
    )
    if response.error is not None:
        return JSONResponse({"error": response.error}, 400)
    return JSONResponse(response.result)


app = Starlette(
    routes=[Route("/tools/{tool}", call, methods=["POST"]), Mount("/mcp", MCP)],
    lifespan=lifespan,
)
