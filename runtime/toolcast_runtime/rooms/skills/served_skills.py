"""The skills of one client over MCP: methods of their own, and files as resources.

Each answer is put together when it is asked for, so that a client's list, its digests and what it
reads agree with what it may have by then.

Source: https://github.com/modelcontextprotocol/ext-skills (SEP-2640)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

    from .skills import Skill

_EXTENSION = "io.modelcontextprotocol/skills"
_MARKDOWN = "text/markdown"
_DIRECTORY = "inode/directory"
# What a client may have can change at any time, and is its own alone.
_CACHING = {"ttlMs": 0, "cacheScope": "private"}


class SkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class DirectoryParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


class ServedSkills:
    """The skills that one client is served.

    Args:
        skills: gives those that it may have by now.
    """

    def __init__(self, skills: Callable[[], list[Skill]]) -> None:
        self._all = skills

    def add_to(self, server: Server[Any]) -> None:
        """Declares the extension, and answers its methods."""
        server.extensions[_EXTENSION] = {"directoryRead": True}
        add = server.add_request_handler
        add("skills/list", types.PaginatedRequestParams, self._list)
        add("skills/get", SkillParams, self._get)
        add("resources/directory/read", DirectoryParams, self._read_directory)

    def listed(self) -> list[dict[str, Any]]:
        """Each skill's SKILL.md as `resources/list` shows it."""
        return [
            {**_file(_root(skill), "SKILL.md", skill.files["SKILL.md"])}
            | {"name": skill.name, "description": skill.description}
            for skill in self._all()
        ]

    def contents(self, uri: str) -> dict[str, Any] | None:
        """What `resources/read` gives of a file; None where that is none of a skill's."""
        for skill in self._all():
            folder, _, path = uri.partition(f"{_root(skill)}/")
            if not folder and path in skill.files:
                return {"uri": uri, "mimeType": _MARKDOWN, "text": skill.files[path]}
        return None

    async def _list(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams,
    ) -> dict[str, Any]:
        _refuse_cursor(params)
        return {"skills": [_entry(skill) for skill in self._all()], **_CACHING}

    async def _get(
        self, context: ServerRequestContext[Any, Any], params: SkillParams
    ) -> dict[str, Any]:
        for skill in self._all():
            if params.uri == f"{_root(skill)}/SKILL.md":
                return {"skill": _entry(skill), **_CACHING}
        raise _unknown("No skill is served at this URI", params.uri)

    async def _read_directory(
        self, context: ServerRequestContext[Any, Any], params: DirectoryParams
    ) -> dict[str, Any]:
        _refuse_cursor(params)
        for skill in self._all():
            children = _children(skill, params.uri)
            if children:
                return {"resources": list(children.values())}
        raise _unknown("This is no directory of a skill", params.uri)


def _root(skill: Skill) -> str:
    return f"skill://{skill.name}"


def _entry(skill: Skill) -> dict[str, Any]:
    """A skill as its methods give it: its front matter, and every file with its digest."""
    return {
        "uri": f"{_root(skill)}/SKILL.md",
        "frontmatter": skill.front_matter,
        "resources": [
            {
                "uri": f"{_root(skill)}/{path}",
                "digest": f"sha256:{sha256(data).hexdigest()}",
                "size": len(data),
            }
            for path, text in skill.files.items()
            for data in (text.encode("utf-8"),)
        ],
    }


def _file(folder: str, name: str, text: str) -> dict[str, Any]:
    return {
        "uri": f"{folder}/{name}",
        "name": name,
        "mimeType": _MARKDOWN,
        "size": len(text.encode("utf-8")),
    }


def _children(skill: Skill, uri: str) -> Mapping[str, dict[str, Any]]:
    """What stands directly in a directory of a skill, by names; empty where it is none."""
    children: dict[str, dict[str, Any]] = {}
    if not f"{uri}/".startswith(f"{_root(skill)}/"):
        return children
    for path, text in skill.files.items():
        folder, _, rest = f"{_root(skill)}/{path}".partition(f"{uri}/")
        if folder:
            continue
        name, _, below = rest.partition("/")
        children[name] = (
            {"uri": f"{uri}/{name}", "name": name, "mimeType": _DIRECTORY}
            if below
            else _file(uri, name, text)
        )
    return children


def _unknown(why: str, uri: str) -> MCPError:
    # A lone surrogate cannot be sent back.
    shown = uri.encode("utf-8", "backslashreplace").decode("utf-8")
    return MCPError(types.INVALID_PARAMS, why, {"uri": shown})


def _refuse_cursor(params: types.PaginatedRequestParams) -> None:
    if params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: there is one page")
