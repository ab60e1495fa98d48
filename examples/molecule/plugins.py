"""Handler of install_plugin: a folder with skills' documents becomes a workspace's.

A plugin is a folder with a `plugin.json` and one `skills/<id>/SKILL.md` for each skill
that this manifest lists. It is documents only: it is checked and copied, and nothing in
it is run. Its skills appear on the workspace's agent card.
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
from examples.molecule.registry import Workspace, acting_workspace
from toolcast_runtime import ToolError

__all__ = ["install_plugin"]

MAX_FILES = 200
MAX_BYTES = 5 * 1024 * 1024
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin that has been read and found in order."""

    name: str
    version: str
    skills: list[dict[str, Any]]
    files: dict[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 over every file's path and content."""
        total = hashlib.sha256()
        for path, content in sorted(self.files.items()):
            total.update(f"{path}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()


def install_plugin(*, source: str, workspace_id: str | None = None) -> dict[str, Any]:
    """Installs or replaces a plugin; `changed` is False when the same was there."""
    target = _target(workspace_id)
    plugin = _read(_folder(source))
    with store.writing() as db:
        known = db.execute(
            "SELECT digest FROM plugins WHERE workspace_id = ? AND name = ?",
            (target.id, plugin.name),
        ).fetchone()
        changed = known is None or known["digest"] != plugin.digest
        if changed:
            _place(plugin, config.home() / "plugins" / target.id / plugin.name)
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


def _target(workspace_id: str | None) -> Workspace:
    own = acting_workspace(None)
    target = acting_workspace(workspace_id)
    if target.id != own.id and target.parent_id != own.id:
        raise ToolError(
            f"`{own.id}` may install for itself and for the workspaces directly below "
            f"it; `{target.id}` is neither."
        )
    return target


def _folder(source: str) -> Path:
    """The plugin's folder, which lies in one of the folders that plugins come from."""
    # No path has a NUL in it; resolving one fails in another way than not finding it.
    for root in config.plugin_sources() if "\0" not in source else ():
        folder = (root / source).resolve()
        if folder != root and folder.is_relative_to(root) and folder.is_dir():
            return folder
    offered = sorted(
        folder.name
        for root in config.plugin_sources()
        if root.is_dir()
        for folder in root.iterdir()
        if (folder / "plugin.json").is_file()
    )
    raise ToolError(
        f"`{source}` is not a folder among the plugins that may be installed. "
        f"There are: {', '.join(offered) or 'none'}."
    )


def _read(folder: Path) -> Plugin:
    files: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise ToolError(f"{path.name} is neither a plain file nor a folder.")
        if path.is_file():
            size += path.stat().st_size
            if size > MAX_BYTES or len(files) == MAX_FILES:
                raise ToolError(
                    f"The plugin has more than {MAX_FILES} files or "
                    f"{MAX_BYTES // 1024 // 1024} MiB."
                )
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    manifest = _manifest(files)
    skills = manifest["skills"]
    for skill in skills:
        if f"skills/{skill['id']}/SKILL.md" not in files:
            raise ToolError(f"The plugin has no skills/{skill['id']}/SKILL.md.")
    return Plugin(manifest["name"], manifest["version"], skills, files)


def _manifest(files: dict[str, bytes]) -> dict[str, Any]:
    if "plugin.json" not in files:
        raise ToolError("The folder has no plugin.json.")
    try:
        manifest = json.loads(files["plugin.json"])
    except (ValueError, RecursionError) as error:
        raise ToolError(f"plugin.json is not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise ToolError("plugin.json does not hold an object.")
    for key, pattern in (("name", NAME), ("version", VERSION)):
        value = manifest.get(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ToolError(f"plugin.json's `{key}` is missing or malformed.")
    skills = manifest.get("skills")
    if not isinstance(skills, list) or not skills:
        raise ToolError("plugin.json lists no skills.")
    return manifest | {"skills": [_skill(skill) for skill in skills]}


def _skill(value: object) -> dict[str, Any]:
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
            "`name` and `description`, and may have `tags`, a list of strings."
        )
    return texts | {"tags": tags}


def _place(plugin: Plugin, destination: Path) -> None:
    """Puts the files in place at once; a former version is gone only then."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix="new-") as aside:
        fresh = Path(aside) / "fresh"
        for path, content in plugin.files.items():
            file = fresh / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        if destination.exists():
            shutil.move(destination, Path(aside) / "former")
        fresh.rename(destination)
