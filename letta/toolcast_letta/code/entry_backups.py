"""What stood in the settings of Letta Code before an apply, kept beside them.

The entries hold tokens in clear, as the settings themselves do. So a copy lies in the settings'
own folder, for its owner alone, and never in the project.
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
    """One agent's entry of a server.

    Attributes:
        agent: the toolset's name for the agent.
        agent_id: Letta's id of it.
        home: where it lives, as the settings say it.
        server: the entry's name.
        before: the entry as it was; None when there was none. It may hold secrets.
        after: digest of the entry that the apply wrote.
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
    """The entry of a name."""
    return next((dict(one) for one in servers if one.get("name") == name), None)


def save_backup(
    settings: Path, toolset: str, entries: Sequence[EntryBackup], seal: Seal
) -> Path:
    """Writes a copy; gives its file.

    Raises:
        StateError: as of `Seal.save`.
    """
    stamp = "".join(c for c in datetime.now(UTC).isoformat()[:26] if c.isdigit())
    file = settings.resolve().parent / f"{_build_file_prefix(toolset)}{stamp}.json"
    entries_ = [asdict(entry) for entry in entries]
    seal.save(file, {"format": _FORMAT, "entries": entries_}, create=True)
    return file


def get_newest_backup(
    settings: Path, toolset: str, seal: Seal
) -> tuple[Path, list[EntryBackup]]:
    """The newest copy that this user kept, and its file.

    Raises:
        StateError: there is none.
    """
    folder = settings.resolve().parent
    for file in sorted(
        folder.glob(f"{_build_file_prefix(toolset)}*.json"), reverse=True
    ):
        with contextlib.suppress(ForeignFileError):
            return file, load_backup(file, seal)
    raise StateError(f"no copy of entries of {toolset} is in {folder}")


def load_backup(file: Path, seal: Seal) -> list[EntryBackup]:
    """The entries of a copy.

    Raises:
        StateError: as of `Seal.load`.
    """
    return [EntryBackup(**one) for one in seal.load(file, _FORMAT)["entries"]]


def restore_entries(
    settings: Settings, entries: Sequence[EntryBackup]
) -> tuple[Settings, list[str], list[str]]:
    """The settings with the entries as they were; what changes, and what cannot."""
    restored: list[str] = []
    lost: list[str] = []
    for entry in entries:
        label = f"{entry.agent}: the entry {entry.server}"
        current = find_entry(
            settings.list_servers(entry.agent_id, entry.home), entry.server
        )
        if current == entry.before:
            continue
        if current is None or compute_digest(current) != entry.after:
            lost.append(f"{label} stays: somebody has changed it since then")
            continue
        settings = settings.replace_entry(
            entry.agent_id, entry.home, entry.server, entry.before
        )
        restored.append(f"{label} {'removed' if entry.before is None else 'as it was'}")
    return settings, restored, lost


def _build_file_prefix(toolset: str) -> str:
    return f"toolcast-{toolset}-"
