"""The external MCP servers of a toolset, and the model that chooses tools."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from toolcast_runtime.core.server_settings import ExternalServer

from ..findings import Finding, Location, Severity
from ..parsing.project_files import ProjectFiles
from .language_fields import language_default

_MAX_LOCK_BYTES = 32 * 1024 * 1024
"""Size of a lock file."""
_LOCK_START = re.compile(rb'\s*\{\s*"toolcastLock"')
_LOCK_HEADER_BYTES = 200
"""Bytes of a file that are read to recognize a lock file."""

_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}")


@dataclass(frozen=True)
class McpServer(ExternalServer):
    """What the runtime is told of a server, and what it is not.

    `fields` holds the keys that the toolset gives, in their order; `locked` the bytes of
    the file that `lock` names, None where it cannot be read.
    """

    prefix: str = language_default("toolset.mcp_servers.*.prefix")
    persistent: bool = language_default("toolset.mcp_servers.*.persistent")
    connect_timeout: float = language_default(
        "toolset.mcp_servers.*.connect_timeout", float
    )
    list_timeout: float = language_default("toolset.mcp_servers.*.list_timeout", float)
    call_timeout: float = language_default("toolset.timeout", float)
    max_tools: int = language_default("toolset.mcp_servers.*.max_tools")
    on_change: str = language_default("toolset.mcp_servers.*.on_change")
    fields: tuple[str, ...] = ()
    title: str = ""
    lock: str | None = None
    locked: bytes | None = field(default=None, repr=False)

    @property
    def declared_names(self) -> tuple[str, ...]:
        """What the tools are called here that `allow` and `tools` name."""
        named = self.tools if self.allow is None else self.allow
        return tuple(self.get_local_name(own) for own in named if self.is_allowed(own))

    def declares_tool(self, name: str) -> bool:
        """Whether a name in a client's list is one that the toolset declares as its own."""
        if name in self.declared_names:
            return True
        own = name.removeprefix(self.prefix)
        is_prefixed = bool(self.prefix) and name.startswith(self.prefix) and bool(own)
        return is_prefixed and self.allow is None and self._keeps_its_name(own)

    def _keeps_its_name(self, own: str) -> bool:
        return own not in self.tools and self.is_allowed(own)

    @property
    def texts(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Every text that may name variables, with its path below the server."""
        for key in ("command", "cwd", "url"):
            value = getattr(self, key)
            if value is not None:
                yield (key,), value
        for index, argument in enumerate(self.args):
            yield ("args", index), argument
        for key in ("env", "headers"):
            for name, text in getattr(self, key).items():
                yield (key, name), text


@dataclass(frozen=True)
class ToolRouter:
    """A model behind an OpenAI-compatible chat endpoint that chooses tools."""

    base_url: str
    model: str
    api_key: str | None = None
    timeout: float = language_default("toolset.router.timeout", float)
    history: int = language_default("toolset.router.history")


def describe_invalid_reference(text: str) -> str | None:
    """What is wrong with the references of a text; None when nothing is."""
    rest = _REFERENCE.sub("", text)
    if "${" in rest:
        return "a reference is `${NAME}` or `${NAME:-default}`"
    return None


def list_references(text: str) -> list[str]:
    """The names of the environment variables that a text refers to, in its order."""
    return [name for name, _ in list_references_with_defaults(text)]


def list_references_with_defaults(text: str) -> list[tuple[str, str | None]]:
    """The same names, each with what stands for it where it is not set; None for nothing."""
    parts = (one[0][2:-1].partition(":-") for one in _REFERENCE.finditer(text))
    return [(name, default if sign else None) for name, sign, default in parts]


def replace_references(text: str) -> str:
    """The literal text, with the references replaced by their defaults."""
    return _REFERENCE.sub(lambda found: found[0].partition(":-")[2].rstrip("}"), text)


def load_locks(
    files: ProjectFiles, folder: str, servers: tuple[McpServer, ...]
) -> tuple[McpServer, ...]:
    """The servers with the bytes of their locks; None where a lock cannot be read.

    A lock is written by a command that needs the specs, so that its absence is no error
    of reading: a rule finds it.
    """
    return tuple(
        (
            server
            if server.lock is None
            else replace(server, locked=_bytes(files, folder, server.lock))
        )
        for server in servers
    )


def check_unused_locks(
    files: ProjectFiles, folder: str, servers: tuple[McpServer, ...]
) -> Iterator[Finding]:
    """Finds the locks that no server names, where a toolset has locks."""
    named = {f"{folder}/{one.lock}" for one in servers if one.lock is not None}
    places = {f"{folder}/locks", *(posixpath.dirname(one) for one in named)}
    for place in sorted(places):
        try:
            entries = [one for one in files.entries(place) if not one.is_folder]
        except OSError:
            continue  # there are none
        for path in (f"{place}/{one.name}" for one in entries):
            if path.endswith(".json") and path not in named and _is_lock(files, path):
                message = "no entry of `mcp_servers` names this lock"
                help_ = "delete it, or name it as the `lock` of its server"
                rule, how = "spec/server-lock", Severity.WARNING
                yield Finding(rule, how, Location(path), message, help_)


def _is_lock(files: ProjectFiles, path: str) -> bool:
    try:
        return bool(_LOCK_START.match(files.read(path, _LOCK_HEADER_BYTES)))
    except OSError:
        return False


def _bytes(files: ProjectFiles, folder: str, lock: str) -> bytes | None:
    path = f"{folder}/{lock}"
    try:
        if files.leads_out(path, folder):
            return None
        data = files.read(path, _MAX_LOCK_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= _MAX_LOCK_BYTES else None
