"""Backups of settings entries that an apply replaced.

Entries contain tokens in plain text, as the settings themselves do. So a backup is in
the folder of the settings file, readable only by its owner, and not in the project.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..digests import compute_digest
from ..state.seal import ForeignFileError, Seal, StateError
from .settings_file import Settings

_FORMAT = "toolcast-letta-entries/1"


@dataclass(frozen=True)
class EntryBackup:
    """An agent's entry of an MCP server, before an apply.

    Attributes:
        agent: the agent's name in the toolset.
        agent_id: the agent's id in Letta.
        home: where the agent lives, as in the settings file.
        server: the entry's name.
        before: the entry before the apply; None if it did not exist. It can contain
            secrets.
        after: the digest of the entry that the apply wrote.
    """

    agent: str
    agent_id: str
    home: str | None
    server: str
    before: Mapping[str, Any] | None = field(repr=False)
    after: str = ""


def find_entry(
    servers: Sequence[Mapping[str, Any]], name: str
) -> dict[str, Any] | None:
    """Return a copy of the first entry with a name; None if there is none."""
    for server in servers:
        if server.get("name") == name:
            return dict(server)
    return None


def save_backup(
    settings: Path, toolset: str, entries: Sequence[EntryBackup], seal: Seal
) -> Path:
    """Write the entries to a new file, and return its path.

    Raises:
        StateError: see `Seal.save`.
    """
    stamp = "".join(c for c in datetime.now(UTC).isoformat()[:26] if c.isdigit())
    file = settings.resolve().parent / f"{_build_file_prefix(toolset)}{stamp}.json"
    value = {"format": _FORMAT, "entries": [asdict(entry) for entry in entries]}
    seal.save(file, value, create=True)
    return file


def get_newest_backup(
    settings: Path, toolset: str, seal: Seal
) -> tuple[Path, list[EntryBackup]]:
    """Return the path and the entries of the newest backup of this user.

    Backups that another user signed, or that were edited, are skipped.

    Raises:
        StateError: there is no such backup.
    """
    folder = settings.resolve().parent
    # The names contain the time, so the newest file is first in descending order.
    for file in sorted(
        folder.glob(f"{_build_file_prefix(toolset)}*.json"), reverse=True
    ):
        with contextlib.suppress(ForeignFileError):
            return file, load_backup(file, seal)
    raise StateError(f"{folder} has no backup of entries of {toolset}")


def load_backup(file: Path, seal: Seal) -> list[EntryBackup]:
    """Return the entries of a backup.

    Raises:
        StateError: see `Seal.load`.
    """
    return [EntryBackup(**entry) for entry in seal.load(file, _FORMAT)["entries"]]


def restore_entries(
    settings: Settings, entries: Sequence[EntryBackup]
) -> tuple[Settings, list[str], list[str]]:
    """Return the settings with the entries restored, and two lists of descriptions.

    The first list describes the restored entries. The second one describes entries that
    were changed after the apply: they are not restored. An entry that already is as in
    the backup is in neither list.
    """
    restored: list[str] = []
    lost: list[str] = []
    for entry in entries:
        label = f"{entry.agent}: the entry {entry.server}"
        current = find_entry(
            settings.list_servers(entry.agent_id, entry.home), entry.server
        )
        if current == entry.before:
            continue
        # Another program changed the entry after the apply: restoring would lose that
        # change.
        if current is None or compute_digest(current) != entry.after:
            lost.append(f"{label} was changed since then and is kept")
            continue
        settings = settings.replace_entry(
            entry.agent_id, entry.home, entry.server, entry.before
        )
        restored.append(f"{label} {'removed' if entry.before is None else 'restored'}")
    return settings, restored, lost


def _build_file_prefix(toolset: str) -> str:
    return f"toolcast-{toolset}-"
