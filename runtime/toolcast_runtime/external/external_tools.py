"""The tools of a toolset's external MCP servers.

Callers in any loop share the connections, which live in the background loop. Nothing is
connected, and the MCP SDK is not imported, before a tool is asked for that could be a
server's.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.calls.worker_threads import run_in_background, run_sync
from ..core.context import ToolResponse
from ..core.definitions.tool import ServerState, Tool, ToolFilter, look_alike_key
from ..core.server_settings import ExternalServer, MissingVariableError, resolve_server

if TYPE_CHECKING:
    from ..core.context import CallContext
    from .connection import Connection
    from .listing import Lock

_logger = logging.getLogger("toolcast")

_CLOSING_SECONDS = 10.0
_ANY = ToolFilter()


class ExternalTools:
    """The tools of several servers; of two with one name, the server declared first wins.

    Args:
        servers: the servers, in the declared order.
        locks: the package whose locks they are held to; None where none is locked.
    """

    def __init__(
        self, servers: Sequence[ExternalServer], locks: str | None = None
    ) -> None:
        self._servers = tuple(one for one in servers if not one.is_proxied)
        self._proxied = {one.name: one for one in servers if one.is_proxied}
        self._locks = locks
        self._reserved: frozenset[str] = frozenset()
        self._connections: dict[str, Connection] = {}
        self._reported: set[tuple[str, str]] = set()
        # Replaced as a whole in the background loop, read in any other.
        self._offered: Mapping[str, tuple[Tool, Connection]] = {}

    @property
    def has_always_tools(self) -> bool:
        """They are all routed."""
        return False

    def reserve_names(self, names: Collection[str]) -> None:
        """Learns the names of local tools, which win; before the first connection."""
        self._reserved = self._reserved.union(names)

    def can_provide(self, name: str) -> bool:
        """Whether a server could have a tool of this name, now or later. Does no I/O."""
        return any(server.can_provide(name) for server in self._servers)

    def is_available_to(self, name: str, client: str | None) -> bool:
        """Whether a server that could have the tool is for this client."""
        found = self._offered.get(name)
        servers = self._servers if found is None else (found[1].server,)
        return any(
            server.can_provide(name) and server.is_available_to(client)
            for server in servers
        )

    async def list_tools(self, wanted: ToolFilter = _ANY) -> Sequence[Tool]:
        """The tools that the servers offer now, in the servers' order.

        The first time it waits for every server that may have a wanted one, each within its
        own deadlines. A server that cannot be reached is left out, with a line in the log.
        """
        await self._settled([s for s in self._servers if s.can_provide_any(wanted)])
        return tuple(tool for tool, _ in self._offered.values())

    async def find_tool(self, name: str) -> Tool | None:
        """The tool of this name; None when no server offers one."""
        if name not in self._offered:
            await self._settled([s for s in self._servers if s.can_provide(name)])
        found = self._offered.get(name)
        return None if found is None else found[0]

    def get_server_states(self) -> Mapping[str, ServerState]:
        """How each server is reached now, by its name. Does no I/O."""
        known = self._connections
        return {
            server.name: known[server.name].state if server.name in known else "unused"
            for server in (*self._servers, *self._proxied.values())
        }

    def list_unset_variables(self) -> Mapping[str, str]:
        """What servers lack in the environment, in words by their names. Does no I/O."""
        unset = {}
        for server in (*self._servers, *self._proxied.values()):
            try:
                resolve_server(server, os.environ)
            except MissingVariableError as error:
                unset[server.name] = str(error)
        return unset

    def locked_tools(self, server: str, client: str | None) -> dict[str, Tool]:
        """What a server's lock has of the tools that a client may have of it; no I/O but that.

        Each is as the server itself calls it, by the name that callers use.

        Raises:
            LookupError: there is no such server, or it has no lock.
        """
        from .listing import read_locks, take_tools

        locked = {one.name: one for one in self._servers if one.is_locked}
        if self._locks is None or server not in locked:
            raise LookupError(f"there is no server `{server}` with a lock")
        found, lock = locked[server], read_locks(self._locks).get(server)
        if lock is None or not found.is_available_to(client):
            return {}
        taken = take_tools(found, lock.tools, self._reserved)
        locked_tools = {}
        for name, tool in taken.tools.items():
            own = {**tool.definition, "name": taken.own_names[name]}
            locked_tools[name] = replace(tool, name=own["name"], definition=own)
        return locked_tools

    async def call_proxied(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Passes the call of a tool of the toolset's own on to the server that it names."""
        server = self._proxied.get(tool.proxy or "")
        if server is None:
            return ToolResponse(error=f"the server of `{tool.name}` is not declared")

        async def pass_on() -> ToolResponse:
            own = server.get_server_name(tool.name)
            connection = self._connection(server)
            return await connection.call_own(own, arguments, context.report)

        return await run_in_background(pass_on())

    async def call_tool(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> ToolResponse:
        """Calls a tool that was given, once its arguments are valid by its schema."""
        found = self._offered.get(tool.name)
        # Between the look-up and the call, the name may have become another server's.
        if found is None or not self.is_available_to(tool.name, context.client):
            return ToolResponse(
                error=f"the external server of `{tool.name}` cannot be reached now"
            )
        return await run_in_background(
            found[1].call(tool.name, arguments, context.report)
        )

    async def close(self) -> None:
        """Ends the connections and their processes. What is called afterwards opens them."""
        await run_in_background(self._close())

    def close_sync(self) -> None:
        """`close` for callers without an event loop."""
        run_sync(self._close())

    async def _settled(self, servers: Sequence[ExternalServer]) -> None:
        """Waits until each of the servers is connected or known to be down."""
        known = [self._connections.get(server.name) for server in servers]
        if servers and not all(one is not None and one.is_decided for one in known):
            await run_in_background(self._decide([server.name for server in servers]))

    def _connection(
        self, server: ExternalServer, lock: Lock | None = None
    ) -> Connection:
        from .connection import Connection

        if not self._connections:
            atexit.register(self._close_at_exit, os.getpid())
        if server.name not in self._connections:
            made = Connection(server, self._reserved, self._offer, lock)
            self._connections[server.name] = made
        return self._connections[server.name]

    async def _decide(self, names: Sequence[str]) -> None:
        from .listing import read_locks

        new = [s for s in self._servers if s.name not in self._connections]
        locks: Mapping[str, Lock] = {}
        if self._locks is not None and any(s.is_locked for s in new):
            locks = read_locks(self._locks)
        for server in new:
            self._connection(server, locks.get(server.name))
        connections = self._connections
        await asyncio.gather(*(connections[name].decided() for name in names))

    def _offer(self) -> None:
        """Offers each name by its owner alone: the first server that ever had it, or one like it.

        Another one does not get it when the owner is down: it would answer in its name.
        """
        owners: dict[str, Connection] = {}
        offered: dict[str, tuple[Tool, Connection]] = {}
        for server in self._servers:
            connection = self._connections.get(server.name)
            if connection is None:
                continue
            for name in connection.names_seen:
                owner = owners.setdefault(look_alike_key(name), connection)
                if (
                    owner is not connection
                    and (server.name, name) not in self._reported
                ):
                    self._reported.add((server.name, name))
                    clash = (
                        "external server %s: its `%s` is not offered: %s has one, too"
                    )
                    _logger.warning(clash, server.name, name, owner.server.name)
            for name, tool in connection.tools.items():
                if owners[look_alike_key(name)] is connection:
                    offered[name] = (tool, connection)
        self._offered = offered

    async def _close(self) -> None:
        atexit.unregister(self._close_at_exit)
        connections, self._connections = self._connections, {}
        self._offered = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await asyncio.gather(*(one.close() for one in connections.values()))

    def _close_at_exit(self, process: int) -> None:
        # A forked child has neither the loop nor the servers.
        if os.getpid() == process:
            self.close_sync()
