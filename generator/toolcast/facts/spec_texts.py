"""The texts of a spec that people and models read, each with its path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ..model.model import Toolset, ToolSpec
from ..reading.tree import Path
from .model_texts import texts_in

__all__ = [
    "Owner",
    "prose_of",
    "prose_of_mcp_spec",
    "prose_of_tool",
    "prose_of_toolset",
]

Prose = Iterator[tuple[Path, str]]


Owner = ToolSpec | ResourceSpec | PromptSpec | Toolset
"""What has texts."""


def prose_of(toolset: Toolset) -> Iterator[tuple[Owner, Path, str]]:
    """The texts of a toolset's tools, resources and MCP prompts, then its own.

    Each comes with whose it is.
    """
    for tool in toolset.tools:
        for path, text in prose_of_tool(tool):
            yield tool, path, text
    for spec in toolset.mcp_specs:
        for path, text in prose_of_mcp_spec(spec):
            yield spec, path, text
    for path, text in prose_of_toolset(toolset):
        yield toolset, path, text


def prose_of_tool(tool: ToolSpec) -> Prose:
    """A tool's texts: its own, its parameters', its actions', its examples', its skill's."""
    for field in ("title", "summary", "description", "when_to_use", "guidance"):
        yield from _text(getattr(tool, field), field)
    for field, schema in tool.schemas.items():
        for path, subschema in schema.subschemas.items():
            for keyword in ("title", "description"):
                yield from _text(subschema.get(keyword), field, *path, keyword)
    for action in tool.actions.values if tool.actions else ():
        yield from _text(action.summary, "actions", "values", action.name, "summary")
    yield from _text((tool.annotations or {}).get("title"), "annotations", "title")
    yield from _text(tool.cli.comment if tool.cli else None, "cli", "comment")
    yield from _text(
        tool.confirm.message if tool.confirm else None, "confirm", "message"
    )
    yield from _text((tool.deprecated or {}).get("reason"), "deprecated", "reason")
    for index, example in enumerate(tool.examples):
        yield from _text(example.title, "examples", index, "title")
        yield from _text(example.error, "examples", index, "error")
    for found in texts_in(tool.skill or {}, ("skill",)):
        if not found.is_key:
            yield found.path, found.text


def prose_of_mcp_spec(spec: ResourceSpec | PromptSpec) -> Prose:
    """The texts of a resource, what it holds among them, or of an MCP prompt."""
    yield from _text(spec.title, "title")
    yield from _text(spec.description, "description")
    if isinstance(spec, ResourceSpec):
        yield from _text(spec.text, "text")
        yield from _text((spec.content or b"").decode("utf-8", "ignore"), "file")
        return
    for index, argument in enumerate(spec.arguments):
        yield from _text(argument.description, "arguments", index, "description")
    for index, message in enumerate(spec.messages):
        yield from _text(message.text, "messages", index, "text")


def prose_of_toolset(toolset: Toolset) -> Prose:
    """A toolset's texts: its own, its sections', its CLI block's."""
    yield from _text(toolset.title, "title")
    yield from _text(toolset.instructions, "instructions")
    yield from _text(toolset.preamble_heading, "preamble", "heading")
    yield from _text(toolset.preamble_intro, "preamble", "intro")
    for found in texts_in(toolset.skill, ("skill",)):
        if not found.is_key:
            yield found.path, found.text
    for section in toolset.sections:
        for field in ("heading", "label", "intro", "footer"):
            yield from _text(getattr(section, field), "sections", section.name, field)
    for name, meaning in toolset.permissions.items():
        yield ("permissions", name), meaning
    for name, options in toolset.targets.items():
        for option in ("heading", "intro"):
            yield from _text(options.get(option), "targets", name, option)
        # The options of a target that nobody knows may be anything.
        closing = options.get("closing")
        for index, line in enumerate(closing if isinstance(closing, list) else ()):
            yield from _text(line, "targets", name, "closing", index)


def _text(text: Any, *path: str | int) -> Prose:
    if isinstance(text, str) and text:
        yield path, text
