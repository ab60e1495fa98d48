"""Access rules: which clients may list and call which tools.

`Access.is_allowed` decides for every list, look-up and call. Unknown clients are rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .context import CALLER

if TYPE_CHECKING:
    from collections.abc import Mapping


class UnknownClientError(LookupError):
    """Client name that the toolset does not have, or a missing client name."""


class AccessError(Exception):
    """The access rules cannot be loaded, so no client may call any tool.

    The message names the file and the fix. It is for the operator, not for a caller.
    """


# Use NamedTuple instead of dataclass here, because importing `dataclasses` takes longer than
# building a registry.
class Client(NamedTuple):
    """Access rules of a client, as the toolset declares them.

    Attributes:
        allow: the tools that the client may use, or "*" for all of them.
        deny: the tools that the client may not use, whatever `allow` contains.
        permissions: the client's permissions. A tool that requires another permission is
            denied, whatever `allow` contains.
    """

    allow: tuple[str, ...] | Literal["*"] = ()
    deny: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()


class Override(NamedTuple):
    """An administrator's changes to the access rules of a client.

    Attributes:
        allow: replaces the client's own `allow`; None leaves it unchanged.
        deny: further tools that the client may not use.
    """

    allow: tuple[str, ...] | Literal["*"] | None = None
    deny: tuple[str, ...] = ()


class Access:
    """The access rules of a toolset.

    Attributes:
        clients: the toolset's clients; None if it has none and its one caller may use every
            tool.
        tool_clients: the only clients that may use a tool, for tools that declare them.
        tool_permissions: the permission that a tool requires, for tools that require one.
        overrides: an administrator's changes, by client. They can deny any tool and replace
            `allow`. They cannot grant a tool that is denied by the client's `deny`, by
            the tool's own clients, or by a missing permission.
    """

    __slots__ = (
        "_resolved",
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
        self._resolved: dict[str, tuple[frozenset[str] | None, frozenset[str]]] = {}

    def is_allowed(self, client: str | None, tool: str) -> bool:
        """Return whether a client may list and call a tool, by the tool's current name.

        Every list, look-up, call, prompt and endpoint uses this method.

        Raises:
            UnknownClientError: the toolset has no such client, or has clients and `client`
                is None.
        """
        settings = self.get_client(client)
        if settings is None or client is None:
            # In a toolset without clients, only the permissions of the caller's token count.
            permission = self.tool_permissions.get(tool)
            return permission is None or self._caller_has(permission)
        allow, deny = self.get_lists(client)
        # `deny` takes precedence over `allow`.
        if tool in deny:
            return False
        if tool in self.tool_clients and client not in self.tool_clients[tool]:
            return False
        if not self.has_permission(settings, tool):
            return False
        return allow is None or tool in allow

    def has_permission(self, client: Client, tool: str) -> bool:
        """Return whether client and caller have a tool's permission; True if it needs none."""
        permission = self.tool_permissions.get(tool)
        if permission is None:
            return True
        return permission in client.permissions and self._caller_has(permission)

    def _caller_has(self, permission: str) -> bool:
        """Return whether the caller's token grants a permission or does not limit permissions."""
        granted = CALLER.get().permissions
        return granted is None or permission in granted

    def get_lists(
        self, name: str | None
    ) -> tuple[frozenset[str] | None, frozenset[str]]:
        """Return a client's allowed and denied tools, with the overrides applied.

        The first set is None if all tools are allowed.

        Raises:
            UnknownClientError: see `is_allowed`.
        """
        client = self.get_client(name)
        if client is None or name is None:
            return None, frozenset()
        if name in self._resolved:
            return self._resolved[name]
        allow, deny = client.allow, client.deny
        override = self.overrides.get(name)
        if override is not None:
            deny += override.deny
            allow = allow if override.allow is None else override.allow
        allowed = None if allow == "*" else frozenset(allow)
        lists = self._resolved[name] = (allowed, frozenset(deny))
        return lists

    def get_client(self, name: str | None) -> Client | None:
        """Return a client by name; None if the toolset has no clients and `name` is None.

        Raises:
            UnknownClientError: the toolset has no such client, or has clients and `name` is
                None.
        """
        if self.clients is None:
            if name is not None:
                raise UnknownClientError(f"the toolset has no client `{name}`")
            return None
        if name is None:
            names = ", ".join(f"`{client}`" for client in self.clients)
            raise UnknownClientError(f"`client` is required: one of {names}")
        if name not in self.clients:
            raise UnknownClientError(f"the toolset has no client `{name}`")
        return self.clients[name]
