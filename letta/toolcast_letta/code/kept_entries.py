"""What stood in the settings of Letta Code before an apply, kept beside them.

The entries hold tokens in clear, as the settings themselves do. So a copy lies in the settings'
own folder, for its owner alone, and never in the project.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcast_runtime.files.folder import Folder
from toolcast_runtime.files.regular_file import read_regular

from ..digests import digest_of
from ..state.seal import Seal, SealError
from .settings_file import Settings, SettingsError

__all__ = ["KeptEntry", "entry_of", "keep", "newest", "put_back"]

_FORMAT = "toolcast-letta-entries/1"
_LARGEST = 16 * 1024 * 1024


@dataclass(frozen=True)
class KeptEntry:
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


def entry_of(servers: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any] | None:
    """The entry of a name."""
    return next((dict(one) for one in servers if one.get("name") == name), None)


def keep(
    settings: Path, toolset: str, entries: Sequence[KeptEntry], seal: Seal
) -> Path:
    """Writes a copy; gives its file.

    Raises:
        SettingsError: it cannot be written.
    """
    value = {"format": _FORMAT, "entries": [asdict(entry) for entry in entries]}
    stamp = "".join(c for c in datetime.now(UTC).isoformat()[:26] if c.isdigit())
    name = f"{_prefix(toolset)}{stamp}.json"
    try:
        text = json.dumps({**value, "seal": seal.of(value)}, indent=2)
        folder = str(settings.resolve().parent)
        with Folder.at(folder, create=True) as place:
            place.write(name, f"{text}\n".encode(), mode=0o600, durable=True)
    except SealError as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"no copy can be kept: {error}") from None
    return Path(folder, name)


def newest(settings: Path, toolset: str, seal: Seal) -> tuple[Path, list[KeptEntry]]:
    """The newest copy that this user kept, and its file.

    Raises:
        SettingsError: there is none.
    """
    folder = settings.resolve().parent
    for file in sorted(folder.glob(f"{_prefix(toolset)}*.json"), reverse=True):
        with contextlib.suppress(SettingsError):
            return file, load(file, seal)
    raise SettingsError(f"no copy of entries of {toolset} is in {folder}")


def load(file: Path, seal: Seal) -> list[KeptEntry]:
    """The entries of a copy.

    Raises:
        SettingsError: it cannot be read, or is not as this user kept it.
    """
    try:
        value = json.loads(read_regular(str(file), _LARGEST))
        given = value.pop("seal", None)
        is_ours = value["format"] == _FORMAT and seal.fits(value, given)
        entries = [KeptEntry(**one) for one in value["entries"]]
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except SealError as error:
        raise SettingsError(str(error)) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SettingsError(f"{file} holds no copy of entries") from None
    if not is_ours:
        raise SettingsError(f"{file} was edited, or somebody else kept it")
    return entries


def put_back(
    settings: Settings, entries: Sequence[KeptEntry]
) -> tuple[Settings, list[str], list[str]]:
    """The settings with the entries as they were; what changes, and what cannot."""
    done: list[str] = []
    lost: list[str] = []
    for entry in entries:
        what = f"{entry.agent}: the entry {entry.server}"
        now = entry_of(settings.servers(entry.agent_id, entry.home), entry.server)
        if now == entry.before:
            continue
        if now is None or digest_of(now) != entry.after:
            lost.append(f"{what} stays: somebody has changed it since then")
            continue
        settings = settings.with_entry_again(
            entry.agent_id, entry.home, entry.server, entry.before
        )
        done.append(f"{what} {'removed' if entry.before is None else 'as it was'}")
    return settings, done, lost


def _prefix(toolset: str) -> str:
    return f"toolcast-{toolset}-"
