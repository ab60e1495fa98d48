"""A client's tools in the form of any provider, from a registry.

Every provider stands in one table by its name; of an MCP server that a provider calls by itself,
the request says which tools it may. Sources of the latter: the types of `anthropic` 2.12
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

_WHERE = {
    "openai-chat": ("openai", "CHAT"),
    "openai-responses": ("openai", "RESPONSES"),
    "anthropic": ("anthropic", "ANTHROPIC"),
    "gemini": ("gemini", "GEMINI"),
    "bedrock": ("anthropic", "BEDROCK"),
    "ollama": ("openai", "OLLAMA"),
}
"""The module of each, and its name there. One is imported when somebody asks for it."""

PROVIDERS = tuple(_WHERE)
"""The names, in the order in which they are shown."""


class UnknownProviderError(LookupError):
    """There is no provider of that name."""


def provider_named(name: str) -> ModelProvider:
    """A provider.

    Raises:
        UnknownProviderError: there is none of that name.
    """
    if name not in _WHERE:
        known = ", ".join(f"`{one}`" for one in PROVIDERS)
        raise UnknownProviderError(f"unknown provider `{name}`; there are {known}")
    module, constant = _WHERE[name]
    found: ModelProvider = getattr(import_module(f".{module}", __package__), constant)
    return found


class LockedServers(Protocol):
    """The external servers of a toolset."""

    def locked_tools(self, server: str, client: str | None) -> Mapping[str, Tool]:
        """What a client is offered of a server's lock, by our names.

        Raises:
            LookupError: there is no such server, or it has no lock.
        """


class ProviderLists:
    """The lists of a toolset's tools for model providers, each made when it is asked for.

    Who may have which tool is asked for each: what names a client raises `UnknownClientError`
    where the toolset has clients and this is none of them, and `AccessError` where who may have
    which tool cannot be found out.

    Args:
        registry: whose tools they are, those of its own providers included.
        sections: the headings of the toolset's sections by their names.
        options: what the lists of each provider are made for, by the provider's name; see
            `ListOptions`.
        external: the registry's external servers, where one of them has a lock.
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
        """A client's tools as a provider takes them, and what takes its calls back.

        Tools that are declared not to be in the target `providers` are left out.

        Args:
            provider: such as `openai-responses`; see `PROVIDERS`.
            client: who is served.
            names: the only tools that are wanted, in this order; None for all.
            options: attributes of `ListOptions`; what is not given is as declared.

        Raises:
            UnknownProviderError: there is no provider of that name.
            UnknownToolError: the client has no tool of one of the names.
        """
        form = provider_named(provider)
        given = {**self._options.get(provider, {}), **options}
        if names is None:
            listed = await self._registry.list_tools(client)
        else:
            listed = [await self._registry.find_tool(name, client) for name in names]
        wanted = [tool for tool in listed if tool.is_in("providers")]
        return render_tools(form, wanted, ListOptions(**given), self._sections)

    tools_sync = make_sync(tools)

    def anthropic_toolset(
        self,
        server: str,
        client: str | None = None,
        *,
        tool_search: bool = False,
        pinned: bool = False,
    ) -> list[Any]:
        """For `tools` of a request in which Anthropic calls the toolset's own MCP server.

        Args:
            server: its name in `mcp_servers` of the request.
            client: whose tools are enabled; the server has to serve the same.
            tool_search: whether tools that are not `always` are deferred.
            pinned: whether the definitions are sent along, so that the server is not asked.
        """
        return anthropic_toolset(
            server, self._served(client), tool_search=tool_search, pinned=pinned
        )

    def openai_mcp(
        self,
        label: str,
        url: str,
        client: str | None = None,
        *,
        tool_search: bool = False,
    ) -> list[Any]:
        """For `tools` of a request in which OpenAI calls the toolset's own MCP server.

        A tool with `confirm` requires an approval.

        Args:
            label: what its calls name the server.
            url: the server's address.
            client: whose tools are allowed; the server has to serve the same.
            tool_search: whether the server is deferred, where no tool is `always`.
        """
        return openai_mcp(label, url, self._served(client), tool_search=tool_search)

    def locked_anthropic_toolset(
        self, server: str, client: str | None = None, *, tool_search: bool = False
    ) -> list[dict[str, Any]]:
        """For `tools` of a request in which Anthropic calls an external server with a lock.

        What is sent of each tool is the lock's: the server is not asked for its list.

        Args:
            server: its name in `mcp_servers` of the toolset, and of the request.
            client: whose tools of it are enabled.
            tool_search: whether they are deferred.

        Raises:
            LookupError: there is no such server, or it has no lock.
        """
        locked = self._locked(server, client)
        return anthropic_toolset(server, locked, tool_search=tool_search, pinned=True)

    def locked_openai_mcp(
        self, server: str, url: str, client: str | None = None
    ) -> list[dict[str, Any]]:
        """For `tools` of a request in which OpenAI calls an external server with a lock.

        Allowed is what the lock names, and each call requires an approval: what the server
        says of these tools OpenAI asks it for, and that may be other than what was reviewed.

        Args:
            server: its name in `mcp_servers` of the toolset; what its calls name the server.
            url: the server's address.
            client: whose tools of it are allowed.

        Raises:
            LookupError: there is no such server, or it has no lock.
        """
        locked = self._locked(server, client)
        (tool,) = openai_mcp(server, url, locked, tool_search=False)
        return [{**tool, "require_approval": "always"}]

    def _locked(self, server: str, client: str | None) -> list[Tool]:
        access = self._registry.access()
        access.get_client(client)
        if self._external is None:
            raise LookupError(f"there is no server `{server}` with a lock")
        found = self._external.locked_tools(server, client)
        return [tool for name, tool in found.items() if access.is_allowed(client, name)]

    def _served(self, client: str | None) -> list[Tool]:
        tools = self._registry.tools(client)
        return [tool for tool in tools if tool.is_in("providers") and tool.is_in("mcp")]


