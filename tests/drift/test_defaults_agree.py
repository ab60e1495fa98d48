"""What a generated module leaves out is what the runtime takes instead."""

from __future__ import annotations

from dataclasses import fields

from toolcast.model.mcp_servers import McpServer, ToolRouter
from toolcast_runtime.external import ExternalServer
from toolcast_runtime.router import ChatModel


def test_an_external_server_is_the_runtimes_with_what_the_spec_alone_says() -> None:
    own = {field.name for field in fields(McpServer)}
    told = {field.name for field in fields(ExternalServer)}
    assert issubclass(McpServer, ExternalServer)
    assert own - told == {"fields", "title", "lock", "locked"}
    plain, taken = McpServer("name"), ExternalServer("name")
    for name in told:
        assert getattr(plain, name) == getattr(taken, name), name


def test_the_model_that_chooses_tools_has_the_runtimes_defaults() -> None:
    told, taken = ToolRouter("url", "model"), ChatModel("url", "model")
    assert [f.name for f in fields(ToolRouter)] == [f.name for f in fields(ChatModel)]
    for name, value in vars(told).items():
        assert getattr(taken, name) == value, name
