"""Where a toolset's calls are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .record import LedgerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

__all__ = ["LedgerSettings"]


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """Where a toolset's records go.

    Attributes:
        toolset: the toolset's name.
        variable: the environment variable that names the SQLite file, or a
            PostgreSQL database by its URL, before all else.
        path: the SQLite file, relative to the working directory; None for the default.
        sink: `module:function` that is given each record instead of SQLite.
        package: the folder of the generated package, which the default file belongs to:
            two projects whose toolsets have one name do not share it.
    """

    toolset: str
    variable: str
    path: str | None = None
    sink: str | None = None
    package: str = ""

    def of(self, tools_package: ModuleType) -> LedgerSettings:
        """The same for the toolset whose package `tools` this is."""
        from dataclasses import replace
        from os.path import dirname, realpath

        folders = list(tools_package.__path__)
        return replace(self, package=dirname(realpath(folders[0])) if folders else "")

    def named(self, environment: Mapping[str, str] | None = None) -> str | None:
        """The SQLite file or database that is named by the environment or the toolset."""
        import os

        given = os.environ if environment is None else environment
        return given.get(self.variable, "").strip() or self.path

    def database(self, environment: Mapping[str, str] | None = None) -> str | None:
        """The URL of the PostgreSQL database that is named instead of a file."""
        named = self.named(environment) or ""
        return named if named.startswith(("postgresql://", "postgres://")) else None

    def file(self, environment: Mapping[str, str] | None = None) -> Path:
        """The SQLite file: the environment's, the toolset's, or the user's own.

        Raises:
            LedgerError: none is named, and the user has no folder for one.
        """
        import hashlib
        import os
        from pathlib import Path

        named = self.named(environment)
        if named:
            return Path(named).absolute()
        given = os.environ if environment is None else environment
        whose = hashlib.sha256(os.fsencode(self.package)).hexdigest()[:12]
        try:
            folder = _state_folder(given)
        except RuntimeError:
            raise LedgerError(
                f"there is no home folder for a ledger: {self.variable} can name a file"
            ) from None
        return folder / "toolcast" / f"{self.toolset}-{whose}" / "ledger.sqlite3"


def _state_folder(environment: Mapping[str, str]) -> Path:
    """Where programs keep what they remember between runs, on each system.

    Source: the XDG Base Directory Specification, by which a relative path is ignored.
    """
    import os
    import sys
    from pathlib import Path

    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support"
    named = environment.get("XDG_STATE_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local/state"
