"""The spec of a listed tool, as an import writes it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from toolcast_runtime.core.definitions.tool import extract_first_sentence

from ..analysis.mcp_definitions import build_mcp_definition
from ..encoders.yaml_block import encode_entry
from ..model.language_fields import mcp_members
from ..model.model import Toolset, ToolSpec

_MAX_SUMMARY_CHARACTERS = 200
"""Length of a line that can be a summary."""
_TASKS = {
    "rule": "access/task-support",
    "reason": "The server that it comes from runs it as a task only.",
}


def fields_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What a new spec says of a tool, from which MCP's definition is made key for key.

    A member that MCP does not define goes to `mcp.extra`; where the tool has no description,
    `mcp.omit` says so, and the summary is its title or name.
    """
    fields: dict[str, Any] = {}
    for member, value in tool.items():
        if member == "name":
            fields["name"] = value
            if not extract_first_sentence(tool.get("description") or ""):
                # Here a reader looks for it; it has no place in MCP's definition.
                fields["summary"] = _summary_of(tool)
        elif member in mcp_members():
            fields[mcp_members()[member]] = value
        else:
            fields.setdefault("mcp", {}).setdefault("extra", {})[member] = value
    if "description" not in tool:
        fields.setdefault("mcp", {})["omit"] = ["description"]
    return fields


def said_of(spec: Mapping[str, Any], tool: Mapping[str, Any]) -> dict[str, Any]:
    """`fields_of` for a tool that has a spec, whose own summary stays where it may."""
    fields = fields_of(tool)
    if "description" not in spec and _is_line(fields.get("description")):
        # The spec says it as the summary.
        fields = {"summary" if k == "description" else k: v for k, v in fields.items()}
    if "summary" in spec and ("description" in fields or "description" not in tool):
        # It is no part of what is listed, so that it is its author's.
        fields.pop("summary", None)
    mcp = spec.get("mcp")
    if isinstance(mcp, Mapping):
        own = {k: v for k, v in mcp.items() if k not in ("extra", "omit")}
        if own or "mcp" in fields:
            fields["mcp"] = {**own, **fields.get("mcp", {})}
    return fields


def _is_line(text: Any) -> bool:
    is_one = isinstance(text, str) and text.splitlines() == [text]
    return is_one and bool(text.strip()) and len(text) <= _MAX_SUMMARY_CHARACTERS


def _summary_of(tool: Mapping[str, Any]) -> str:
    """One line for a tool that does not describe itself: its title, else its name."""
    title = str(tool.get("title") or "")
    return (
        " ".join("".join(c for c in title if c.isprintable()).split()) or tool["name"]
    )


def spec_text(
    schemas: str | None, file: str, kind: str, fields: Mapping[str, Any]
) -> bytes:
    """A spec file, which begins with the line by which editors complete and check it.

    Args:
        schemas: where the project has its schemas, `{}` for the kind; None leaves the line
            out.
        file: where it will be, relative to the project's root.
        kind: of `KINDS`.
        fields: JSON, in the order in which they are written.
    """
    opening = ""
    if schemas is not None:
        path = posixpath.relpath(schemas.format(kind), posixpath.dirname(file))
        opening = f"# yaml-language-server: $schema={path}\n"
    lines = (str(encode_entry(key, value)) for key, value in fields.items())
    return "".join((opening, *lines)).encode()


def needed_fields(toolset: Toolset | None, tool: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that the toolset asks of each tool, as far as an import can say them."""
    more: dict[str, Any] = {}
    if toolset is not None and "cli" in toolset.targets:
        more["cli"] = {"keyword": None, "reason": "It was imported without one."}
    if toolset is not None and "prompts" in toolset.targets and toolset.sections:
        more["section"] = toolset.sections[0].name
    execution = tool.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        more["suppress"] = [_TASKS]
    return more


def is_untouched(toolset: Toolset, schemas: str | None, tool: ToolSpec) -> bool:
    """Whether a spec is as an import writes it, to the letter."""
    source = tool.source
    if source.data.replace(b"\r\n", b"\n") != spec_text(
        schemas, source.file, "tool", source.tree
    ):
        return False
    definition = build_mcp_definition(tool)
    made = {**fields_of(definition), **said_of(source.tree, definition)}
    made |= needed_fields(toolset, definition)
    return all(
        field == "order" or (field in made and made[field] == value)
        for field, value in source.tree.items()
    )
