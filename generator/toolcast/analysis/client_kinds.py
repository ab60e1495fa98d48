"""Client kinds: programs and provider APIs, with their limits and their loading of tools.

The data is in `client_kinds.yaml`, with the source of each fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import yaml

from ..model.model import Toolset, ToolSpec
from ..model.toolset_parts import Client
from ..package_data import read_package_file


class LoadingMode(StrEnum):
    """Parts of the tools that a client loads before a tool is needed."""

    UPFRONT = "upfront"
    """The definition of every tool."""
    ROUTED = "routed"
    """Definitions of tools with `always`; name and summary of all other tools, for the router."""
    NAMED = "named"
    """Definitions of marked tools; the names of all other tools, which the model searches."""
    NAMESPACES = "namespaces"
    """Definitions of tools with `always`; name and heading of the other tools' sections."""
    SEARCHED = "searched"
    """Definitions of tools with `always`; the model searches all other tools."""


class LimitKind(StrEnum):
    """Kind of limit, with its unit."""

    DESCRIPTION = "description"
    """Characters of a tool's description."""
    INSTRUCTIONS = "instructions"
    """Characters of a server's instructions."""
    NAME = "name"
    """Characters of a tool's name with the client's prefix; see `name/portability` for others."""
    TOOLS = "tools"
    """Tools in one request."""
    NAMESPACE = "namespace"
    """Tools in one namespace."""


class ClientLimit(NamedTuple):
    """Limit of a client or provider.

    Attributes:
        client: the title of the client or provider.
        kind: the limited quantity.
        maximum: the largest accepted number.
        is_refused: whether a larger request is rejected or the tool is omitted; otherwise the
            text is cut off.
        source: the source of the number.
        prefix: for names, the prefix of the tool's name, with `{}` for the server's name.
    """

    client: str
    kind: LimitKind
    maximum: int
    is_refused: bool
    source: str
    prefix: str = ""


class ClientKind(NamedTuple):
    """Program or provider API that a client can be.

    Attributes:
        name: the value of `kind` in toolset.yaml.
        title: the product's name.
        loading: the parts of the tools that it loads in advance.
        source: the source for `loading`.
        limits: its known limits.
        mark: the key of a tool's `meta` that requests loading in advance; if empty, `always`
            decides.
        is_api: whether it is a provider's API, which has no MCP servers and no instructions.
        defers_from: the number of tools from which it stops loading every definition.
    """

    name: str
    title: str
    loading: LoadingMode
    source: str
    limits: tuple[ClientLimit, ...] = ()
    mark: str = ""
    is_api: bool = False
    defers_from: int = 0

    @property
    def prefix(self) -> str:
        """Prefix of tool names, with `{}` for the server's name."""
        return next((limit.prefix for limit in self.limits if limit.prefix), "")

    def is_loaded_upfront(
        self, tool: ToolSpec, tool_count: int, has_hints: bool = False
    ) -> bool:
        """Return whether each request contains the definition of a tool.

        Args:
            tool: the tool.
            tool_count: the number of tools that the server lists to the client.
            has_hints: whether the MCP definitions contain search hints.
        """
        if self.loading is LoadingMode.UPFRONT or tool_count < self.defers_from:
            return True
        if self.mark:
            # A `meta` entry of the spec overrides the hint that Toolcast generates.
            default = has_hints and tool.always
            return (tool.meta or {}).get(self.mark, default) is True
        return tool.always

    def describe_unloaded_tool(self, tool: ToolSpec, server: str) -> str:
        """Return the text about an unloaded tool that each request contains, or ""."""
        if self.loading is LoadingMode.NAMED:
            return f"{self.prefix.format(server)}{tool.name}\n"
        if self.loading is LoadingMode.ROUTED:
            return f"{tool.name}: {tool.summary}\n"
        return ""


def _load_kinds() -> Iterator[ClientKind]:
    rows = yaml.load(
        read_package_file("analysis", "client_kinds.yaml"), yaml.CSafeLoader
    )
    for name, row in rows.items():
        limits = tuple(
            ClientLimit(**{**limit, "kind": LimitKind(limit["kind"])})
            for limit in row.pop("limits", ())
        )
        yield ClientKind(
            name, loading=LoadingMode(row.pop("loading")), limits=limits, **row
        )


CLIENT_KINDS = {kind.name: kind for kind in _load_kinds()}
"""Client kinds by name, in the order of documentation and reports."""


def find_client_kind(toolset: Toolset, client: Client | None) -> ClientKind | None:
    """Return the declared kind of a client, or None if the specs declare none."""
    name = toolset.get_client_kind(client)
    return CLIENT_KINDS[name] if name is not None else None


def list_callers(toolset: Toolset) -> tuple[Client | None, ...]:
    """Return the clients of a toolset; (None,) if it has none, for its only caller."""
    return toolset.clients or (None,)


def list_client_limits(
    toolset: Toolset, client: Client | None, kind: LimitKind
) -> Iterator[ClientLimit]:
    """Yield the limits of a client for one kind of limit.

    A client without a declared kind can be any program. It gets the limits of Claude Code,
    which silently cuts off longer texts and omits tools with longer names.
    """
    limits = (find_client_kind(toolset, client) or CLIENT_KINDS["claude-code"]).limits
    return (limit for limit in limits if limit.kind is kind)


def list_tool_limits(
    toolset: Toolset, tool: ToolSpec | None, kind: LimitKind
) -> list[ClientLimit]:
    """Return the distinct limits of the clients that have a tool, the smallest first.

    Args:
        toolset: the toolset of the tool.
        tool: the tool; None for the limits of all clients.
        kind: the kind of limit.
    """
    # A set removes duplicates, because clients of the same kind have equal limits.
    limits = {
        limit
        for client in list_callers(toolset)
        if tool is None or client is None or toolset.is_offered(tool, client)
        for limit in list_client_limits(toolset, client, kind)
    }
    return sorted(limits, key=lambda limit: (limit.maximum, limit.client))


def list_crossed_limits(
    limits: Iterable[ClientLimit], before: int, after: int
) -> list[ClientLimit]:
    """Return the limits that only one of two sizes exceeds, in their order."""
    low, high = sorted((before, after))
    # A size that equals the maximum is still accepted.
    return [limit for limit in limits if low <= limit.maximum < high]
