"""The programs and providers that clients are: what each loads of tools when, and its limits.

The facts stand in `client_kinds.yaml`, each with where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import yaml

from ..model.model import Toolset, ToolSpec
from ..model.toolset_parts import Client
from ..package_data import read_packaged


class LoadingMode(StrEnum):
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


class LimitKind(StrEnum):
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
        kind: what is limited.
        maximum: the largest number that it takes.
        is_refused: what is beyond is refused, or the tool is left out; else it is cut off.
        source: where the figure comes from.
        prefix: for names: what stands before a tool's, with `{}` for its server's name.
    """

    client: str
    kind: LimitKind
    maximum: int
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
    loading: LoadingMode
    source: str
    limits: tuple[ClientLimit, ...] = ()
    mark: str = ""
    is_api: bool = False
    defers_from: int = 0

    @property
    def prefix(self) -> str:
        """Stands before the names of tools, with `{}` for the server's name."""
        return next((limit.prefix for limit in self.limits if limit.prefix), "")

    def is_loaded_upfront(
        self, tool: ToolSpec, tools: int, has_hints: bool = False
    ) -> bool:
        """Whether the definition of a tool, marked by hints, is in each request, among so many."""
        if self.loading is LoadingMode.UPFRONT or tools < self.defers_from:
            return True
        if self.mark:
            hint = has_hints and tool.always
            return (tool.meta or {}).get(self.mark, hint) is True
        return tool.always

    def describe_unloaded_tool(self, tool: ToolSpec, server: str) -> str:
        """What a request holds of a tool that is not loaded yet; "" when that is nothing."""
        if self.loading is LoadingMode.NAMED:
            return f"{self.prefix.format(server)}{tool.name}\n"
        if self.loading is LoadingMode.ROUTED:
            return f"{tool.name}: {tool.summary}\n"
        return ""


def _kinds() -> Iterator[ClientKind]:
    rows = yaml.load(read_packaged("analysis", "client_kinds.yaml"), yaml.CSafeLoader)
    for name, row in rows.items():
        limits = tuple(
            ClientLimit(**{**limit, "kind": LimitKind(limit["kind"])})
            for limit in row.pop("limits", ())
        )
        yield ClientKind(
            name, loading=LoadingMode(row.pop("loading")), limits=limits, **row
        )


CLIENT_KINDS = {kind.name: kind for kind in _kinds()}
"""By name, in the order in which they are told."""


def find_client_kind(toolset: Toolset, client: Client | None) -> ClientKind | None:
    """What the specs say that a client is; None when they do not."""
    name = toolset.get_client_kind(client)
    return CLIENT_KINDS[name] if name is not None else None


def list_callers(toolset: Toolset) -> tuple[Client | None, ...]:
    """The clients of a toolset; None is the one caller of a toolset without clients."""
    return toolset.clients or (None,)


def list_client_limits(
    toolset: Toolset, client: Client | None, kind: LimitKind
) -> Iterator[ClientLimit]:
    """The limits of a client on one thing.

    One of no known kind has those of Claude Code on texts and names: it may be any program,
    and this one leaves out what is beyond without a word.
    """
    limits = (find_client_kind(toolset, client) or CLIENT_KINDS["claude-code"]).limits
    return (limit for limit in limits if limit.kind is kind)


def list_tool_limits(
    toolset: Toolset, tool: ToolSpec | None, kind: LimitKind
) -> list[ClientLimit]:
    """The limits on one thing of the clients that have a tool, each once, the smallest first.

    Args:
        tool: the tool; None for what every client has.
    """
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
    """The limits that lie between two sizes, of which one is within and one beyond."""
    low, high = sorted((before, after))
    return [limit for limit in limits if low <= limit.maximum < high]
