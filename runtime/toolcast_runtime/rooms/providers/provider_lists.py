"""A client's tools in the form of any provider, from a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.calls.work import sync
from .model_provider import ListOptions, ProviderTools, render_tools
from .provider_table import provider_named
from .remote_servers import anthropic_toolset, openai_mcp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...core.definitions.tool import Tool
    from ...core.registry.registry import Registry
    from ..external.external_tools import ExternalTools


class ProviderLists:
    """The lists of a toolset's tools for model providers, each made when it is asked for.

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
        external: ExternalTools | None = None,
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
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        form = provider_named(provider)
        given = {**self._options.get(provider, {}), **options}
        if names is None:
            listed = await self._registry.list_tools(client)
        else:
            listed = [await self._registry.find_tool(name, client) for name in names]
        wanted = [tool for tool in listed if tool.is_in("providers")]
        return render_tools(form, wanted, ListOptions(**given), self._sections)

    tools_sync = sync(tools)

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

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
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

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
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
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
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
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        locked = self._locked(server, client)
        (tool,) = openai_mcp(server, url, locked, tool_search=False)
        return [{**tool, "require_approval": "always"}]

    def _locked(self, server: str, client: str | None) -> list[Tool]:
        access = self._registry.access()
        access.client(client)
        if self._external is None:
            raise LookupError(f"there is no server `{server}` with a lock")
        found = self._external.locked_tools(server, client)
        return [tool for name, tool in found.items() if access.may_have(client, name)]

    def _served(self, client: str | None) -> list[Tool]:
        tools = self._registry.tools(client)
        return [tool for tool in tools if tool.is_in("providers") and tool.is_in("mcp")]
