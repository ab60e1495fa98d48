"""What a generated module leaves out is what the runtime takes instead."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import signature
from typing import Any

from toolcast.model.mcp_servers import McpServer, ToolRouter
from toolcast.targets.registry import RUNTIME_NAMES
from toolcast_runtime.external import ExternalServer
from toolcast_runtime.router import ChatModel


def defaults(model: Any) -> dict[str, Any]:
    return {
        field.name: (
            field.default
            if field.default_factory is MISSING
            else field.default_factory()
        )
        for field in fields(model)
    }


def test_an_external_server_has_the_runtimes_defaults() -> None:
    own = defaults(McpServer)
    # These are the spec's alone.
    for name in ("fields", "title", "lock", "locked"):
        del own[name]
    renamed = {RUNTIME_NAMES.get(name, name): value for name, value in own.items()}
    # What the runtime makes of the lock, and of tools that are said to be a server's; and
    # what only a command that a person types has.
    made = {"is_locked": False, "is_proxied": False, "whole_environment": False}
    assert {**renamed, **made} == defaults(ExternalServer)


def test_the_model_that_chooses_tools_has_the_runtimes_defaults() -> None:
    taken = signature(ChatModel).parameters
    for name, value in ToolRouter._field_defaults.items():
        assert taken[name].default == value, name
    assert set(ToolRouter._fields) <= set(taken)
