"""Where a registry gets tools from that are not the toolset's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..context import CallContext, ToolResponse
    from .tool import Tool


class Wanted(NamedTuple):
    """Which tools a list is asked for.

    Attributes:
        only: the only names; None for any.
        without: names that are not wanted.
        client: who asks; None for nobody in particular.
    """

    only: Collection[str] | None = None
    without: Collection[str] = ()
    client: str | None = None


class ToolProvider(Protocol):
    """Remote tools, such as an external MCP server's.

    The registry asks its providers in their order, after the toolset's own, local tools; the
    first that has a name wins. It decides on access itself, by the name that the provider
    gives, and asks for no tool that the client may not have. A provider keeps its own
    deadlines when it lists; what it cannot reach it leaves out, with a line in the log.
    """

    @property
    def has_always_tools(self) -> bool:
        """Whether a tool of it could be one that is offered in every turn."""

    def reserve_names(self, names: Collection[str]) -> None:
        """Learns the present, former and reserved names of the toolset: it must not offer those."""

    def may_have(self, name: str) -> bool:
        """Whether it could have a tool of this name, now or later. Does no I/O.

        Lists of clients may name such tools before they were ever seen.
        """

    def is_meant_for(self, name: str, client: str | None) -> bool:
        """Whether its tool of this name is for this client at all.

        Beside the client's own lists, as a tool's `clients` are. Does no I/O.
        """

    async def list_tools(self, wanted: Wanted) -> Sequence[Tool]:
        """The tools that it has now, under the names that callers use. Never raises.

        There may be others than the wanted ones among them; what can have none of those is
        not waited for.

        Their `always` and `persistent` are what the toolset wants of them; their handler
        is None.
        """

    async def find_tool(self, name: str) -> Tool | None:
        """Its tool of this name; None when there is none, or it cannot be reached.

        Never raises.
        """

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Calls a tool that it gave, with the arguments exactly as the caller sent them.

        The registry gives up after `tool.timeout` seconds and cancels the call. The text
        of a ToolError reaches the caller; that of every other exception only the log.
        """

    async def close(self) -> None:
        """Ends its connections and processes. What is called afterwards may open them."""


ServerState = Literal["up", "down", "unused"]
"""How an external server is reached: nobody has asked one that is `unused` for anything yet."""


@runtime_checkable
class HasServers(Protocol):
    """A provider that can tell how its servers are reached."""

    def states(self) -> Mapping[str, ServerState]:
        """Each server's, by its name. Does no I/O."""

    def unset_variables(self) -> Mapping[str, str]:
        """What servers lack in the environment, in words by their names. Does no I/O."""


@runtime_checkable
class Proxies(Protocol):
    """The servers that answer calls of the toolset's own tools whose `proxy` names one."""

    async def call_proxied(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Passes a call on, with the arguments exactly as the caller sent them.

        They are valid, and whoever has to allow the call did. The answer is not checked yet;
        what goes wrong is an answer with an error.
        """
