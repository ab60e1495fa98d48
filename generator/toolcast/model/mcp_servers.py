"""External MCP servers of a toolset, and the model that selects tools."""

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
"""Maximum size of a lock file; a larger file is treated as missing."""
# The start of a lock file: a JSON object whose first key is `toolcastLock`.
_LOCK_START = re.compile(rb'\s*\{\s*"toolcastLock"')
_LOCK_HEADER_BYTES = 200
"""Number of bytes at the start of a file that are read to recognize a lock file."""

_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}")


@dataclass(frozen=True)
class McpServer(ExternalServer):
    """An external MCP server: the runtime's settings, and those of the generator.

    Attributes:
        fields: the keys of the server in `toolset.yaml`, in their order.
        locked: the content of the file that `lock` names; None without `lock`, or if the file
            cannot be read.
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
        """The local names of the server's tools that `toolset.yaml` lists.

        These are the tools in `allow`, or those in `tools` without `allow`. Tools that are
        not allowed are left out.
        """
        names = self.tools if self.allow is None else self.allow
        return tuple(
            self.get_local_name(name) for name in names if self.is_allowed(name)
        )

    def declares_tool(self, name: str) -> bool:
        """Return whether a name in a client's `allow` or `deny` can be a tool of the server.

        True for declared names. Without `allow`, the server's tools are unknown, so any other
        name with the server's `prefix` is accepted, unless the tool is renamed or not allowed.
        """
        if name in self.declared_names:
            return True
        server_name = name.removeprefix(self.prefix)
        has_prefix = bool(self.prefix) and name.startswith(self.prefix)
        if not has_prefix or not server_name or self.allow is not None:
            return False
        return server_name not in self.tools and self.is_allowed(server_name)

    @property
    def texts(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """The path and text of each server setting that may contain `${NAME}` references."""
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
    """Settings of the language model that selects tools for a user's message.

    The model has an OpenAI-compatible chat endpoint.
    """

    base_url: str
    model: str
    api_key: str | None = None
    timeout: float = language_default("toolset.router.timeout", float)
    history: int = language_default("toolset.router.history")


def describe_invalid_reference(text: str) -> str | None:
    """Return help if a text contains `${` without a valid reference; otherwise None."""
    rest = _REFERENCE.sub("", text)
    if "${" in rest:
        return "write a reference as `${NAME}` or `${NAME:-default}`"
    return None


def list_references(text: str) -> list[str]:
    """Return the names of the environment variables that a text refers to as `${NAME}`.

    The names are in the order of the text, and can be repeated.
    """
    return [name for name, _ in list_references_with_defaults(text)]


def list_references_with_defaults(text: str) -> list[tuple[str, str | None]]:
    """Return the name and the default of each reference in a text, in order.

    The default of `${NAME:-default}` is a string, that of `${NAME}` is None.
    """
    names_with_defaults = []
    for match in _REFERENCE.finditer(text):
        name, separator, default = match[0][2:-1].partition(":-")
        names_with_defaults.append((name, default if separator else None))
    return names_with_defaults


def replace_references(text: str) -> str:
    """Return a text in which defaults replace references; those without one are removed."""
    return _REFERENCE.sub(lambda match: match[0].partition(":-")[2].rstrip("}"), text)


def load_locks(
    files: ProjectFiles, folder: str, servers: tuple[McpServer, ...]
) -> tuple[McpServer, ...]:
    """Return the servers with the content of their lock files in `locked`.

    A missing lock file is not an error here: `toolcast lock --update` must load the specs
    before it can write the file. The rule `spec/server-lock` reports a missing file.
    """
    return tuple(
        (
            server
            if server.lock is None
            else replace(server, locked=_read_lock(files, folder, server.lock))
        )
        for server in servers
    )


def check_unused_locks(
    files: ProjectFiles, folder: str, servers: tuple[McpServer, ...]
) -> Iterator[Finding]:
    """Yield a finding for each lock file that no server uses.

    The folder `locks` and the folders of used lock files are searched.
    """
    used = {f"{folder}/{server.lock}" for server in servers if server.lock is not None}
    lock_folders = {f"{folder}/locks", *map(posixpath.dirname, used)}
    for lock_folder in sorted(lock_folders):
        try:
            entries = files.entries(lock_folder)
        except OSError:
            # The folder of lock files need not exist.
            continue
        for entry in entries:
            path = f"{lock_folder}/{entry.name}"
            if entry.is_folder or not path.endswith(".json") or path in used:
                continue
            if _is_lock(files, path):
                yield Finding(
                    "spec/server-lock",
                    Severity.WARNING,
                    Location(path),
                    "no server in `mcp_servers` uses this lock file",
                    "delete the file, or set it as the `lock` of its server",
                )


def _is_lock(files: ProjectFiles, path: str) -> bool:
    """Return whether a file starts like a lock file; False if it cannot be read."""
    try:
        return bool(_LOCK_START.match(files.read(path, _LOCK_HEADER_BYTES)))
    except OSError:
        return False


def _read_lock(files: ProjectFiles, folder: str, lock: str) -> bytes | None:
    """Return the content of a lock file.

    None if the file is outside of the toolset's folder, unreadable or too large.
    """
    path = f"{folder}/{lock}"
    try:
        if files.is_outside(path, folder):
            return None
        data = files.read(path, _MAX_LOCK_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= _MAX_LOCK_BYTES else None
