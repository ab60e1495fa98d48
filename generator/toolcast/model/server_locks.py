"""The locks of external servers, whose bytes are read with the toolset that names them."""

from __future__ import annotations

from dataclasses import replace

from ..reading.project_files import ProjectFiles
from .mcp_servers import McpServer

__all__ = ["LARGEST_LOCK", "with_locks"]

LARGEST_LOCK = 32 * 1024 * 1024


def with_locks(
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


def _bytes(files: ProjectFiles, folder: str, lock: str) -> bytes | None:
    path = f"{folder}/{lock}"
    try:
        if files.leads_out(path, folder):
            return None
        data = files.read(path, LARGEST_LOCK + 1)
    except OSError:
        return None
    return data if len(data) <= LARGEST_LOCK else None
