"""Bearer tokens from the environment or from files, changed without a restart.

During a change a variable or file holds the old and the new one, apart by white space: a token
has none in it (RFC 6750, section 2.1). A file is what systemd credentials, Docker and Kubernetes
secrets are; it is read again when it changes.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
from typing import TYPE_CHECKING

from ...core.files.regular_file import read_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

_logger = logging.getLogger("toolcast.http")


class Tokens:
    """The tokens that open one endpoint; any of them does.

    Args:
        name: the variable that they come from.
        tokens: those of the variable.
        path: the file that holds them instead.
    """

    def __init__(
        self, name: str, tokens: tuple[str, ...] = (), path: str | None = None
    ) -> None:
        self.name = name
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._digests = frozenset(map(_digest, tokens))

    @classmethod
    def of(cls, name: str, environment: Mapping[str, str]) -> Tokens | None:
        """Those of a variable; None when nothing is set.

        Raises:
            ValueError: the file cannot be read, has no token, or both are set.
        """
        given = tuple(environment.get(name, "").split())
        path = environment.get(f"{name}_FILE", "").strip()
        if not path:
            return cls(name, given) if given else None
        if given:
            raise ValueError(f"set {name} or {name}_FILE, not both")
        tokens = cls(name, path=path)
        tokens.digests()
        if not tokens._digests:
            raise ValueError(f"the file that {name}_FILE names has no token to read")
        return tokens

    def digests(self) -> frozenset[bytes]:
        """Of the tokens that hold now; none while the file cannot be read."""
        if self._path is not None:
            try:
                seen = os.stat(self._path)
                now = seen.st_ino, seen.st_mtime_ns, seen.st_size
                if now != self._seen:
                    found = frozenset(map(_digest, read_secret(self._path).split()))
                    if self._seen is not None:
                        _logger.info("the tokens of %s were read again", self.name)
                    self._digests, self._seen = found, now
            except (OSError, ValueError):
                if self._digests:
                    _logger.error("the file that %s_FILE names is gone", self.name)
                self._digests, self._seen = frozenset(), None
        return self._digests

    def holds(self, token: str) -> bool:
        """Whether it is one of them, in a time that tells nothing of them."""
        given = _digest(token)
        # All are compared, whichever is right.
        return sum(hmac.compare_digest(given, each) for each in self.digests()) > 0


def _digest(token: str) -> bytes:
    """Of one length for every token, so that comparing takes one time."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
