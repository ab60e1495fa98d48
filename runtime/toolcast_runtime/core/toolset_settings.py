"""Settings of a toolset for its calls: the lifespan, the ledger, and stored link content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType


class LifespanError(RuntimeError):
    """A toolset's lifespan cannot be started, or is missing for a call."""


@dataclass(frozen=True, slots=True)
class Lifespan:
    """The function that opens and closes a toolset's dependencies.

    Attributes:
        function: `module:function` in the handlers package. It takes no arguments and
            returns a context manager, sync or async, that yields a mapping of the
            dependencies by name.
        dependencies: the names of the dependencies, exactly those that the mapping has.
    """

    function: str
    dependencies: tuple[str, ...] = ()


class LedgerError(Exception):
    """A call cannot be recorded in the ledger."""


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """The settings of a toolset's ledger.

    Attributes:
        toolset: the toolset's name.
        variable: the environment variable with the path of the SQLite file or the URL of a
            PostgreSQL database; it takes precedence. A variable of the same name with the
            suffix `_FILE` names a file that contains the URL.
        path: the SQLite file, relative to the working directory; None for the default.
        sink: `module:function` that gets each record instead of a database.
        package: the folder of the generated package. It is part of the default path, so
            that two projects with toolsets of the same name have separate files.
        keep: how long rows are kept, such as `36h` or `90d`; None for ever.
    """

    toolset: str
    variable: str
    path: str | None = None
    sink: str | None = None
    package: str = ""
    keep: str | None = None

    def for_package(self, tools_package: ModuleType) -> LedgerSettings:
        """Return a copy with the folder of the toolset's generated package `tools`."""
        from dataclasses import replace
        from os.path import dirname, realpath

        folders = list(tools_package.__path__)
        return replace(self, package=dirname(realpath(folders[0])) if folders else "")

    def get_database_url(
        self, environment: Mapping[str, str] | None = None
    ) -> str | None:
        """Return the URL of the PostgreSQL database; None if a SQLite file is used.

        Raises:
            LedgerError: the variable has a URL of another kind. The message does not quote
                it, because it may contain a password.
        """
        location = self._read_variable(environment)
        scheme = _get_scheme(location)
        if scheme in ("postgresql", "postgres"):
            return location
        if scheme:
            raise LedgerError(
                f"{self.variable} must be the path of a SQLite file or a URL that begins"
                f" with postgresql://, not with {scheme}:"
            )
        return None

    def is_configured(self, environment: Mapping[str, str] | None = None) -> bool:
        """Return whether the environment or the toolset sets the ledger's location.

        Raises:
            LedgerError: the variable is set twice, or its file cannot be read.
        """
        return bool(self._read_variable(environment) or self.path)

    def _read_variable(self, environment: Mapping[str, str] | None) -> str:
        """Return the path or URL that the environment sets; empty if it sets none."""
        import os

        from .safe_file import load_secret

        variables = os.environ if environment is None else environment
        try:
            location = load_secret(self.variable, variables) or ""
        except ValueError as error:
            raise LedgerError(str(error)) from None
        is_from_file = not variables.get(self.variable, "").strip()
        if location and is_from_file and not _get_scheme(location):
            raise LedgerError(
                f"the file that {self.variable}_FILE names must contain the URL of a"
                f" database; set {self.variable} to use a SQLite file"
            )
        return location

    def get_file(self, environment: Mapping[str, str] | None = None) -> Path:
        """Return the path of the SQLite file.

        The environment variable takes precedence over the toolset's `path`. The default is a
        file in the user's state folder.

        Raises:
            LedgerError: no path is set, and the user has no home folder.
        """
        import hashlib
        import os
        from pathlib import Path

        location = self._read_variable(environment) or self.path
        if location:
            try:
                return Path(location).absolute()
            except FileNotFoundError:
                # A relative path needs the working directory, which no longer exists.
                raise LedgerError(
                    f"`{location}` cannot be found: the working directory was removed;"
                    f" set {self.variable} to an absolute path"
                ) from None
        variables = os.environ if environment is None else environment
        # The hash of the package's folder separates projects with toolsets of the same name.
        digest = hashlib.sha256(os.fsencode(self.package)).hexdigest()[:12]
        try:
            folder = _get_state_folder(variables)
        except RuntimeError:
            raise LedgerError(
                f"there is no home folder for the ledger: set {self.variable} to a file"
            ) from None
        return folder / "toolcast" / f"{self.toolset}-{digest}" / "ledger.sqlite3"


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """The limits on the content of links that one process stores in memory for a client.

    Attributes:
        seconds: how long content is stored.
        bytes: the maximum size of all content; the oldest content is removed first.
    """

    seconds: float = 600.0
    bytes: int = 16_777_216


def _get_state_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder for state that programs keep between runs, on each system.

    Source: the XDG Base Directory Specification, by which a relative path is ignored.
    """
    import os
    import sys
    from pathlib import Path

    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support"
    folder = environment.get("XDG_STATE_HOME", "")
    return Path(folder) if os.path.isabs(folder) else Path.home() / ".local/state"


def _get_scheme(location: str) -> str:
    """Return a URL's scheme in lower case; empty for a path, even `C:/` of Windows."""
    import re

    # Require two characters before the colon: the drive of a Windows path has only one.
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", location)
    return match[1].lower() if match else ""
