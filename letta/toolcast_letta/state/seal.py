"""Seals what is saved between runs, so that a file that was edited is told from our own.

The key is the user's: it lies in their state folder and never in the project, so that a clone
cannot bring one. TOOLCAST_LETTA_KEY gives the key instead where one machine plans and another
one applies.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.safe_folder import (
    ConcurrentRunError,
    Folder,
    lock_output_folder,
)

KEY_VARIABLE = "TOOLCAST_LETTA_KEY"
_MIN_KEY_LENGTH = 16
_KEY_FILE = "letta.key"
_MAX_FILE_BYTES = 16 * 1024 * 1024
"""Size of a saved file."""


class StateError(Exception):
    """What is saved between runs is not there, or cannot be sealed or written."""


class ForeignFileError(StateError):
    """File that this user's key did not sign in its present form."""


class Seal:
    """Signs JSON values: HMAC-SHA256 (RFC 2104) of their canonical text.

    Args:
        environment: may hold the key, and says where the user's state folder is.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment

    def sign(self, value: Any) -> str:
        """The seal of a value.

        Raises:
            StateError: there is no key, and none can be made.
        """
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
        ).encode("utf-8", "surrogatepass")
        return "hmac-sha256:" + hmac.new(self._key(), text, hashlib.sha256).hexdigest()

    def is_valid(self, value: Any, seal: Any) -> bool:
        """Whether a seal is that of a value.

        Raises:
            StateError: as of `of`.
        """
        return isinstance(seal, str) and hmac.compare_digest(
            self.sign(value).encode(), seal.encode("utf-8", "replace")
        )

    def save(
        self,
        path: Path,
        value: Mapping[str, Any],
        *,
        create: bool = False,
        mode: int = 0o600,
    ) -> None:
        """Writes a value with its seal; a link in its place is replaced, not followed.

        Args:
            path: the file.
            value: what `load` gives back; its `format` says what it is.
            create: makes the file's folder.
            mode: of a file that is new.

        Raises:
            StateError: it cannot be written, or not be sealed.
        """
        sealed = {**value, "seal": self.sign(value)}
        text = json.dumps(sealed, indent=2, ensure_ascii=False)
        data = f"{text}\n".encode("utf-8", "surrogatepass")
        try:
            with Folder.open_path(str(path.parent), create=create) as folder:
                folder.write(path.name, data, mode=mode, durable=True)
        except OSError as error:
            reason = error.strerror or error
            raise StateError(f"{path} cannot be written: {reason}") from None

    def load(self, path: Path, format_: str) -> dict[str, Any]:
        """The value that this user saved in a file.

        Raises:
            ForeignFileError: the file cannot be read, holds another format, or is not as it was saved.
            StateError: there is no key to tell.
        """
        try:
            value = json.loads(read_regular_file(str(path), _MAX_FILE_BYTES))
        except OSError as error:
            raise ForeignFileError(
                f"{path} cannot be read: {error.strerror or error}"
            ) from None
        except (ValueError, RecursionError) as error:
            raise ForeignFileError(f"{path} cannot be read: {error}") from None
        if not isinstance(value, dict) or value.get("format") != format_:
            raise ForeignFileError(
                f"{path} holds no {format_}, which this version saves"
            )
        seal = value.pop("seal", None)
        if not self.is_valid(value, seal):
            raise ForeignFileError(
                f"{path} was changed after it was saved, or somebody else saved it: its"
                f" seal does not fit\n  help: {KEY_VARIABLE} lets one machine take what"
                " another one saved"
            )
        return value

    def _key(self) -> bytes:
        value = self._environment.get(KEY_VARIABLE, "").strip()
        if value:
            if len(value) < _MIN_KEY_LENGTH:
                raise StateError(
                    f"{KEY_VARIABLE} has less than {_MIN_KEY_LENGTH} characters"
                )
            return value.encode("utf-8", "surrogateescape")
        base = self._environment.get("XDG_STATE_HOME", "")
        try:
            folder = Path(base) if base else Path.home() / ".local" / "state"
        except RuntimeError as error:
            raise StateError(
                f"no folder for a key: {error}; set {KEY_VARIABLE}"
            ) from None
        path = folder / "toolcast" / _KEY_FILE
        try:
            key = _read_key(path) or _create_key(path)
        except OSError as error:
            raise StateError(
                f"{path} cannot be used: {error.strerror or error}; set {KEY_VARIABLE}"
                " to a secret text instead"
            ) from None
        if len(key) < _MIN_KEY_LENGTH:
            raise StateError(f"{path} holds no whole key: remove it")
        return key


def _read_key(path: Path) -> bytes:
    """The key of a file; empty without one."""
    try:
        return read_regular_file(str(path), 1024, follow=False)
    except FileNotFoundError:
        return b""


def _create_key(path: Path) -> bytes:
    """A new key; that of another run which is quicker."""
    parent = str(path.parent)
    with (
        Folder.open_path(parent, create=True, mode=0o700) as folder,
        _wait_for_lock(folder),
    ):
        key = _read_key(path)
        if not key:
            key = secrets.token_hex(32).encode()
            folder.write(path.name, key, mode=0o600, durable=True)
    return key


@contextlib.contextmanager
def _wait_for_lock(folder: Folder) -> Iterator[None]:
    while True:
        try:
            with lock_output_folder(folder):
                yield
                return
        except ConcurrentRunError:
            time.sleep(0.05)


def convert_lists(value: Mapping[str, Any]) -> dict[str, Any]:
    """What a dataclass takes of a saved object: tuples instead of lists."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
