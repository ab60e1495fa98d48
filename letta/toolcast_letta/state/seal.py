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

from toolcast_runtime.files.folder import Folder
from toolcast_runtime.files.folder_lock import AnotherRun, locked
from toolcast_runtime.files.regular_file import read_regular

__all__ = ["KEY_VARIABLE", "Seal", "SealError"]

KEY_VARIABLE = "TOOLCAST_LETTA_KEY"
_SHORTEST = 16
_NAME = "letta.key"


class SealError(Exception):
    """There is no key to seal with, and none can be made; the text says why."""


class Seal:
    """Signs JSON values: HMAC-SHA256 (RFC 2104) of their canonical text.

    Args:
        environment: may hold the key, and says where the user's state folder is.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment

    def of(self, value: Any) -> str:
        """The seal of a value.

        Raises:
            SealError: there is no key, and none can be made.
        """
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
        ).encode("utf-8", "surrogatepass")
        return "hmac-sha256:" + hmac.new(self._key(), text, hashlib.sha256).hexdigest()

    def fits(self, value: Any, seal: Any) -> bool:
        """Whether a seal is that of a value.

        Raises:
            SealError: as of `of`.
        """
        return isinstance(seal, str) and hmac.compare_digest(
            self.of(value).encode(), seal.encode("utf-8", "replace")
        )

    def _key(self) -> bytes:
        given = self._environment.get(KEY_VARIABLE, "").strip()
        if given:
            if len(given) < _SHORTEST:
                raise SealError(f"{KEY_VARIABLE} has less than {_SHORTEST} characters")
            return given.encode("utf-8", "surrogateescape")
        base = self._environment.get("XDG_STATE_HOME", "")
        try:
            folder = Path(base) if base else Path.home() / ".local" / "state"
        except RuntimeError as error:
            raise SealError(
                f"no folder for a key: {error}; set {KEY_VARIABLE}"
            ) from None
        path = folder / "toolcast" / _NAME
        try:
            key = _read(path) or _made(path)
        except OSError as error:
            raise SealError(
                f"{path} cannot be used: {error.strerror or error}; set {KEY_VARIABLE}"
                " to a secret text instead"
            ) from None
        if len(key) < _SHORTEST:
            raise SealError(f"{path} holds no whole key: remove it")
        return key


def _read(path: Path) -> bytes:
    """The key of a file; empty without one."""
    try:
        return read_regular(str(path), 1024, follow=False)
    except FileNotFoundError:
        return b""


def _made(path: Path) -> bytes:
    """A new key; that of another run which is quicker."""
    above = str(path.parent)
    with Folder.at(above, create=True, mode=0o700) as folder, _alone_in(folder):
        key = _read(path)
        if not key:
            key = secrets.token_hex(32).encode()
            folder.write(path.name, key, mode=0o600, durable=True)
    return key


@contextlib.contextmanager
def _alone_in(folder: Folder) -> Iterator[None]:
    while True:
        try:
            with locked(folder):
                yield
                return
        except AnotherRun:
            time.sleep(0.05)
