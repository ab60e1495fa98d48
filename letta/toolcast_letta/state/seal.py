"""Signatures of files that persist between runs, to detect files that were edited.

The user's key is in their state folder, not in the project; so a cloned repository
cannot contain a valid signature. TOOLCAST_LETTA_KEY sets the key if different machines
plan and apply.
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
"""The maximum size of a saved file that is read."""


class StateError(Exception):
    """Saved file that is missing, or cannot be signed, verified or written."""


class ForeignFileError(StateError):
    """Saved file without a valid signature of this user's key, or not readable."""


class Seal:
    """Signer of JSON values: HMAC-SHA256 (RFC 2104) of their canonical text.

    The key is the variable `TOOLCAST_LETTA_KEY`, else a file in the user's state
    folder, which is created when needed.

    Args:
        environment: can contain the key, and determines the user's state folder.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment

    def sign(self, value: Any) -> str:
        """Return the signature of a JSON value.

        Raises:
            StateError: there is no key, and none can be created.
        """
        # Sorted keys and fixed separators give equal values the same signature.
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
        ).encode("utf-8", "surrogatepass")
        return (
            "hmac-sha256:" + hmac.new(self._get_key(), text, hashlib.sha256).hexdigest()
        )

    def is_valid(self, value: Any, seal: Any) -> bool:
        """Return whether a signature matches a JSON value.

        Raises:
            StateError: there is no key, and none can be created.
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
        """Write a JSON object with its signature.

        A symbolic link at the path is replaced, not followed.

        Args:
            path: the file.
            value: the object; its member `format` identifies the file format.
            create: whether to create the file's folder.
            mode: the permissions of a new file.

        Raises:
            StateError: the file cannot be written, or there is no key.
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
        """Load a JSON object that this user saved, without its signature.

        Args:
            path: the file.
            format_: the expected file format.

        Raises:
            ForeignFileError: the file cannot be read, has another format, or does not
                match its signature.
            StateError: there is no key, and none can be created.
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
                f"{path} does not have the format {format_} of this version"
            )
        seal = value.pop("seal", None)
        if not self.is_valid(value, seal):
            raise ForeignFileError(
                f"{path} was changed after it was saved, or another user saved it: its"
                f" signature is not valid\n  help: set {KEY_VARIABLE} to the same value on"
                " the machines that share files"
            )
        return value

    def _get_key(self) -> bytes:
        value = self._environment.get(KEY_VARIABLE, "").strip()
        if value:
            if len(value) < _MIN_KEY_LENGTH:
                raise StateError(
                    f"{KEY_VARIABLE} has fewer than {_MIN_KEY_LENGTH} characters"
                )
            return value.encode("utf-8", "surrogateescape")
        base = self._environment.get("XDG_STATE_HOME", "")
        try:
            folder = Path(base) if base else Path.home() / ".local" / "state"
        except RuntimeError as error:
            raise StateError(
                f"there is no folder for the key: {error}; set {KEY_VARIABLE}"
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
            raise StateError(f"{path} contains an incomplete key: remove the file")
        return key


def _read_key(path: Path) -> bytes:
    """Return the key in a file; empty if the file does not exist.

    A symbolic link is not followed.
    """
    try:
        return read_regular_file(str(path), 1024, follow=False)
    except FileNotFoundError:
        return b""


def _create_key(path: Path) -> bytes:
    """Create and return a key; if another process was faster, return its key."""
    parent = str(path.parent)
    with (
        Folder.open_path(parent, create=True, mode=0o700) as folder,
        _wait_for_lock(folder),
    ):
        # Another process can have created the key while this process waited for the
        # lock.
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
    """Return a copy of a JSON object with tuples in place of its arrays.

    Only the values of the object itself are converted, not nested ones.
    """
    return {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
