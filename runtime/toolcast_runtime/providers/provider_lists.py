"""A client's tools in the format of any provider.

Also builds the request entries for MCP servers that a provider calls itself; an entry lists the
tools that the provider may call. Sources of these entries: the types of `anthropic` 2.12
(`BetaMCPToolsetParam`) and of `openai` 3.54 (`Mcp`), and both providers' pages on MCP servers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from ..core.calls.worker_threads import make_sync
from .anthropic import SEARCH
from .model_provider import ListOptions, ModelProvider, ProviderTools, render_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.definitions.tool import Tool
    from ..core.registry import Registry

_PROVIDER_CONSTANTS = {
    "openai-chat": ("openai", "CHAT"),
    "openai-responses": ("openai", "RESPONSES"),
    "anthropic": ("anthropic", "ANTHROPIC"),
    "gemini": ("gemini", "GEMINI"),
    "bedrock": ("anthropic", "BEDROCK"),
    "ollama": ("openai", "OLLAMA"),
}
"""The module and constant of each provider; the module is imported on first use."""

PROVIDERS = tuple(_PROVIDER_CONSTANTS)
"""Provider names in display order."""


class UnknownProviderError(LookupError):
    """Provider name that does not exist."""


def provider_named(name: str) -> ModelProvider:
    """Return a provider by its name.

    Raises:
        UnknownProviderError: no provider has the name.
    """
    if name not in _PROVIDER_CONSTANTS:
        names = ", ".join(f"`{provider}`" for provider in PROVIDERS)
        raise UnknownProviderError(f"unknown provider `{name}`; there are {names}")
    module, constant = _PROVIDER_CONSTANTS[name]
    provider: ModelProvider = getattr(
        import_module(f".{module}", __package__), constant
    )
    return provider


class LockedServers(Protocol):
    """Source of the tools in the locks of a toolset's external servers."""

    def list_locked_tools(self, server: str, client: str | None) -> Mapping[str, Tool]:
        """Return the tools in a server's lock that a client may use, by name in the toolset.

        Raises:
            LookupError: the server does not exist or has no lock.
        """


class ProviderLists:
    """Tool lists of a toolset for model providers, built on request.

    Access is checked for each list. Every method with a client raises `UnknownClientError` if the
    toolset has clients and the client is not among them, and `AccessError` if access cannot be
    resolved.

    Args:
        registry: the registry with the tools, including tools of its tool providers.
        sections: the heading of each section of the toolset, by the section's name.
        options: the declared `ListOptions` attributes of each provider, by the provider's name.
        external: the registry's external servers; None if no server has a lock.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        sections: Mapping[str, str] | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        external: LockedServers | None = None,
    ) -> None:
        self._registry = registry
        self._external = external
        self._sections = sections or {}
        self._options = options or {}

    async def tools(
        self,
        provider: str,
        client: str | None = None,
        *,
        names: Iterable[str] | None = None,
        **options: Any,
    ) -> ProviderTools:
        """Return a client's tools for a provider, with conversion of its calls and results.

        Tools that the spec excludes from the target `providers` are omitted.

        Args:
            provider: the provider's name, for example `openai-responses`; see `PROVIDERS`.
            client: the client's name.
            names: the tools to return, in this order; None for all tools.
            options: attributes of `ListOptions` that override the declared options.

        Raises:
            UnknownProviderError: the provider does not exist.
            UnknownToolError: the client has no tool with one of the names.
        """
        model_provider = provider_named(provider)
        merged_options = {**self._options.get(provider, {}), **options}
        if names is None:
            tools = await self._registry.list_tools(client)
        else:
            tools = [await self._registry.find_tool(name, client) for name in names]
        included_tools = [tool for tool in tools if tool.is_in("providers")]
        list_options = ListOptions(**merged_options)
        return render_tools(
            model_provider, included_tools, list_options, self._sections
        )

    tools_sync = make_sync(tools)

    def anthropic_toolset(
        self,
        server: str,
        client: str | None = None,
        *,
        tool_search: bool = False,
        pinned: bool = False,
    ) -> list[Any]:
        """Return `tools` entries for a request in which Anthropic calls this toolset's server.

        Args:
            server: the server's name in `mcp_servers` of the request.
            client: the client whose tools are enabled; the server must serve the same client.
            tool_search: whether to defer tools that are not `always`.
            pinned: whether to send the definitions, so that Anthropic does not list the
                server's tools.
        """
        return anthropic_toolset(
            server,
            self._list_served_tools(client),
            tool_search=tool_search,
            pinned=pinned,
        )

    def openai_mcp(
        self,
        label: str,
        url: str,
        client: str | None = None,
        *,
        tool_search: bool = False,
    ) -> list[Any]:
        """Return `tools` entries for a request in which OpenAI calls this toolset's server.

        Calls of a tool with `confirm` require an approval.

        Args:
            label: the server's name in OpenAI's calls.
            url: the server's URL.
            client: the client whose tools are allowed; the server must serve the same client.
            tool_search: whether to defer the server; it has no effect if a tool is `always`.
        """
        tools = self._list_served_tools(client)
        return openai_mcp(label, url, tools, tool_search=tool_search)

    def locked_anthropic_toolset(
        self, server: str, client: str | None = None, *, tool_search: bool = False
    ) -> list[dict[str, Any]]:
        """Return `tools` entries for a request in which Anthropic calls an external server.

        The definitions come from the server's lock, so Anthropic does not list its tools.

        Args:
            server: the server's name in `mcp_servers` of the toolset and of the request.
            client: the client whose tools of the server are enabled.
            tool_search: whether to defer tools that are not `always`.

        Raises:
            LookupError: the server does not exist or has no lock.
        """
        locked_tools = self._list_locked_tools(server, client)
        return anthropic_toolset(
            server, locked_tools, tool_search=tool_search, pinned=True
        )

    def locked_openai_mcp(
        self, server: str, url: str, client: str | None = None
    ) -> list[dict[str, Any]]:
        """Return `tools` entries for a request in which OpenAI calls an external server.

        Only tools in the server's lock are allowed. Each call requires an approval, because
        OpenAI reads the definitions from the server, and they may differ from the lock.

        Args:
            server: the server's name in `mcp_servers` of the toolset and in OpenAI's calls.
            url: the server's URL.
            client: the client whose tools of the server are allowed.

        Raises:
            LookupError: the server does not exist or has no lock.
        """
        locked_tools = self._list_locked_tools(server, client)
        # Without `tool_search`, `openai_mcp` returns exactly one entry.
        (tool,) = openai_mcp(server, url, locked_tools, tool_search=False)
        return [{**tool, "require_approval": "always"}]

    def _list_locked_tools(self, server: str, client: str | None) -> list[Tool]:
        access = self._registry.access()
        # Raises an error for an unknown client, before the server is looked up.
        access.get_client(client)
        if self._external is None:
            raise LookupError(f"there is no server `{server}` with a lock")
        tools = self._external.list_locked_tools(server, client)
        return [tool for name, tool in tools.items() if access.is_allowed(client, name)]

    def _list_served_tools(self, client: str | None) -> list[Tool]:
        """Return a client's tools that are in both targets, `providers` and `mcp`."""
        tools = self._registry.tools(client)
        return [tool for tool in tools if tool.is_in("providers") and tool.is_in("mcp")]


