"""Names JSON values by what they say."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def compute_digest(value: Any) -> str:
    """`sha256:` and the digest of a JSON value; the order of keys does not count."""
    text = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    ).encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(text).hexdigest()
