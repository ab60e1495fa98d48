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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["KEY_VARIABLE", "Seal", "SealError"]

KEY_VARIABLE = "TOOLCAST_LETTA_KEY"
_SHORTEST = 16
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


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
        path = folder / "toolcast" / "letta.key"
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
    """The key of a file; empty without one. A pipe or a device is never waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT)
    except FileNotFoundError:
        return b""
    with os.fdopen(handle, "rb") as stream:
        return stream.read(1024)


def _made(path: Path) -> bytes:
    """A new key; that of another run which is quicker."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
    handle = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_hex(32).encode())
            stream.flush()
            os.fsync(stream.fileno())
        # A link is made only where there is no file yet.
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
    return _read(path)
