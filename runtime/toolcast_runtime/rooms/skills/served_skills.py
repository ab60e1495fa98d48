"""The skills of one client as MCP shows them: entries, directories, and files as resources.

Each is put together when it is asked for, so that a client's list, its digests and what it reads
agree with what it may have by then.

Source: https://github.com/modelcontextprotocol/ext-skills (SEP-2640)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .skills import Skill

_MARKDOWN = "text/markdown"
_DIRECTORY = "inode/directory"


class ServedSkills:
    """The skills that one client is served.

    Args:
        skills: gives those that it may have by now.
    """

    def __init__(self, skills: Callable[[], list[Skill]]) -> None:
        self._all = skills

    def entries(self) -> list[dict[str, Any]]:
        """Each skill: its front matter, and every file with its digest."""
        return [_entry(skill) for skill in self._all()]

    def entry(self, uri: str) -> dict[str, Any] | None:
        """The skill whose SKILL.md a URI is of; None where it is of none."""
        for skill in self._all():
            if uri == f"{_root(skill)}/SKILL.md":
                return _entry(skill)
        return None

    def children(self, uri: str) -> list[dict[str, Any]]:
        """What stands directly in a directory of a skill; empty where it is none."""
        for skill in self._all():
            if children := _children(skill, uri):
                return list(children.values())
        return []

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
