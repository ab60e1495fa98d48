"""Handler of install_plugin.

A plugin is a folder with a `plugin.json` and a `skills/<id>/SKILL.md` for each skill
in this manifest. Its files are validated and copied, but not executed. Its skills are
added to the workspace's agent card.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.molecule import config, store
from examples.molecule.registry import Workspace, get_acting_workspace
from toolcast_runtime import ToolError

__all__ = ["install_plugin"]

MAX_FILES = 200
MAX_BYTES = 5 * 1024 * 1024
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Plugin:
    """The validated content of a plugin."""

    name: str
    version: str
    skills: list[dict[str, Any]]
    files: dict[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 of the path and content of every file."""
        total = hashlib.sha256()
        for path, content in sorted(self.files.items()):
            total.update(f"{path}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()


def install_plugin(*, source: str, workspace_id: str | None = None) -> dict[str, Any]:
    """Install or replace a plugin; `changed` is False if it is installed already."""
    target = _resolve_target(workspace_id)
    plugin = _read_plugin(_find_plugin_folder(source))
    with store.write_transaction() as db:
        installed = db.execute(
            "SELECT digest FROM plugins WHERE workspace_id = ? AND name = ?",
            (target.id, plugin.name),
        ).fetchone()
        changed = installed is None or installed["digest"] != plugin.digest
        if changed:
            _install_files(
                plugin, config.get_home() / "plugins" / target.id / plugin.name
            )
            db.execute(
                "INSERT OR REPLACE INTO plugins VALUES (?, ?, ?, ?, ?, ?)",
                (
                    target.id,
                    plugin.name,
                    plugin.version,
                    plugin.digest,
                    json.dumps(plugin.skills),
                    store.now(),
                ),
            )
    return {
        "workspace_id": target.id,
        "name": plugin.name,
        "version": plugin.version,
        "skills": [skill["id"] for skill in plugin.skills],
        "changed": changed,
    }


def _resolve_target(workspace_id: str | None) -> Workspace:
    own = get_acting_workspace(None)
    target = get_acting_workspace(workspace_id)
    if target.id != own.id and target.parent_id != own.id:
        raise ToolError(
            f"`{own.id}` can install plugins for itself and its direct children; "
            f"`{target.id}` is neither."
        )
    return target


def _find_plugin_folder(source: str) -> Path:
    """Return the plugin's folder, which must be below one of the plugin sources."""
    # Resolving a path with NUL raises ValueError, so skip the search.
    for root in config.list_plugin_sources() if "\0" not in source else ():
        folder = (root / source).resolve()
        if folder != root and folder.is_relative_to(root) and folder.is_dir():
            return folder
    available = sorted(
        folder.name
        for root in config.list_plugin_sources()
        if root.is_dir()
        for folder in root.iterdir()
        if (folder / "plugin.json").is_file()
    )
    raise ToolError(
        f"`{source}` is not one of the available plugins: "
        f"{', '.join(available) or 'none'}."
    )


def _read_plugin(folder: Path) -> Plugin:
    files: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise ToolError(f"{path.name} is neither a regular file nor a folder.")
        if path.is_file():
            size += path.stat().st_size
            if size > MAX_BYTES or len(files) == MAX_FILES:
                raise ToolError(
                    f"The plugin has more than {MAX_FILES} files or "
                    f"{MAX_BYTES // 1024 // 1024} MiB."
                )
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    manifest = _parse_manifest(files)
    skills = manifest["skills"]
    for skill in skills:
        if f"skills/{skill['id']}/SKILL.md" not in files:
            raise ToolError(f"The plugin has no skills/{skill['id']}/SKILL.md.")
    return Plugin(manifest["name"], manifest["version"], skills, files)


def _parse_manifest(files: dict[str, bytes]) -> dict[str, Any]:
    if "plugin.json" not in files:
        raise ToolError("The folder has no plugin.json.")
    try:
        manifest = json.loads(files["plugin.json"])
    except (ValueError, RecursionError) as error:
        raise ToolError(f"plugin.json is not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise ToolError("plugin.json is not an object.")
    for key, pattern in (("name", NAME), ("version", VERSION)):
        value = manifest.get(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ToolError(f"plugin.json's `{key}` is missing or malformed.")
    skills = manifest.get("skills")
    if not isinstance(skills, list) or not skills:
        raise ToolError("plugin.json lists no skills.")
    return manifest | {"skills": [_parse_skill(skill) for skill in skills]}


def _parse_skill(value: object) -> dict[str, Any]:
    skill = value if isinstance(value, dict) else {}
    texts = {key: skill.get(key) for key in ("id", "name", "description")}
    tags = skill.get("tags", [])
    if (
        not all(isinstance(text, str) for text in texts.values())
        or not NAME.fullmatch(skill["id"])
        or not isinstance(tags, list)
        or not all(isinstance(tag, str) for tag in tags)
    ):
        raise ToolError(
            "A skill in plugin.json needs `id` (lowercase words joined by hyphens), "
            "`name` and `description`, and can have `tags`, an array of strings."
        )
    return texts | {"tags": tags}


def _install_files(plugin: Plugin, destination: Path) -> None:
    """Write the files to a temporary folder, then rename it to `destination`.

    The previous version is available until the new one replaces it.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=destination.parent, prefix="new-"
    ) as temporary:
        new = Path(temporary) / "new"
        for path, content in plugin.files.items():
            file = new / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        if destination.exists():
            shutil.move(destination, Path(temporary) / "previous")
        new.rename(destination)
