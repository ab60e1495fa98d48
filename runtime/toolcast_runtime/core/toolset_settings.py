"""What a toolset says of what its calls use: its lifespan, its ledger, its links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType


class LifespanError(RuntimeError):
    """The lifespan of a toolset cannot be started, or is not there for a call."""


@dataclass(frozen=True, slots=True)
class Lifespan:
    """The function that opens a toolset's resources and closes them.

    Attributes:
        function: `module:function` of the handlers' package. It takes nothing and gives a
            context manager, sync or async, which yields a mapping of the resources.
        resources: the names of all the resources, no fewer and no more.
    """

    function: str
    resources: tuple[str, ...] = ()


class LedgerError(Exception):
    """A record could not be written."""


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """Where a toolset's records go.

    Attributes:
        toolset: the toolset's name.
        variable: the environment variable that names the SQLite file, or a PostgreSQL database
            by its URL, before all else. With `_FILE` behind its name it names a file with
            the URL.
        path: the SQLite file, relative to the working directory; None for the default.
        sink: `module:function` that is given each record instead of SQLite.
        package: the folder of the generated package, which the default file belongs to:
            two projects whose toolsets have one name do not share it.
        keep: how long rows stay, as `36h` or `90d`; None for ever.
    """

    toolset: str
    variable: str
    path: str | None = None
    sink: str | None = None
    package: str = ""
    keep: str | None = None

    def of(self, tools_package: ModuleType) -> LedgerSettings:
        """The same for the toolset whose package `tools` this is."""
        from dataclasses import replace
        from os.path import dirname, realpath

        folders = list(tools_package.__path__)
        return replace(self, package=dirname(realpath(folders[0])) if folders else "")

    def database(self, environment: Mapping[str, str] | None = None) -> str | None:
        """The URL of the PostgreSQL database that the environment names; None for a file.

        Raises:
            LedgerError: it names neither; never with its words, which may be secret.
        """
        named = self._named(environment)
        scheme = _scheme(named)
        if scheme in ("postgresql", "postgres"):
            return named
        if scheme:
            raise LedgerError(
                f"{self.variable} names no ledger: it takes the path of a SQLite file or a"
                f" URL that begins with postgresql://, not with {scheme}:"
            )
        return None

    def is_named(self, environment: Mapping[str, str] | None = None) -> bool:
        """Whether the environment or the toolset says where records go.

        Raises:
            LedgerError: the environment says it in two ways, or in a file that cannot be read.
        """
        return bool(self._named(environment) or self.path)

    def _named(self, environment: Mapping[str, str] | None) -> str:
        """What the environment names, a file or a URL."""
        import os

        from .safe_file import secret

        given = os.environ if environment is None else environment
        try:
            named = secret(self.variable, given) or ""
        except ValueError as error:
            raise LedgerError(str(error)) from None
        if named and not given.get(self.variable, "").strip() and not _scheme(named):
            raise LedgerError(
                f"the file that {self.variable}_FILE names has no URL of a database in it;"
                f" {self.variable} itself names the ledger's SQLite file"
            )
        return named

    def file(self, environment: Mapping[str, str] | None = None) -> Path:
        """The SQLite file: the environment's, the toolset's, or the user's own.

        Raises:
            LedgerError: none is named, and the user has no folder for one.
        """
        import hashlib
        import os
        from pathlib import Path

        named = self._named(environment) or self.path
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


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How long and how much is kept for one client, in the memory of one process.

    Attributes:
        seconds: after them a link leads nowhere.
        bytes: of all content together; what is oldest goes first.
    """

    seconds: float = 600.0
    bytes: int = 16_777_216


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


def _scheme(named: str) -> str:
    """That of a URL, in small letters; empty for a path, a Windows drive among them."""
    import re

    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", named)
    return found[1].lower() if found else ""
