"""The fields of a tool's spec that say what its source lists, in the source's order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .source import MEMBERS

__all__ = ["fields_of", "said_of", "summary_of"]

_LONGEST_SUMMARY = 120
_SENTENCE = re.compile(r"(.*?[.!?])(?:\s|$)")


def fields_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What a new spec says of a tool, from which MCP's definition is made key for key.

    A member that MCP does not define goes to `mcp.extra`; where the tool has no description,
    `mcp.omit` says so. A description of one short line is the summary, and not said twice.
    """
    fields: dict[str, Any] = {}
    for member, value in tool.items():
        if member == "name":
            fields["name"] = value
        elif member == "description" and _is_summary(value):
            fields["summary"] = value
        elif member in MEMBERS:
            fields[MEMBERS[member]] = value
        else:
            fields.setdefault("mcp", {}).setdefault("extra", {})[member] = value
    if "description" not in tool:
        fields.setdefault("mcp", {})["omit"] = ["description"]
    if "summary" in fields:
        return fields
    # Behind the name, where a reader looks for it; it has no place in MCP's definition.
    made: dict[str, Any] = {}
    for field, value in fields.items():
        made[field] = value
        if field == "name":
            made["summary"] = summary_of(tool)
    return made


def said_of(spec: Mapping[str, Any], tool: Mapping[str, Any]) -> dict[str, Any]:
    """`fields_of` for a tool that has a spec, whose own summary stays where it may."""
    fields = fields_of(tool)
    if "description" in spec and "description" not in fields and "summary" in fields:
        fields = {"description" if k == "summary" else k: v for k, v in fields.items()}
    if "description" in fields or "description" not in tool:
        # It is no part of what is listed, so that it is its author's.
        fields.pop("summary", None)
    mcp = spec.get("mcp")
    if isinstance(mcp, Mapping):
        own = {k: v for k, v in mcp.items() if k not in ("extra", "omit")}
        if own or "mcp" in fields:
            fields["mcp"] = {**own, **fields.get("mcp", {})}
    return fields


def summary_of(tool: Mapping[str, Any]) -> str:
    """One line: the first sentence that the tool says of itself, else its name."""
    for member in ("description", "title"):
        for line in str(tool.get(member) or "").splitlines():
            words = " ".join("".join(c for c in line if c.isprintable()).split())
            if words:
                return _short(words)
    return str(tool["name"])


def _short(words: str) -> str:
    if len(words) <= _LONGEST_SUMMARY:
        return words
    sentence = _SENTENCE.match(words)
    if sentence and len(sentence[1]) <= _LONGEST_SUMMARY:
        return sentence[1]
    return words[: _LONGEST_SUMMARY - 4].rpartition(" ")[0] + " ..."


def _is_summary(value: Any) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_SUMMARY
        and value == value.strip()
        and value.isprintable()
    )
