"""Where a toolset's calls are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["LedgerSettings"]


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """Where a toolset's records go.

    Attributes:
        toolset: the toolset's name.
        variable: the environment variable that names the SQLite file before all else.
        path: the SQLite file, relative to the working directory; None for the default.
        sink: `module:function` that is given each record instead of SQLite.
    """

    toolset: str
    variable: str
    path: str | None = None
    sink: str | None = None

    def file(self, environment: Mapping[str, str] | None = None) -> Path:
        """The SQLite file: the environment's, the toolset's, or the user's own."""
        import os
        from pathlib import Path

        given = os.environ if environment is None else environment
        named = given.get(self.variable, "").strip() or self.path
        if named:
            return Path(named).absolute()
        return _state_folder(given) / self.toolset / "ledger.sqlite3"


def _state_folder(environment: Mapping[str, str]) -> Path:
    """Where programs keep what they remember between runs, on each system."""
    import sys
    from pathlib import Path

    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support"
    return Path(environment.get("XDG_STATE_HOME") or Path.home() / ".local/state")
