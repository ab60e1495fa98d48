"""Tool lists in the formats of model providers, with the losses of each format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from toolcast_runtime.core.definitions.tool import Confirm, Tool
from toolcast_runtime.providers import (
    PROVIDERS,
    ListOptions,
    ProviderTools,
    provider_named,
    render_tools,
)

from ..model.model import Toolset, ToolSpec
from .mcp_definitions import build_mcp_definition


def get_provider_options(toolset: Toolset) -> dict[str, Mapping[str, Any]]:
    """Return the options of each provider of the target `providers`.

    Without options, the target includes all providers; a toolset without the target, none.
    """
    declared = toolset.targets.get("providers")
    if declared is None:
        return {}
    options = {name: value for name, value in declared.items() if name in PROVIDERS}
    return options or {name: {} for name in PROVIDERS}


@lru_cache(maxsize=64)
def render_provider_lists(toolset: Toolset) -> tuple[tuple[str, ProviderTools], ...]:
    """Return each provider's name with the list of all tools of the target `providers`."""
    return tuple(_render_lists(toolset))


def _render_lists(toolset: Toolset) -> Iterator[tuple[str, ProviderTools]]:
    tools = [
        build_runtime_tool(tool) for tool in toolset.list_target_tools("providers")
    ]
    sections = {section.name: section.heading for section in toolset.sections}
    for name, options in get_provider_options(toolset).items():
        provider = provider_named(name)
        yield name, render_tools(provider, tools, ListOptions(**options), sections)


def build_runtime_tool(tool: ToolSpec) -> Tool:
    """Return the runtime's `Tool` for a spec, with only the fields that models receive."""
    return Tool(
        tool.name,
        tool.summary,
        tool.model_description,
        build_mcp_definition(tool),
        always=bool(tool.always),
        confirm=Confirm(tool.confirm.message) if tool.confirm else None,
        examples=[example.as_json for example in tool.examples],
        section=tool.section,
    )
