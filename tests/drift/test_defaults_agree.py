"""Defaults omitted from generated modules equal the runtime's defaults."""

from __future__ import annotations

from dataclasses import fields

from toolcast.model.mcp_servers import McpServer, ToolRouter
from toolcast_runtime.external import ExternalServer
from toolcast_runtime.router import ChatModel


def test_mcp_server_in_the_spec_language_has_the_runtime_fields_and_defaults() -> None:
    """Only `fields`, `title`, `lock` and `locked` are added."""
    spec_fields = {field.name for field in fields(McpServer)}
    runtime_fields = {field.name for field in fields(ExternalServer)}
    assert issubclass(McpServer, ExternalServer)
    assert spec_fields - runtime_fields == {"fields", "title", "lock", "locked"}
    spec_server, runtime_server = McpServer("name"), ExternalServer("name")
    for name in runtime_fields:
        assert getattr(spec_server, name) == getattr(runtime_server, name), name


def test_spec_language_tool_router_has_the_runtime_model_defaults() -> None:
    spec_router, runtime_model = ToolRouter("url", "model"), ChatModel("url", "model")
    assert [f.name for f in fields(ToolRouter)] == [f.name for f in fields(ChatModel)]
    for name, value in vars(spec_router).items():
        assert getattr(runtime_model, name) == value, name
