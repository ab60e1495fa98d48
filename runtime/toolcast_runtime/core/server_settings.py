"""Settings of external MCP servers: their declaration, and values from the environment.

Settings may refer to environment variables: `${NAME}`, or `${NAME:-default}` for a variable that
may be unset or empty. If only `NAME_FILE` is set, it names a file with the value. References are
replaced when the connection is opened, and again after HTTP 401. A header is not sent if its
references have no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .safe_file import load_secret

if TYPE_CHECKING:
    from .definitions.tool import ToolFilter

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_MIN_SECRET_LENGTH = 6
"""Minimum length of an environment variable's value that is treated as a secret."""


class MissingVariableError(LookupError):
    """Environment variable without a value that a server needs; the message names it."""


@dataclass(frozen=True, slots=True)
class ExternalServer:
    """An external MCP server: a command that is started for stdio, or a URL.

    Its tools have two names: the server's own, and the local name that callers use.

    Attributes:
        name: the server's name in logs and errors.
        command: the program to start; None for a server at a URL.
        args: the program's arguments.
        env: environment variables for the program, in addition to the few that every
            program needs.
        whole_environment: whether the program gets all environment variables of this
            process, as a program that is started from a shell does.
        cwd: the program's working directory; None for the current one.
        url: the URL of the streamable HTTP endpoint; None for a command.
        headers: the headers of every request to the URL.
        prefix: the prefix of the local names of its tools.
        tools: local names of single tools, by their own names, without the prefix.
        allow: the only tools to use, by their own names; None for all.
        deny: the tools not to use, by their own names.
        clients: the only clients that may use its tools; None for every client whose lists
            allow them.
        persistent: whether calls are recorded in the ledger.
        result: how results of its tools are sent: `send` and `budget` of a `ResultForm`.
        connect_timeout: the timeout of connection and handshake, in seconds.
        list_timeout: the timeout of listing the tools, in seconds.
        call_timeout: the timeout of a call, in seconds; a proxied tool has its own timeout.
        max_tools: how many tools are used at most, in the server's order.
        is_proxied: whether its tools are called only through proxied tools of the toolset,
            and not listed themselves.
        is_locked: whether its tools are checked against the lock in the package.
        on_change: what happens with a tool that differs from the lock: `refuse` omits it,
            `log` logs the difference and offers the tool.
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
    max_tools: int = 250
    is_proxied: bool = False
    is_locked: bool = False
    on_change: str = "refuse"

    def is_available_to(self, client: str | None) -> bool:
        """Return whether a client may use tools of this server."""
        return self.clients is None or client in self.clients

    def is_allowed(self, name: str) -> bool:
        """Return whether `allow` and `deny` permit the tool with this own name."""
        if name in self.deny:
            return False
        return self.allow is None or name in self.allow

    def get_local_name(self, server_name: str) -> str:
        """Return the local name of a tool for the server's own name."""
        return self.tools.get(server_name, self.prefix + server_name)

    def get_server_name(self, local_name: str) -> str:
        """Return the server's own name of a tool for its local name."""
        for server_name, name in self.tools.items():
            if name == local_name:
                return server_name
        return local_name.removeprefix(self.prefix)

    def can_provide(self, local_name: str) -> bool:
        """Return whether a local name fits the server's prefix, names, `allow` and `deny`.

        Does no I/O: the server may still lack the tool.
        """
        unprefixed = local_name.removeprefix(self.prefix)
        candidates = [own for own, name in self.tools.items() if name == local_name]
        if local_name.startswith(self.prefix) and unprefixed not in self.tools:
            candidates.append(unprefixed)
        return any(own and self.is_allowed(own) for own in candidates)

    def can_provide_any(self, wanted: ToolFilter) -> bool:
        """Return whether the server may have a tool that a filter requests. Does no I/O."""
        if wanted.client is not None and not self.is_available_to(wanted.client):
            return False
        names: Iterable[str] | None = wanted.only
        if names is None:
            if self.allow is None:
                return True
            names = map(self.get_local_name, self.allow)
        return any(self.can_provide(n) for n in names if n not in wanted.excluded)


@dataclass(frozen=True, slots=True)
class ResolvedServer:
    """The settings of a server with all references replaced; its repr shows no values.

    Attributes:
        secrets: the values of environment variables in `env`, `url` and `headers`, the
            longest first. They must never be shown.
    """

    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    whole_environment: bool = False
    cwd: str | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace the references in a text by the values of the variables.

    Raises:
        MissingVariableError: a variable without a default is not set.
    """

    def get_value(match: re.Match[str]) -> str:
        value = _get_variable(match[1], environment)
        if value:
            return value
        if match[2] is None:
            raise MissingVariableError(
                f"the environment variable {match[1]} is not set"
            )
        return match[2]

    return _REFERENCE.sub(get_value, text)


def _get_variable(name: str, environment: Mapping[str, str]) -> str:
    """Return the value of a variable, or of the file that `<name>_FILE` names; "" if unset.

    Raises:
        MissingVariableError: the file cannot be read. A default in the reference is not used
            then, because a request without the intended token would hide the reason.
    """
    if value := environment.get(name):
        return value
    try:
        return load_secret(name, environment) or ""
    except ValueError as error:
        raise MissingVariableError(str(error)) from None


def resolve_server(
    server: ExternalServer, environment: Mapping[str, str]
) -> ResolvedServer:
    """Return the settings of a server with all references replaced.

    Raises:
        MissingVariableError: a variable without a default is not set, the file that
            contains its value cannot be read, or a header is not valid.
    """
    secrets: set[str] = set()

    def expand(text: str, *, is_secret: bool = True) -> str:
        if is_secret:
            for match in _REFERENCE.finditer(text):
                value = _get_variable(match[1], environment)
                if len(value) >= _MIN_SECRET_LENGTH:
                    secrets.add(value)
        return expand_variables(text, environment)

    command = expand(server.command or "", is_secret=False)
    args = tuple(expand(argument, is_secret=False) for argument in server.args)
    cwd = None if server.cwd is None else expand(server.cwd, is_secret=False)
    env = {name: expand(text) for name, text in server.env.items()}
    headers = {
        name: expand(text).strip()
        for name, text in server.headers.items()
        if not _has_only_empty_references(text, environment)
    }
    for name, value in headers.items():
        # Check header values here: the HTTP library would fail later, during a session, with
        # the secret value in its error.
        if not (value.isascii() and value.replace("\t", "").isprintable()):
            raise MissingVariableError(
                f"the header {name} has a line break or a character outside of ASCII; help:"
                " correct its variables"
            )
    url = expand(server.url or "")
    # Sort by length, longest first: a secret that is part of another one, replaced first,
    # would leave the rest of the longer secret visible.
    ordered = tuple(sorted(secrets, key=len, reverse=True))
    whole = server.whole_environment
    return ResolvedServer(command, args, env, whole, cwd, url, headers, ordered)


def _has_only_empty_references(text: str, environment: Mapping[str, str]) -> bool:
    """Return whether a text has references, all with an empty value and an empty default.

    A reference without a default does not count as empty: a missing value is an error.
    """
    references = list(_REFERENCE.finditer(text))
    return bool(references) and not any(
        _get_variable(match[1], environment) or match[2] is None or match[2]
        for match in references
    )
