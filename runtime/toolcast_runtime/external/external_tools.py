"""Tools of a toolset's external MCP servers.

Callers in all event loops share the connections, which run in the background loop. A server is
connected, and the MCP SDK imported, only when a tool is requested that the server might have.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.calls.worker_threads import run_in_background, run_sync
from ..core.context import ToolResponse
from ..core.definitions.tool import ServerState, Tool, ToolFilter, get_similarity_key
from ..core.server_settings import ExternalServer, MissingVariableError, resolve_server

if TYPE_CHECKING:
    from ..core.context import CallContext
    from .connection import Connection
    from .listing import Lock

_logger = logging.getLogger("toolcast")

_CLOSE_TIMEOUT_S = 10.0
"""Timeout for closing all connections."""
_ANY_TOOL = ToolFilter()


class ExternalTools:
    """Tool provider for several external servers.

    If two servers have a tool of the same name, the server that is declared first wins.

    Args:
        servers: the servers, in the declared order.
        locks: the package that contains the locks; None if no server is locked.
    """

    def __init__(
        self, servers: Sequence[ExternalServer], locks: str | None = None
    ) -> None:
        self._servers = tuple(server for server in servers if not server.is_proxied)
        self._proxied = {server.name: server for server in servers if server.is_proxied}
        self._locks = locks
        self._reserved: frozenset[str] = frozenset()
        self._connections: dict[str, Connection] = {}
        self._reported_clashes: set[tuple[str, str]] = set()
        # Other threads read this mapping, so the background loop never changes it but replaces
        # it by a new one.
        self._offered: Mapping[str, tuple[Tool, Connection]] = {}

    @property
    def servers(self) -> Sequence[ExternalServer]:
        """All servers: first those that offer tools, then those of proxied tools."""
        return (*self._servers, *self._proxied.values())

    @property
    def has_always_tools(self) -> bool:
        """False: external tools cannot be marked `always`."""
        return False

    def reserve_names(self, names: Collection[str]) -> None:
        """Reserve names, so that no tools with these names are offered.

        Call this before the first connection.
        """
        self._reserved = self._reserved.union(names)

    def can_provide(self, name: str) -> bool:
        """Return whether a server's settings allow a tool with this local name. No I/O."""
        return any(server.can_provide(name) for server in self._servers)

    def is_available_to(self, name: str, client: str | None) -> bool:
        """Return whether a client may use a server that may have the tool. No I/O."""
        offer = self._offered.get(name)
        servers = self._servers if offer is None else (offer[1].server,)
        return any(
            server.can_provide(name) and server.is_available_to(client)
            for server in servers
        )

    async def list_tools(self, wanted: ToolFilter = _ANY_TOOL) -> Sequence[Tool]:
        """Return the tools that the servers offer now, in the declared order of servers.

        The first call waits for every server that may have a tool in the filter, within the
        timeouts of each. The tools of a server that cannot be reached are omitted, and the
        failure is logged.
        """
        await self._connect_servers(
            [server for server in self._servers if server.can_provide_any(wanted)]
        )
        return tuple(tool for tool, _ in self._offered.values())

    async def find_tool(self, name: str) -> Tool | None:
        """Return the tool with a name; None if no server offers it."""
        if name not in self._offered:
            await self._connect_servers(
                [server for server in self._servers if server.can_provide(name)]
            )
        offer = self._offered.get(name)
        return None if offer is None else offer[0]

    def get_server_states(self) -> Mapping[str, ServerState]:
        """Return the state of each server's connection, by server name. No I/O."""
        states: dict[str, ServerState] = {}
        for server in self.servers:
            connection = self._connections.get(server.name)
            states[server.name] = "unused" if connection is None else connection.state
        return states

    def list_unset_variables(self) -> Mapping[str, str]:
        """Return which environment variables are missing, as text by server name. No I/O."""
        problems = {}
        for server in self.servers:
            try:
                resolve_server(server, os.environ)
            except MissingVariableError as error:
                problems[server.name] = str(error)
        return problems

    def list_locked_tools(self, server: str, client: str | None) -> dict[str, Tool]:
        """Return the tools in a server's lock that a client may use; reads only the lock.

        The keys are the names that callers use; each tool has the server's own name.

        Raises:
            LookupError: the server does not exist, or has no lock.
        """
        from .listing import read_locks, select_tools

        locked_servers = {
            entry.name: entry for entry in self._servers if entry.is_locked
        }
        if self._locks is None or server not in locked_servers:
            raise LookupError(f"there is no server `{server}` with a lock")
        settings = locked_servers[server]
        lock = read_locks(self._locks).get(server)
        if lock is None or not settings.is_available_to(client):
            return {}
        listing = select_tools(settings, lock.tools, self._reserved)
        tools = {}
        for name, tool in listing.tools.items():
            server_name = listing.server_names[name]
            definition = {**tool.definition, "name": server_name}
            tools[name] = replace(tool, name=server_name, definition=definition)
        return tools

    async def call_proxied(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Forward the call of a proxied tool to its server."""
        server = self._proxied.get(tool.proxy or "")
        if server is None:
            return ToolResponse(error=f"the server of `{tool.name}` is not declared")

        async def forward() -> ToolResponse:
            connection = self._get_connection(server)
            name = server.get_server_name(tool.name)
            with _count_timeout(connection, context):
                return await connection.call_by_server_name(
                    name, arguments, context.report
                )

        return await run_in_background(forward())

    async def call_tool(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> ToolResponse:
        """Validate the arguments, and call a tool that `list_tools` or `find_tool` returned."""
        offer = self._offered.get(tool.name)
        # Look the tool up again, because its name may belong to another server by now.
        if offer is None or not self.is_available_to(tool.name, context.client):
            return ToolResponse(
                error=f"the external server of `{tool.name}` cannot be reached now"
            )
        _, connection = offer

        async def forward() -> ToolResponse:
            with _count_timeout(connection, context):
                return await connection.call(tool.name, arguments, context.report)

        return await run_in_background(forward())

    async def close(self) -> None:
        """Close the connections and stop the servers' processes; later calls reconnect."""
        await run_in_background(self._close())

    def close_sync(self) -> None:
        """Close like `close`, for callers without an event loop."""
        run_sync(self._close())

    async def _connect_servers(self, servers: Sequence[ExternalServer]) -> None:
        """Wait until the first attempt to connect each server has ended."""
        connections = [self._connections.get(server.name) for server in servers]
        if any(
            connection is None or not connection.has_settled
            for connection in connections
        ):
            names = [server.name for server in servers]
            await run_in_background(self._start_connections(names))

    def _get_connection(
        self, server: ExternalServer, lock: Lock | None = None
    ) -> Connection:
        from .connection import Connection

        if not self._connections:
            atexit.register(self._close_at_exit, os.getpid())
        if server.name not in self._connections:
            self._connections[server.name] = Connection(
                server, self._reserved, self._update_offered_tools, lock
            )
        return self._connections[server.name]

    async def _start_connections(self, names: Sequence[str]) -> None:
        from .listing import read_locks

        new_servers = [
            server for server in self._servers if server.name not in self._connections
        ]
        locks: Mapping[str, Lock] = {}
        if new_servers and self._locks is not None:
            locks = read_locks(self._locks)
        for server in new_servers:
            self._get_connection(server, locks.get(server.name))
        connections = self._connections
        await asyncio.gather(*(connections[name].start() for name in names))

    def _update_offered_tools(self) -> None:
        """Rebuild the offered tools: each name from the server that owns the name.

        The owner is the first declared server that ever offered the name or a similar one. The
        name of an owner that is down is not offered from another server, which would get calls
        that are meant for the owner.
        """
        owners: dict[str, Connection] = {}
        offered: dict[str, tuple[Tool, Connection]] = {}
        for server in self._servers:
            connection = self._connections.get(server.name)
            if connection is None:
                continue
            for name in connection.all_names:
                owner = owners.setdefault(get_similarity_key(name), connection)
                clash = server.name, name
                if owner is not connection and clash not in self._reported_clashes:
                    self._reported_clashes.add(clash)
                    _logger.warning(
                        "external server %s: its `%s` is not offered: %s has a tool with"
                        " this name or a similar one",
                        server.name,
                        name,
                        owner.server.name,
                    )
            for name, tool in connection.tools.items():
                if owners[get_similarity_key(name)] is connection:
                    offered[name] = (tool, connection)
        self._offered = offered

    async def _close(self) -> None:
        atexit.unregister(self._close_at_exit)
        connections, self._connections = self._connections, {}
        self._offered = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await asyncio.gather(
                    *(connection.close() for connection in connections.values())
                )

    def _close_at_exit(self, process_id: int) -> None:
        # A forked child has neither the background loop nor the servers' processes.
        if os.getpid() == process_id:
            self.close_sync()


@contextmanager
def _count_timeout(connection: Connection, context: CallContext) -> Iterator[None]:
    """Count a timeout of the connection if the block is cancelled after the call's deadline."""
    try:
        yield
    except asyncio.CancelledError:
        if context.deadline is not None and time.monotonic() >= context.deadline:
            connection.handle_timeout()
        raise
