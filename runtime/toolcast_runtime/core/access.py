"""Who may have which tool: one function decides, and what it does not know is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .context import CALLER

if TYPE_CHECKING:
    from collections.abc import Mapping


class UnknownClientError(LookupError):
    """The toolset has no such client; nobody is let in by default."""


class AccessError(Exception):
    """Who may have which tool cannot be found out, so nobody has any.

    The text names the file and what to do; it is for the operator, not for a caller.
    """


# No dataclasses in this module: importing them costs more than a whole registry does.
class Client(NamedTuple):
    """What the toolset says of a client.

    Attributes:
        allow: the tools that it may have, or "*" for all of them.
        deny: the tools that it may not have, whatever `allow` says.
        permissions: what it is permitted; a tool that needs another permission is kept
            from it, whatever `allow` says.
    """

    allow: tuple[str, ...] | Literal["*"] = ()
    deny: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()


class Override(NamedTuple):
    """What an administrator says of a client.

    Attributes:
        allow: replaces the client's own `allow`; None leaves it as it is.
        deny: further tools that the client may not have.
    """

    allow: tuple[str, ...] | Literal["*"] | None = None
    deny: tuple[str, ...] = ()


class Access:
    """Who may have which tool.

    Attributes:
        clients: the toolset's clients; None when it has none and its one caller may have
            every tool.
        tool_clients: the only clients that a tool is meant for, for tools that say so.
        tool_permissions: the permission that a client needs for a tool, for tools that
            need one.
        overrides: what an administrator changed, by client. It can take any tool away, and
            replace `allow`; it never gives a tool that the client's `deny`, the
            tool's own clients or a missing permission keep from it.
    """

    __slots__ = (
        "_decided",
        "clients",
        "overrides",
        "tool_clients",
        "tool_permissions",
    )

    def __init__(
        self,
        clients: Mapping[str, Client] | None = None,
        tool_clients: Mapping[str, tuple[str, ...]] | None = None,
        tool_permissions: Mapping[str, str] | None = None,
        overrides: Mapping[str, Override] | None = None,
    ) -> None:
        self.clients = clients
        self.tool_clients = tool_clients or {}
        self.tool_permissions = tool_permissions or {}
        self.overrides = overrides or {}
        self._decided: dict[str, tuple[frozenset[str] | None, frozenset[str]]] = {}

    def may_have(self, client: str | None, tool: str) -> bool:
        """Whether a client may see and call the tool of this present name.

        Every list, look-up, call, prompt and endpoint asks here.

        Raises:
            UnknownClientError: the toolset has no such client, or has clients and none is
                named.
        """
        own = self.client(client)
        if own is None or client is None:
            needed = self.tool_permissions.get(tool)
            return needed is None or self._is_given(needed)
        allow, deny = self.lists(client)
        if tool in deny:
            return False
        if tool in self.tool_clients and client not in self.tool_clients[tool]:
            return False
        if not self.is_permitted(own, tool):
            return False
        return allow is None or tool in allow

    def is_permitted(self, client: Client, tool: str) -> bool:
        """Whether client and caller have the permission that a tool needs, if it needs one."""
        needed = self.tool_permissions.get(tool)
        if needed is None:
            return True
        return needed in client.permissions and self._is_given(needed)

    def _is_given(self, permission: str) -> bool:
        """Whether the caller's token gives it, where one says what it gives."""
        has = CALLER.get().permissions
        return has is None or permission in has

    def lists(self, name: str | None) -> tuple[frozenset[str] | None, frozenset[str]]:
        """What a client is allowed, None for everything, and what it may not have.

        Raises:
            UnknownClientError: as `may_have`.
        """
        own = self.client(name)
        if own is None or name is None:
            return None, frozenset()
        if name in self._decided:
            return self._decided[name]
        allow, deny = own.allow, own.deny
        override = self.overrides.get(name)
        if override is not None:
            deny += override.deny
            allow = allow if override.allow is None else override.allow
        listed = None if allow == "*" else frozenset(allow)
        decided = self._decided[name] = (listed, frozenset(deny))
        return decided

    def client(self, name: str | None) -> Client | None:
        """The client of a name; None for the one caller of a toolset without clients.

        Raises:
            UnknownClientError: the toolset has no such client, or has clients and none is
                named.
        """
        if self.clients is None:
            if name is not None:
                raise UnknownClientError(f"the toolset has no client `{name}`")
            return None
        if name is None:
            known = ", ".join(f"`{client}`" for client in self.clients)
            raise UnknownClientError(
                f"name the client that asks, `client=` one of {known}: none stands in for it"
            )
        if name not in self.clients:
            raise UnknownClientError(f"the toolset has no client `{name}`")
        return self.clients[name]
