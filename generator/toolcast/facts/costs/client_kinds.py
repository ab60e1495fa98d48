"""The programs and providers that clients are: what each loads of tools when, and its limits.

The facts are those of November 2026; each row names where they come from.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ...model.model import Client, Toolset, ToolSpec
from ..client_limits import LIMITS, ClientLimit, Limited

__all__ = ["KINDS", "ClientKind", "Loading", "callers", "kind_of", "limits_of"]


class Loading(StrEnum):
    """What of its tools a client loads before one is needed."""

    UPFRONT = "upfront"
    """The definition of every tool."""
    ROUTED = "routed"
    """Tools with `always`; name and summary of the others, which the router chooses from."""
    NAMED = "named"
    """Tools that are marked; the names of the others, which the model searches."""
    NAMESPACES = "namespaces"
    """Tools with `always`; of the others name and heading of their section."""
    SEARCHED = "searched"
    """Tools with `always`; nothing of the others, which the model searches."""


class ClientKind(NamedTuple):
    """A program or a provider.

    Attributes:
        name: the value of `kind` in toolset.yaml.
        title: what people call it.
        loading: what it loads when.
        source: where that is said.
        limits: what `client_limits` calls it; empty where it has no known limits.
        mark: the key of a tool's `meta` that has it loaded upfront; without one `always` does.
        prefix: stands before the names of tools, with `{}` for the server's name.
        is_api: a provider's API, which knows no servers and none of their instructions.
        defers_from: with fewer tools it loads every definition upfront.
    """

    name: str
    title: str
    loading: Loading
    source: str
    limits: str = ""
    mark: str = ""
    prefix: str = ""
    is_api: bool = False
    defers_from: int = 0

    def is_upfront(self, tool: ToolSpec, tools: int) -> bool:
        """Whether the definition of a tool is in each request, among so many tools."""
        if self.loading is Loading.UPFRONT or tools < self.defers_from:
            return True
        if self.mark:
            return (tool.meta or {}).get(self.mark) is True
        return tool.always


KINDS = {
    kind.name: kind
    for kind in (
        ClientKind(
            "registry",
            "an agent that asks the generated registry",
            Loading.ROUTED,
            "`get_always_tools` and `get_routed_tools_catalog`",
            is_api=True,
        ),
        ClientKind(
            "claude-code",
            "Claude Code",
            Loading.NAMED,
            "its change log, 2.1.7: tool search is on by default",
            "Claude Code",
            mark="anthropic/alwaysLoad",
            prefix="mcp__{}__",
        ),
        ClientKind(
            "copilot-cli",
            "GitHub Copilot CLI",
            Loading.NAMED,
            "github/app#1398: tool search from 30 tools",
            mark="anthropic/alwaysLoad",
            defers_from=30,
        ),
        ClientKind(
            "vscode",
            "VS Code",
            Loading.UPFRONT,
            "its documentation",
            "VS Code",
        ),
        ClientKind("cursor", "Cursor", Loading.UPFRONT, "its forum", "Cursor"),
        ClientKind(
            "opencode",
            "opencode",
            Loading.UPFRONT,
            "opencode#15595",
            "opencode and other clients with the prefix `server_`",
            prefix="{}_",
        ),
        ClientKind(
            "openai",
            "OpenAI's API with every function in the request",
            Loading.UPFRONT,
            "OpenAI's guide to function calling",
            "OpenAI",
            is_api=True,
        ),
        ClientKind(
            "openai-tool-search",
            "OpenAI's API with `tool_search` and a namespace a section",
            Loading.NAMESPACES,
            "OpenAI's guide to tool search: the model sees the namespace's name and"
            " description",
            "OpenAI",
            is_api=True,
        ),
        ClientKind(
            "anthropic",
            "Anthropic's API with every tool in the request",
            Loading.UPFRONT,
            "Anthropic's guide to tool use",
            is_api=True,
        ),
        ClientKind(
            "anthropic-tool-search",
            "Anthropic's API with `defer_loading` and a tool search tool",
            Loading.SEARCHED,
            "Anthropic's guide to the tool search tool",
            is_api=True,
        ),
        ClientKind(
            "gemini",
            "Gemini's API",
            Loading.UPFRONT,
            "google-genai 3.4.0",
            "Gemini",
            is_api=True,
        ),
    )
}
"""By name, in the order in which they are told."""

_UNKNOWN = KINDS["claude-code"]


def kind_of(toolset: Toolset, client: Client | None) -> ClientKind | None:
    """What the specs say that a client is; None when they do not."""
    name = toolset.kind_of(client)
    return KINDS[name] if name is not None else None


def limits_of(kind: ClientKind | None, limited: Limited) -> tuple[ClientLimit, ...]:
    """The limits of a kind of client on one thing, the smallest first.

    A client of no known kind has those of Claude Code on texts and names: it may be any
    program, and this one leaves out what is beyond without a word.
    """
    if kind is not None:
        known = kind
    elif limited in (Limited.DESCRIPTION, Limited.INSTRUCTIONS, Limited.NAME):
        known = _UNKNOWN
    else:
        return ()
    found = [
        limit
        for limit in LIMITS
        if limit.limited is limited and limit.client == known.limits
    ]
    return tuple(sorted(found, key=lambda limit: limit.most))


def callers(toolset: Toolset) -> tuple[Client | None, ...]:
    """The clients of a toolset; None is the one caller of a toolset without clients."""
    return toolset.clients or (None,)
