"""Tools as lists show them: MCP's own, and the forms of model providers with what these lose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from toolcast_runtime.core.definitions.tool import Confirm, Tool
from toolcast_runtime.core.validation.protocol import (
    REVISIONS,
    Refusal,
    listed_before_2026,
    problems_with_tool,
)
from toolcast_runtime.providers import (
    PROVIDERS,
    ListOptions,
    ProviderTools,
    provider_named,
    render_tools,
)

from ..model.language_fields import mcp_members
from ..model.model import Toolset, ToolSpec

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")

_ASKS = "anthropic/requiresUserInteraction"
"""The key by which Claude Code (2.1.199 and newer) asks its user in every mode."""
_ALWAYS, _HINT = "anthropic/alwaysLoad", "anthropic/searchHint"
"""The keys by which clients that search among listed tools load one at once, and find one."""


def mcp_definition(tool: ToolSpec, *, has_hints: bool = False) -> dict[str, Any]:
    """The MCP tool object.

    Source: MCP 2026-07-28, server/tools. Keys stand in the order of the spec's fields; the
    description stands where the spec's `description` does, else where its `summary` does.
    A field that the spec does not have is absent, one that it sets to null is null. A tool that
    asks a person before every call tells clients that ask by themselves, in `_meta`; with
    `has_hints` those that search by themselves are told, too. One whose callers pick properties
    of results has a parameter more, and less that is required of these.
    """
    has_description = "description" in tool.fields
    values: dict[str, tuple[str, Any]] = {
        field: (member, getattr(tool, field))
        for member, field in mcp_members().items()
        if field != "description"
    }
    values["name"] = "name", tool.name
    values["parameters"] = "inputSchema", tool.listed_parameters
    values["returns"] = "outputSchema", tool.listed_returns
    if tool.result.send == "text":
        del values["returns"]
    values["icons"] = "icons", None if tool.icons is None else list(tool.icons)
    if "description" not in tool.mcp_omit:
        key = "description" if has_description else "summary"
        value = tool.description if has_description else tool.summary
        if tool.shown_deprecation:
            value = tool.model_description
        values[key] = ("description", value)
    definition: dict[str, Any] = {}
    for name in tool.fields:
        if name == "mcp":
            definition.update(tool.mcp_extra)
        elif name in values:
            key, value = values[name]
            definition[key] = value
    asks = tool.confirm is not None and tool.confirm.when is None
    told: dict[str, Any] = {_ASKS: True} if asks else {}
    if has_hints:
        told |= {_ALWAYS: True} if tool.always else {_HINT: tool.summary}
    if told:
        definition["_meta"] = {**told, **(tool.meta or {})}
    return definition


def is_name_of_tool(name: str) -> bool:
    """Whether a spec may have a tool's name."""
    return _NAME.fullmatch(name) is not None


LANGCHAIN_LOSES = {
    "config": "LangChain's own tools drop it in silence",
    "run_manager": "LangChain's own tools drop it in silence",
    "runtime": "LangChain's MCP adapter drops it in silence",
    "self": "LangChain's own tools fail with it",
    "callbacks": "LangChain's older tools drop it in silence",
}
"""Names of parameters that LangChain takes for its own, and what becomes of them."""

_MOST = 64


def name_problem(name: str) -> str:
    """Why not every provider takes a tool's name; empty when every one does."""
    if len(name) > _MOST:
        return f"has {len(name)} characters; OpenAI, Anthropic and Bedrock take {_MOST}"
    if "." in name:
        return "has a dot, which OpenAI, Anthropic and Bedrock refuse"
    if not (name[0].isalpha() or name[0] == "_"):
        return f"begins with `{name[0]}`, which Gemini refuses"
    return ""


def declared_providers(toolset: Toolset) -> dict[str, Mapping[str, Any]]:
    """The options of each provider of the target `providers`; of all where it names none."""
    named = toolset.targets.get("providers")
    if named is None:
        return {}
    known = {name: options for name, options in named.items() if name in PROVIDERS}
    return known or {name: {} for name in PROVIDERS}


@lru_cache(maxsize=64)
def provider_lists(toolset: Toolset) -> tuple[tuple[str, ProviderTools], ...]:
    """The list of each provider, with what it loses; of all tools of the target."""
    return tuple(_rendered(toolset))


def _rendered(toolset: Toolset) -> Iterator[tuple[str, ProviderTools]]:
    tools = [runtime_tool(tool) for tool in toolset.tools_in("providers")]
    sections = {section.name: section.heading for section in toolset.sections}
    for name, options in declared_providers(toolset).items():
        provider = provider_named(name)
        yield name, render_tools(provider, tools, ListOptions(**options), sections)


def runtime_tool(tool: ToolSpec) -> Tool:
    """A tool as the runtime has it, as far as models are shown it."""
    return Tool(
        tool.name,
        tool.summary,
        tool.model_description,
        mcp_definition(tool),
        always=bool(tool.always),
        confirm=Confirm(tool.confirm.message) if tool.confirm else None,
        examples=[example.as_json for example in tool.examples],
        section=tool.section,
    )


def refusals_of(definition: Mapping[str, Any]) -> dict[str, list[Refusal]]:
    """What is refused of a tool as it is listed, by the revisions that refuse anything."""
    old, new = REVISIONS
    shown = {old: listed_before_2026(definition), new: definition}
    found = {each: problems_with_tool(tool, each) for each, tool in shown.items()}
    return {revision: refusals for revision, refusals in found.items() if refusals}


def refused_by(definition: Mapping[str, Any]) -> dict[str, list[str]]:
    """The places of `refusals_of`, which the generated tests expect."""
    return {
        revision: sorted({refusal.place for refusal in refusals})
        for revision, refusals in refusals_of(definition).items()
    }
