"""Spec fields of an imported tool, and the text of new spec files."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from toolcast_runtime.core.definitions.tool import extract_first_sentence

from ..analysis.mcp_definitions import build_mcp_definition
from ..encoders.yaml_block import encode_entry
from ..model.language_fields import get_mcp_members
from ..model.model import Toolset, ToolSpec

_MAX_SUMMARY_CHARACTERS = 200
"""Length of a line that can be a summary."""
_TASK_SUPPRESSION = {
    "rule": "access/task-support",
    "reason": "The server that it comes from runs it as a task only.",
}


def build_spec_fields(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a new spec, from which exactly the tool's definition is generated.

    Members that MCP does not define become `mcp.extra`. For a tool without a description,
    `mcp.omit` removes the generated one, and the summary is the tool's title or name.
    """
    fields: dict[str, Any] = {}
    for member, value in tool.items():
        if member == "name":
            fields["name"] = value
            if not extract_first_sentence(tool.get("description") or ""):
                # Placed after the name for readers; a definition has no member for it.
                fields["summary"] = _build_summary(tool)
        elif member in get_mcp_members():
            fields[get_mcp_members()[member]] = value
        else:
            fields.setdefault("mcp", {}).setdefault("extra", {})[member] = value
    if "description" not in tool:
        fields.setdefault("mcp", {})["omit"] = ["description"]
    return fields


def merge_spec_fields(
    spec: Mapping[str, Any], tool: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of an existing spec after an import of its tool.

    Args:
        spec: the parsed spec file.
        tool: the listed tool.

    Returns:
        The fields of `build_spec_fields`, without a summary if the spec's own one can stay,
        and with the spec's own settings below `mcp`.
    """
    fields = build_spec_fields(tool)
    if "description" not in spec and _is_summary_line(fields.get("description")):
        # A spec without `description` uses its summary as the description.
        fields = {
            "summary" if field == "description" else field: value
            for field, value in fields.items()
        }
    if "summary" in spec and ("description" in fields or "description" not in tool):
        # The server does not list the summary, so that its text belongs to the spec's author.
        fields.pop("summary", None)
    mcp = spec.get("mcp")
    if isinstance(mcp, Mapping):
        own_settings = {k: v for k, v in mcp.items() if k not in ("extra", "omit")}
        if own_settings or "mcp" in fields:
            fields["mcp"] = {**own_settings, **fields.get("mcp", {})}
    return fields


def _is_summary_line(text: Any) -> bool:
    is_single_line = isinstance(text, str) and text.splitlines() == [text]
    return (
        is_single_line and bool(text.strip()) and len(text) <= _MAX_SUMMARY_CHARACTERS
    )


def _build_summary(tool: Mapping[str, Any]) -> str:
    """Return the printable title of a tool as one line, or its name without a title."""
    title = str(tool.get("title") or "")
    printable_title = "".join(c for c in title if c.isprintable())
    return " ".join(printable_title.split()) or tool["name"]


def encode_spec(
    schemas: str | None, file: str, kind: str, fields: Mapping[str, Any]
) -> bytes:
    """Encode a spec file, with the comment by which editors find its JSON Schema.

    Args:
        schemas: the path of the project's schemas, with `{}` for the kind; None omits the
            comment.
        file: the path of the spec file, relative to the project's root.
        kind: the kind of file: `tool`, `toolset`, `workspace`, ...
        fields: the fields as JSON values, in the order in which they are written.
    """
    comment = ""
    if schemas is not None:
        path = posixpath.relpath(schemas.format(kind), posixpath.dirname(file))
        comment = f"# yaml-language-server: $schema={path}\n"
    entries = (str(encode_entry(key, value)) for key, value in fields.items())
    return "".join((comment, *entries)).encode()


def build_required_fields(
    toolset: Toolset | None, tool: Mapping[str, Any]
) -> dict[str, Any]:
    """Return fields that rules require in addition to the tool's definition.

    Args:
        toolset: the toolset whose targets require fields; None for a new toolset.
        tool: the listed tool.
    """
    fields: dict[str, Any] = {}
    if toolset is not None and "cli" in toolset.targets:
        fields["cli"] = {"keyword": None, "reason": "It was imported without one."}
    if toolset is not None and "prompts" in toolset.targets and toolset.sections:
        fields["section"] = toolset.sections[0].name
    execution = tool.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        fields["suppress"] = [_TASK_SUPPRESSION]
    return fields


def is_unmodified_import(
    toolset: Toolset,
    schemas: str | None,
    tool: ToolSpec,
    *,
    has_handlers: bool = False,
) -> bool:
    """Return whether a spec has exactly the text and values that an import writes.

    Args:
        toolset: the toolset.
        schemas: the path of the project's schemas.
        tool: the spec.
        has_handlers: whether the import writes `handler`, too.
    """
    source = tool.source
    text = source.data.replace(b"\r\n", b"\n")
    if text != encode_spec(schemas, source.file, "tool", source.tree):
        return False
    definition = build_mcp_definition(tool)
    imported_fields = {
        **build_spec_fields(definition),
        **merge_spec_fields(source.tree, definition),
        **build_required_fields(toolset, definition),
    }
    return all(
        field == "order"
        or (has_handlers and field == "handler")
        or (field in imported_fields and imported_fields[field] == value)
        for field, value in source.tree.items()
    )
