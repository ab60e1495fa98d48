"""The shop in a FastAPI application that runs in one process."""

from __future__ import annotations

from fastapi import FastAPI

from generated.shop.mcp_server import SERVER

tools = SERVER.asgi_app(one_process=True)
app = FastAPI(lifespan=tools.lifespan)
app.mount("/platform", tools)
