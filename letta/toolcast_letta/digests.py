"""Digests of JSON values."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def compute_digest(value: Any) -> str:
    """Return the SHA-256 digest of a JSON value, with the prefix `sha256:`.

    The order of object keys does not change the digest.
    """
    text = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    ).encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(text).hexdigest()
