"""The programs and providers that clients are: what each loads of tools when, and its limits.

The facts are those of November 2026, of change logs, documents and what users report; each
row names where it comes from. Clients that are not named here have no limit that is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec
from ..model.toolset_parts import Client


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


class Limited(StrEnum):
    """What is limited, and the unit that it is counted in."""

    DESCRIPTION = "description"
    """Characters of a tool's description."""
    INSTRUCTIONS = "instructions"
    """Characters of a server's instructions."""
    NAME = "name"
    """Characters of a tool's name with a prefix; without one see `name/portability`."""
    TOOLS = "tools"
    """Tools of one request."""
    NAMESPACE = "namespace"
    """Tools of one namespace."""


class ClientLimit(NamedTuple):
    """One limit of one client or provider.

    Attributes:
        client: who has it.
        limited: what is limited.
        most: the largest number that it takes.
        is_refused: what is beyond is refused, or the tool is left out; else it is cut off.
        source: where the figure comes from.
        prefix: for names: what stands before a tool's, with `{}` for its server's name.
    """

    client: str
    limited: Limited
    most: int
    is_refused: bool
    source: str
    prefix: str = ""


class ClientKind(NamedTuple):
    """A program or a provider.

    Attributes:
        name: the value of `kind` in toolset.yaml.
        title: what people call it.
        loading: what it loads when.
        source: where that is said.
        limits: those that are known of it.
        mark: the key of a tool's `meta` that has it loaded upfront; without one `always` does.
        is_api: a provider's API, which knows no servers and none of their instructions.
        defers_from: with fewer tools it loads every definition upfront.
    """

    name: str
    title: str
    loading: Loading
    source: str
    limits: tuple[ClientLimit, ...] = ()
    mark: str = ""
    is_api: bool = False
    defers_from: int = 0

    @property
    def prefix(self) -> str:
        """Stands before the names of tools, with `{}` for the server's name."""
        return next((limit.prefix for limit in self.limits if limit.prefix), "")

    def is_upfront(self, tool: ToolSpec, tools: int) -> bool:
        """Whether the definition of a tool is in each request, among so many tools."""
        if self.loading is Loading.UPFRONT or tools < self.defers_from:
            return True
        if self.mark:
            return (tool.meta or {}).get(self.mark) is True
        return tool.always

    def kept_of(self, tool: ToolSpec, server: str) -> str:
        """What a request holds of a tool that is not loaded yet; "" when that is nothing."""
        if self.loading is Loading.NAMED:
            return f"{self.prefix.format(server)}{tool.name}\n"
        if self.loading is Loading.ROUTED:
            return f"{tool.name}: {tool.summary}\n"
        return ""


def _limit(
    client: str, limited: Limited, most: int, source: str, prefix: str = ""
) -> ClientLimit:
    """A limit beyond which things are refused."""
    return ClientLimit(client, limited, most, True, source, prefix)


_CHANGE_LOG = "its change log, 2.1.84"
_CLAUDE_CODE = ClientKind(
    "claude-code",
    "Claude Code",
    Loading.NAMED,
    "its change log, 2.1.7: tool search is on by default",
    (
        ClientLimit("Claude Code", Limited.DESCRIPTION, 2_048, False, _CHANGE_LOG),
        ClientLimit("Claude Code", Limited.INSTRUCTIONS, 2_048, False, _CHANGE_LOG),
        _limit(
            "Claude Code",
            Limited.NAME,
            128,
            "users' reports, October 2026: the tool is left out",
            "mcp__{}__",
        ),
    ),
    mark="anthropic/alwaysLoad",
)
_OF_OPENAI = _limit(
    "OpenAI",
    Limited.DESCRIPTION,
    1_024,
    "reports of 2025: `string_above_max_length`",
)
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
        _CLAUDE_CODE,
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
            (_limit("VS Code", Limited.TOOLS, 128, "its documentation"),),
        ),
        ClientKind(
            "cursor",
            "Cursor",
            Loading.UPFRONT,
            "its forum",
            (
                _limit(
                    "Cursor", Limited.TOOLS, 40, "its forum; later versions take more"
                ),
            ),
        ),
        ClientKind(
            "opencode",
            "opencode",
            Loading.UPFRONT,
            "opencode#15595",
            (
                _limit(
                    "opencode and other clients with the prefix `server_`",
                    Limited.NAME,
                    64,
                    "opencode#15595, awslabs/mcp#397",
                    "{}_",
                ),
            ),
        ),
        ClientKind(
            "openai",
            "OpenAI's API with every function in the request",
            Loading.UPFRONT,
            "OpenAI's guide to function calling",
            (_OF_OPENAI,),
            is_api=True,
        ),
        ClientKind(
            "openai-tool-search",
            "OpenAI's API with `tool_search` and a namespace a section",
            Loading.NAMESPACES,
            "OpenAI's guide to tool search: the model sees the namespace's name and"
            " description",
            (
                _OF_OPENAI,
                ClientLimit(
                    "OpenAI",
                    Limited.NAMESPACE,
                    9,
                    False,
                    "its guide: fewer than ten functions a namespace",
                ),
            ),
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
            (_limit("Gemini", Limited.TOOLS, 512, "google-genai 3.4.0"),),
            is_api=True,
        ),
    )
}
"""By name, in the order in which they are told."""


def kind_of(toolset: Toolset, client: Client | None) -> ClientKind | None:
    """What the specs say that a client is; None when they do not."""
    name = toolset.kind_of(client)
    return KINDS[name] if name is not None else None


def callers(toolset: Toolset) -> tuple[Client | None, ...]:
    """The clients of a toolset; None is the one caller of a toolset without clients."""
    return toolset.clients or (None,)


def limits_of(
    toolset: Toolset, client: Client | None, limited: Limited
) -> Iterator[ClientLimit]:
    """The limits of a client on one thing.

    One of no known kind has those of Claude Code on texts and names: it may be any program,
    and this one leaves out what is beyond without a word.
    """
    limits = (kind_of(toolset, client) or _CLAUDE_CODE).limits
    return (limit for limit in limits if limit.limited is limited)


def limits_here(
    toolset: Toolset, tool: ToolSpec | None, limited: Limited
) -> list[ClientLimit]:
    """The limits on one thing of the clients that have a tool, each once, the smallest first.

    Args:
        tool: the tool; None for what every client has.
    """
    limits = {
        limit
        for client in callers(toolset)
        if tool is None or client is None or toolset.is_offered(tool, client)
        for limit in limits_of(toolset, client, limited)
    }
    return sorted(limits, key=lambda limit: (limit.most, limit.client))


def crossed(
    limits: Iterable[ClientLimit], before: int, after: int
) -> list[ClientLimit]:
    """The limits that lie between two sizes, of which one is within and one beyond."""
    low, high = sorted((before, after))
    return [limit for limit in limits if low <= limit.most < high]
