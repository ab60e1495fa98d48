"""Digests of JSON values."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def compute_digest(value: Any) -> str:
    """Return the SHA-256 digest of a JSON value, with the prefix `sha256:`.

    The order of object keys does not change the digest.
    """
    # Sorted keys and fixed separators give equal values the same digest. A JSON string
    # can contain a lone surrogate, which UTF-8 cannot encode without `surrogatepass`.
    text = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    ).encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(text).hexdigest()
