"""What is lost of a tool in the forms that model providers and frameworks ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from toolcast_runtime.providers import (
    PROVIDERS,
    Effect,
    ListOptions,
    Severity,
    provider_named,
    render_tools,
)

from ...model.model import ToolSpec
from .provider_lists import runtime_tool

__all__ = ["LANGCHAIN_LOSES", "ProviderForm", "lost_keywords", "name_problem"]

LANGCHAIN_LOSES = {
    "config": "LangChain's own tools drop it in silence",
    "run_manager": "LangChain's own tools drop it in silence",
    "runtime": "LangChain's MCP adapter drops it in silence",
    "self": "LangChain's own tools fail with it",
    "callbacks": "LangChain's older tools drop it in silence",
}
"""Names of parameters that LangChain takes for its own, and what becomes of them."""

_MOST = 64


class ProviderForm(NamedTuple):
    """A form of a tool's schema that a provider guarantees to follow.

    Attributes:
        name: what it is called.
        source: where it is said what it takes.
    """

    name: str
    source: str


def lost_keywords(tool: ToolSpec) -> Iterator[tuple[ProviderForm, frozenset[str]]]:
    """What each strict form loses of what a tool's parameters allow, as a message says it."""
    known = set[str]()
    for provider in map(provider_named, PROVIDERS):
        if provider.strict is None:
            continue
        name = provider.strict.name or f"{provider.title} strict"
        if name not in known:
            known.add(name)
            listed = render_tools(provider, [runtime_tool(tool)], ListOptions(True))
            lost = {
                f"`{loss.keyword}`"
                for loss in listed.losses
                if loss.path.startswith("/parameters")
                and (loss.effect is Effect.WIDER or loss.severity is not Severity.NOTE)
            }
            yield ProviderForm(name, provider.strict.source), frozenset(lost)


def name_problem(name: str) -> str:
    """Why not every provider takes a tool's name; empty when every one does."""
    if len(name) > _MOST:
        return f"has {len(name)} characters; OpenAI, Anthropic and Bedrock take {_MOST}"
    if "." in name:
        return "has a dot, which OpenAI, Anthropic and Bedrock refuse"
    if not (name[0].isalpha() or name[0] == "_"):
        return f"begins with `{name[0]}`, which Gemini refuses"
    return ""
