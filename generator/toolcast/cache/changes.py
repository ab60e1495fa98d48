"""Which fields of a spec have another value than in an earlier run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ..spec.model import ToolSpec
from .deferred import OUTLINE

__all__ = ["changed_fields", "digests_of"]

_LENGTH = 16


def digests_of(tool: ToolSpec) -> str:
    """The digests of the fields that an outline does not hold, in the spec's order."""
    value: Mapping[str, Any] = tool.document.value if tool.document else {}
    return "".join(
        [
            hashlib.sha256(_text(value[field]).encode()).hexdigest()[:_LENGTH]
            for field in value
            if field not in OUTLINE
        ]
    )


def changed_fields(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """The fields whose values differ, or that came or went; `fields` when those, or their
    order, are others.

    Args:
        before: `outline` and `digests` of a spec.
        now: the same of another one.
    """
    old, new = _by_field(before), _by_field(now)
    changed = {field for field in {*old, *new} if old.get(field) != new.get(field)}
    if list(old) != list(new):
        changed.add("fields")
    return frozenset(changed)


def _by_field(known: Mapping[str, Any]) -> dict[str, str]:
    outline, digests = known["outline"], known["digests"]
    texts: dict[str, str] = {}
    at = 0
    for field in outline["fields"]:
        if field in outline["values"]:
            texts[field] = _text(outline["values"][field])
        else:
            texts[field] = digests[at : at + _LENGTH]
            at += _LENGTH
    return texts


def _text(value: Any) -> str:
    """A JSON value as text, with its keys in their order; 1 and True are equal and have
    different ones. Python writes it in half the time that JSON takes."""
    return repr(value)
