"""The methods of Agent Skills over MCP, which are loaded when somebody asks for one.

Each answer is put together when it is asked for, so that a client's list, its digests and what it
reads agree with what it may have by then.

Source: https://github.com/modelcontextprotocol/ext-skills (SEP-2640)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from .results import refuse_cursor, sendable

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

    from ...core.rooms import SkillFolders

_EXTENSION = "io.modelcontextprotocol/skills"
# What a client may have can change at any time, and is its own alone.
_CACHING = {"ttlMs": 0, "cacheScope": "private"}


class SkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class DirectoryParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


def add_skill_methods(server: Server[Any], skills: Callable[[], SkillFolders]) -> None:
    """Declares the extension, and answers its methods.

    Args:
        server: that of one client.
        skills: gives those that the client is served.
    """

    async def listed(
        context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        refuse_cursor(params)
        return {"skills": skills().entries(), **_CACHING}

    async def get(
        context: ServerRequestContext[Any, Any], params: SkillParams
    ) -> dict[str, Any]:
        entry = skills().entry(params.uri)
        if entry is None:
            raise _unknown("No skill is served at this URI", params.uri)
        return {"skill": entry, **_CACHING}

    async def read_directory(
        context: ServerRequestContext[Any, Any], params: DirectoryParams
    ) -> dict[str, Any]:
        refuse_cursor(params)
        children = skills().children(params.uri)
        if not children:
            raise _unknown("This is no directory of a skill", params.uri)
        return {"resources": children}

    server.extensions[_EXTENSION] = {"directoryRead": True}
    add = server.add_request_handler
    add("skills/list", types.PaginatedRequestParams, listed)
    add("skills/get", SkillParams, get)
    add("resources/directory/read", DirectoryParams, read_directory)


def _unknown(why: str, uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, why, {"uri": sendable(uri)})
