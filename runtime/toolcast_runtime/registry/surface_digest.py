"""Digests of what a tool shows, to pin it and to compare a live server with what was pinned.

A digest is SHA-256 over canonical JSON: UTF-8 without white space, the keys of every object
in the order of their UTF-16 code units, strings and escapes as RFC 8785 writes them. Unlike
RFC 8785, numbers keep their spelling: `1` and `1.0` are different schemas for some readers, so
they have different digests; integers have all of their digits; floats are written as Python
does, `1e-07` for one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Drift", "canonical_json", "compare_with_manifest", "digest_of"]


def canonical_json(value: Any) -> bytes:
    """The one spelling of a JSON value.

    Raises:
        ValueError: the value is not JSON, has a lone surrogate or is nested too deeply.
    """
    try:
        # The order of ASCII keys is the same by code units and by code points.
        is_ascii = _has_ascii_keys(value)
        text = json.dumps(
            value if is_ascii else _in_order(value),
            ensure_ascii=False,
            separators=(",", ":"),
            allow_nan=False,
            sort_keys=is_ascii,
        )
        # RFC 8785 leaves U+007F as it is, and so does Python.
        return text.encode("utf-8")
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from None


def _has_ascii_keys(value: Any) -> bool:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            try:
                if not "".join(part).isascii():
                    return False
            except TypeError:  # a key is not text
                return False
            waiting += part.values()
        elif isinstance(part, (list, tuple)):
            waiting += part
    return True


def _in_order(value: Any) -> Any:
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key is not text")
        return {key: _in_order(value[key]) for key in sorted(value, key=_code_units)}
    if isinstance(value, (list, tuple)):
        return [_in_order(item) for item in value]
    return value


def _code_units(key: str) -> bytes:
    return key.encode("utf-16-be")


def digest_of(value: Any) -> str:
    """`sha256:` and the hexadecimal digest of a JSON value's canonical JSON.

    For a tool as `tools/list` shows it, this is the manifest's `definition` digest. Take
    the JSON as the server sends it: the SDKs' models drop nulls and unknown keys.

    Raises:
        ValueError: the value is not JSON.
    """
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()


@dataclass(frozen=True)
class Drift:
    """How a live list of tools differs from the manifest, by the tools' names.

    Attributes:
        changed: shown otherwise than pinned, or shown twice.
        added: shown, and not pinned.
        missing: pinned, and not shown; a client may be offered fewer tools than there are.
    """

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether the live list is exactly what was pinned."""
        return not (self.changed or self.added or self.missing)


def compare_with_manifest(
    manifest: Mapping[str, Any], toolset: str, tools: Iterable[Mapping[str, Any]]
) -> Drift:
    """Compares the tools of a server's `tools/list` with a toolset of MANIFEST.json.

    Raises:
        LookupError: the manifest has no such toolset.
        ValueError: a tool is not JSON.
    """
    pinned: Mapping[str, Any] = manifest["toolsets"][toolset]
    seen: set[str] = set()
    changed: set[str] = set()
    for tool in tools:
        name = str(tool.get("name"))
        is_same = name in pinned and digest_of(tool) == pinned[name]["definition"]
        if name in seen or (name in pinned and not is_same):
            changed.add(name)
        seen.add(name)
    return Drift(
        tuple(sorted(changed)),
        tuple(sorted(seen - set(pinned))),
        tuple(sorted(set(pinned) - seen)),
    )
