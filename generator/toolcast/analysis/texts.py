"""Texts of a toolset that models or users read, with their paths in the specs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..model.model import Actions, Toolset, ToolSpec
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..parsing.tree import Path

_Part = tuple[Path, Any]
"""Path of a spec's field, and its JSON value."""

_DEFINITION_FIELDS = (
    "title summary description parameters returns annotations icons meta execution"
).split()


class ModelText(NamedTuple):
    """String of a spec.

    Attributes:
        path: the path in the spec.
        text: the string.
        is_key: whether the string is a key of an object, such as the name of a parameter.
    """

    path: Path
    text: str
    is_key: bool = False


def list_texts(tool: ToolSpec) -> Iterator[ModelText]:
    """Yield all strings of a tool that a model reads.

    Strings of the definition come first, then strings of the prompt docs.
    """
    for path, value in chain(_list_definition_fields(tool), _list_prompt_fields(tool)):
        yield from walk_strings(value, path)


def list_strings(tool: ToolSpec) -> list[str]:
    """Return the strings of `list_texts` without paths, which takes far less time."""
    strings: list[str] = []
    for _, value in chain(_list_definition_fields(tool), _list_prompt_fields(tool)):
        collect_strings(value, strings)
    return strings


def collect_strings(value: Any, strings: list[str]) -> None:
    """Append the strings of a JSON value, in the order of `walk_strings`, to a list."""
    if isinstance(value, str):
        strings.append(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            strings.append(key)
            collect_strings(member, strings)
    elif isinstance(value, (list, tuple)):
        for item in value:
            collect_strings(item, strings)


def is_in_definition(path: Path) -> bool:
    """Return whether a path of `list_texts` is in the definition of the tool.

    Otherwise the text is only in the prompt docs.
    """
    return path[0] in _DEFINITION_FIELDS or path[0] == "mcp"


def get_listed_fields(tool: ToolSpec) -> frozenset[str]:
    """Return the fields of the spec that MCP lists, other than `name`.

    If the spec has a `description` of its own, MCP does not list its `summary`.
    """
    has_both = {"summary", "description"} <= {*tool.fields}
    return frozenset(
        {*_DEFINITION_FIELDS, "mcp"} - ({"summary"} if has_both else set())
    )


def walk_strings(value: Any, path: Path) -> Iterator[ModelText]:
    """Yield the strings of a JSON value at a path; keys come before their values."""
    if isinstance(value, str):
        yield ModelText(path, value)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield ModelText((*path, key), key, is_key=True)
            yield from walk_strings(member, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from walk_strings(item, (*path, index))


def _list_definition_fields(tool: ToolSpec) -> Iterator[_Part]:
    for field in _DEFINITION_FIELDS:
        if field in tool.fields:
            yield (field,), getattr(tool, field)
    yield ("mcp", "extra"), tool.mcp_extra


def _list_prompt_fields(tool: ToolSpec) -> Iterator[_Part]:
    yield ("when_to_use",), tool.when_to_use
    yield ("guidance",), tool.guidance
    if tool.actions is not None:
        yield ("actions",), _convert_actions(tool.actions)
    if tool.cli is not None and "cli" in tool.fields:
        yield ("cli",), tool.cli._asdict()
    for index, example in enumerate(tool.examples):
        yield ("examples", index), example.as_json
    yield ("deprecated",), tool.deprecated


def _convert_actions(actions: Actions) -> dict[str, Any]:
    values = {action.name: action._asdict() for action in actions.values}
    return {"parameter": actions.parameter, "values": values}


def get_summary_field(tool: ToolSpec) -> str:
    """Return the field that the summary comes from: `summary` or `description`."""
    return "summary" if "summary" in tool.fields else "description"


Prose = Iterator[tuple[Path, str]]
"""Paths and texts of a spec's prose."""


Owner = ToolSpec | ResourceSpec | PromptSpec | Toolset
"""Spec that contains texts."""


def list_text_owners(toolset: Toolset) -> tuple[Owner, ...]:
    """Return a toolset's tools, resources and MCP prompts, and last the toolset itself."""
    return (*toolset.tools, *toolset.mcp_specs, toolset)


def list_prose(owner: Owner) -> Prose:
    """Yield the prose of a spec: the sentences and titles that users and models read."""
    if isinstance(owner, ToolSpec):
        return _list_tool_prose(owner)
    if isinstance(owner, Toolset):
        return _list_toolset_prose(owner)
    return _list_mcp_spec_prose(owner)


def _list_tool_prose(tool: ToolSpec) -> Prose:
    """Yield the texts of a tool, its parameters, actions, examples and skill.

    Empty texts, and texts that the spec does not set, are omitted.
    """
    for field in ("title", "summary", "description", "when_to_use", "guidance"):
        # An omitted field has the text of another field, which is yielded itself.
        if field in tool.fields:
            yield from _yield_text(getattr(tool, field), field)
    for field, schema in tool.schemas.items():
        for path, subschema in schema.subschemas.items():
            for keyword in ("title", "description"):
                text = subschema.get(keyword)
                yield from _yield_text(text, field, *path, keyword)
    for action in tool.actions.values if tool.actions else ():
        path = ("actions", "values", action.name, "summary")
        yield from _yield_text(action.summary, *path)
    title = (tool.annotations or {}).get("title")
    yield from _yield_text(title, "annotations", "title")
    if tool.cli:
        yield from _yield_text(tool.cli.comment, "cli", "comment")
    if tool.confirm:
        yield from _yield_text(tool.confirm.message, "confirm", "message")
    reason = (tool.deprecated or {}).get("reason")
    yield from _yield_text(reason, "deprecated", "reason")
    for index, example in enumerate(tool.examples):
        yield from _yield_text(example.title, "examples", index, "title")
        yield from _yield_text(example.error, "examples", index, "error")
    for string in walk_strings(tool.skill or {}, ("skill",)):
        if not string.is_key:
            yield string.path, string.text


def _list_mcp_spec_prose(spec: ResourceSpec | PromptSpec) -> Prose:
    """Yield the texts of a resource with its content, or of an MCP prompt."""
    yield from _yield_text(spec.title, "title")
    yield from _yield_text(spec.description, "description")
    if isinstance(spec, ResourceSpec):
        yield from _yield_text(spec.listed_name, "listed_name")
        yield from _yield_text(spec.text, "text")
        yield from _yield_text((spec.content or b"").decode("utf-8", "ignore"), "file")
        return
    for index, argument in enumerate(spec.arguments):
        yield from _yield_text(argument.description, "arguments", index, "description")
    for index, message in enumerate(spec.messages):
        yield from _yield_text(message.text, "messages", index, "text")


def _list_toolset_prose(toolset: Toolset) -> Prose:
    """Yield the texts of toolset.yaml: its skill, sections, permissions and target options."""
    yield from _yield_text(toolset.title, "title")
    yield from _yield_text(toolset.instructions, "instructions")
    yield from _yield_text(toolset.preamble_heading, "preamble", "heading")
    yield from _yield_text(toolset.preamble_intro, "preamble", "intro")
    for string in walk_strings(toolset.skill, ("skill",)):
        if not string.is_key:
            yield string.path, string.text
    for section in toolset.sections:
        for field in ("heading", "label", "intro", "footer"):
            text = getattr(section, field)
            yield from _yield_text(text, "sections", section.name, field)
    for name, meaning in toolset.permissions.items():
        yield ("permissions", name), meaning
    for name, options in toolset.targets.items():
        for option in ("heading", "intro"):
            yield from _yield_text(options.get(option), "targets", name, option)
        # Options of an extension's target can have any type.
        closing = options.get("closing")
        for index, line in enumerate(closing if isinstance(closing, list) else ()):
            yield from _yield_text(line, "targets", name, "closing", index)


def _yield_text(text: Any, *path: str | int) -> Prose:
    if isinstance(text, str) and text:
        yield path, text
