"""The clinic within a FastAPI application: patients' tools over REST, and MCP beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from clinic_tools.reception.mcp_server import app as tools
from clinic_tools.reception.registry import REGISTRY
from clinic_tools.records.registry import REGISTRY as RECORDS
from fastapi import FastAPI, HTTPException


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    # A mounted application's own lifespan is not run by FastAPI.
    async with tools.lifespan(), RECORDS:
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/tools/{tool}")
async def call(tool: str, arguments: dict[str, Any]) -> Any:
    """Call a tool as the client `portal`; answer 400 for any error of the tool."""
    response = await REGISTRY.call_tool(tool, arguments, "portal")
    if response.error is not None:
        raise HTTPException(400, response.error)
    return response.result


@app.post("/plain/{tool}")
def call_in_thread(tool: str, arguments: dict[str, Any]) -> Any:
    """Call a tool from a plain function, which FastAPI runs in a thread."""
    response = REGISTRY.call_tool_sync(tool, arguments, "portal")
    if response.error is not None:
        raise HTTPException(400, response.error)
    return response.result


app.mount("/platform", tools)