def anthropic_toolset(
    server: str, tools: Iterable[Tool], *, tool_search: bool, pinned: bool
) -> list[dict[str, Any]]:
    """Return an `mcp_toolset` entry that enables only the passed tools.

    With `tool_search`, tools that are not `always` are deferred, and an entry for Anthropic's
    tool search follows. If `pinned`, the entry contains the definitions, so that Anthropic does
    not list the server's tools.
    """
    configs: dict[str, dict[str, bool]] = {}
    enabled_tools = list(tools)
    for tool in enabled_tools:
        configs[tool.name] = {"enabled": True}
        if tool_search and not tool.always:
            configs[tool.name]["defer_loading"] = True
    # All tools are disabled by default, so that only the tools in `configs` are enabled.
    toolset: dict[str, Any] = {
        "type": "mcp_toolset",
        "mcp_server_name": server,
        "default_config": {"enabled": False},
        "configs": configs,
    }
    if pinned:
        toolset["tools"] = [_build_pinned_tool(tool) for tool in enabled_tools]
    if any("defer_loading" in config for config in configs.values()):
        return [toolset, dict(SEARCH)]
    return [toolset]


def _build_pinned_tool(tool: Tool) -> dict[str, Any]:
    """Return a tool's name, description (if any) and input schema in Anthropic's format."""
    pinned: dict[str, Any] = {"name": tool.name}
    if "description" in tool.definition:
        pinned["description"] = tool.definition["description"]
    return {**pinned, "input_schema": dict(tool.parameters)}


def openai_mcp(
    label: str, url: str, tools: Iterable[Tool], *, tool_search: bool
) -> list[dict[str, Any]]:
    """Return an entry of `type: mcp` that allows only the passed tools.

    Tools with `confirm` require an approval. With `tool_search` the server is deferred, and an
    entry for OpenAI's tool search follows. OpenAI defers a server as a whole, so a server with
    an `always` tool is not deferred.
    """
    allowed_tools = list(tools)
    approved = [tool.name for tool in allowed_tools if tool.confirm is not None]
    others = [tool.name for tool in allowed_tools if tool.confirm is None]
    approval: Any
    if approved and others:
        approval = {
            "always": {"tool_names": approved},
            "never": {"tool_names": others},
        }
    else:
        approval = "always" if approved else "never"
    server: dict[str, Any] = {
        "type": "mcp",
        "server_label": label,
        "server_url": url,
        "allowed_tools": [tool.name for tool in allowed_tools],
        "require_approval": approval,
    }
    if not tool_search or any(tool.always for tool in allowed_tools):
        return [server]
    return [{**server, "defer_loading": True}, {"type": "tool_search"}]