def anthropic_toolset(
    server: str, tools: Iterable[Tool], *, tool_search: bool, pinned: bool
) -> list[dict[str, Any]]:
    """An `mcp_toolset` that enables some tools alone, and the search where it defers tools.

    With pinned definitions a server that changed them has no effect on what the model reads.
    """
    configs: dict[str, dict[str, bool]] = {}
    listed = list(tools)
    for tool in listed:
        configs[tool.name] = {"enabled": True}
        if tool_search and not tool.always:
            configs[tool.name]["defer_loading"] = True
    toolset: dict[str, Any] = {
        "type": "mcp_toolset",
        "mcp_server_name": server,
        "default_config": {"enabled": False},
        "configs": configs,
    }
    if pinned:
        toolset["tools"] = [_pinned(tool) for tool in listed]
    is_searched = any("defer_loading" in config for config in configs.values())
    return [toolset, *([dict(SEARCH)] if is_searched else [])]


def _pinned(tool: Tool) -> dict[str, Any]:
    """A tool as its server lists it."""
    pinned: dict[str, Any] = {"name": tool.name}
    if "description" in tool.definition:
        pinned["description"] = tool.definition["description"]
    return {**pinned, "input_schema": dict(tool.parameters)}


def openai_mcp(
    label: str, url: str, tools: Iterable[Tool], *, tool_search: bool
) -> list[dict[str, Any]]:
    """A tool of `type: mcp` that allows some tools, and the search where it is deferred.

    It is deferred as a whole, so that none of its tools may be `always`.
    """
    listed = list(tools)
    asked = [tool.name for tool in listed if tool.confirm is not None]
    others = [tool.name for tool in listed if tool.confirm is None]
    approval: Any = {"always": {"tool_names": asked}, "never": {"tool_names": others}}
    if not asked or not others:
        approval = "always" if asked else "never"
    server: dict[str, Any] = {
        "type": "mcp",
        "server_label": label,
        "server_url": url,
        "allowed_tools": [tool.name for tool in listed],
        "require_approval": approval,
    }
    if not tool_search or any(tool.always for tool in listed):
        return [server]
    return [{**server, "defer_loading": True}, {"type": "tool_search"}]
