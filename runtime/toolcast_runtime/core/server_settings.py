"""An external MCP server as the toolset describes it, and what the environment adds.

Texts may name environment variables: `${NAME}`, or `${NAME:-default}` for one that may be
unset or empty. They are filled in when the connection is made, never before. A header
whose variables give nothing is not sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .definitions.tool import Wanted

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_SHORTEST_SECRET = 6


class MissingVariableError(LookupError):
    """A variable that a server needs is not set. The text names it."""


@dataclass(frozen=True, slots=True)
class ExternalServer:
    """One external MCP server: a command that speaks stdio, or a URL.

    Attributes:
        name: what logs and errors call it.
        command: the program to start; None for a server at a URL.
        args: its arguments.
        env: variables that it gets beside the few that every program needs.
        whole_environment: it gets all variables of this process, as what a person starts
            from a shell does.
        cwd: the folder that it starts in; None for the present one.
        url: the address of its streamable HTTP endpoint; None for a command.
        headers: headers of every request to the URL.
        prefix: stands before the names of its tools.
        tools: what tools are called here, by the server's own names, without the prefix.
        allow: the only tools that are taken from it, by its own names; None for all.
        deny: tools that are not taken from it.
        clients: the only clients that may have its tools; None for every client whose
            lists allow them.
        persistent: calls are written to the ledger.
        result: what is sent of results of its tools: `send` and `budget`, as of a `ResultForm`.
        connect_timeout: seconds for the connection and its handshake.
        list_timeout: seconds for the list of its tools.
        call_timeout: seconds for a call; a proxied tool has a time-out of its own.
        most_tools: how many tools are taken at most, in the server's order.
        is_proxied: its tools are not offered by its list: tools of the toolset's own name
            it, and their calls are passed on to it.
        is_locked: its tools are held to the lock that the package has of it.
        on_change: what becomes of a tool that is not as the lock has it: `refuse`, or
            `log`, which offers it all the same.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    whole_environment: bool = False
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    clients: tuple[str, ...] | None = None
    persistent: bool = False
    result: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout: float = 30.0
    list_timeout: float = 15.0
    call_timeout: float = 60.0
    most_tools: int = 250
    is_proxied: bool = False
    is_locked: bool = False
    on_change: str = "refuse"

    def is_for(self, client: str | None) -> bool:
        """Whether a client may have its tools at all."""
        return self.clients is None or client in self.clients

    def takes(self, name: str) -> bool:
        """Whether a tool of this name, the server's own, is taken."""
        if name in self.deny:
            return False
        return self.allow is None or name in self.allow

    def name_here(self, own: str) -> str:
        """What callers call a tool of this name, the server's own."""
        return self.tools.get(own, self.prefix + own)

    def own_name(self, name_here: str) -> str:
        """The server's own name of a tool that is called so here."""
        for own, name in self.tools.items():
            if name == name_here:
                return own
        return name_here.removeprefix(self.prefix)

    def may_have(self, name_here: str) -> bool:
        """Whether a tool that callers know by this name could be the server's."""
        unmapped = name_here.removeprefix(self.prefix)
        may_be = [own for own, name in self.tools.items() if name == name_here]
        if name_here.startswith(self.prefix) and unmapped not in self.tools:
            may_be.append(unmapped)
        return any(own and self.takes(own) for own in may_be)

    def may_have_any(self, wanted: Wanted) -> bool:
        """Whether one of the wanted tools could be the server's."""
        if wanted.client is not None and not self.is_for(wanted.client):
            return False
        names: Iterable[str] | None = wanted.only
        if names is None:
            if self.allow is None:
                return True
            names = map(self.name_here, self.allow)
        return any(self.may_have(n) for n in names if n not in wanted.without)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The parts of a server that the environment fills in. Its repr shows none of them."""

    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    whole_environment: bool = False
    cwd: str | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What the environment put into `env`, `url` and `headers`: never to be shown."""


def fill_in(text: str, environment: Mapping[str, str]) -> str:
    """The text with its references replaced.

    Raises:
        MissingVariableError: a variable without a default is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = environment.get(match[1])
        if found:
            return found
        if match[2] is None:
            raise MissingVariableError(
                f"the environment variable {match[1]} is not set"
            )
        return match[2]

    return _REFERENCE.sub(value, text)


def resolve(server: ExternalServer, environment: Mapping[str, str]) -> Resolved:
    """The server with its references filled in.

    Raises:
        MissingVariableError: a variable without a default is not set.
    """
    secrets: set[str] = set()

    def fill(text: str, *, is_secret: bool = True) -> str:
        if is_secret:
            found = (
                environment.get(match[1], "") for match in _REFERENCE.finditer(text)
            )
            secrets.update(value for value in found if len(value) >= _SHORTEST_SECRET)
        return fill_in(text, environment)

    command = fill(server.command or "", is_secret=False)
    args = tuple(fill(argument, is_secret=False) for argument in server.args)
    cwd = None if server.cwd is None else fill(server.cwd, is_secret=False)
    env = {name: fill(text) for name, text in server.env.items()}
    headers = {
        name: fill(text).strip()
        for name, text in server.headers.items()
        if not _is_empty(text, environment)
    }
    url = fill(server.url or "")
    # The longest first, so that a secret within another leaves no rest of it.
    ordered = tuple(sorted(secrets, key=len, reverse=True))
    whole = server.whole_environment
    return Resolved(command, args, env, whole, cwd, url, headers, ordered)


def _is_empty(text: str, environment: Mapping[str, str]) -> bool:
    """Whether a text has references and none of them gives anything, by its default."""
    found = list(_REFERENCE.finditer(text))
    return bool(found) and not any(
        environment.get(match[1]) or match[2] is None or match[2] for match in found
    )
