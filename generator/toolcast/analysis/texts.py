"""Every text of a toolset that a model or a person reads, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..model.model import Actions, Toolset, ToolSpec
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..parsing.tree import Path

_Part = tuple[Path, Any]
"""A value of a spec that is JSON, and where it stands."""

_DEFINITION = (
    "title summary description parameters returns annotations icons meta execution"
).split()


class ModelText(NamedTuple):
    """One string of a spec.

    Attributes:
        path: where it stands in the spec.
        text: the string.
        is_key: it is the key of a mapping, a parameter's name for one.
    """

    path: Path
    text: str
    is_key: bool = False


def list_texts(tool: ToolSpec) -> Iterator[ModelText]:
    """Every string that a model reads: of the definition and of the prompt docs."""
    for path, value in chain(_definition(tool), _prose(tool)):
        yield from walk_strings(value, path)


def list_strings(tool: ToolSpec) -> list[str]:
    """The strings of `all_texts` without their places, which take longer by far."""
    found: list[str] = []
    for _, value in chain(_definition(tool), _prose(tool)):
        collect_strings(value, found)
    return found


def collect_strings(value: Any, found: list[str]) -> None:
    """Adds the strings of a value as `texts_in` gives them, without their paths."""
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            found.append(key)
            collect_strings(inner, found)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            collect_strings(inner, found)


def is_in_definition(path: Path) -> bool:
    """Whether a text of `all_texts` is of the definition: of names, enums, defaults, too."""
    return path[0] in _DEFINITION or path[0] == "mcp"


def get_listed_fields(tool: ToolSpec) -> frozenset[str]:
    """The fields that hold what MCP lists of a tool beside its name."""
    is_own = {"summary", "description"} <= {*tool.fields}
    return frozenset({*_DEFINITION, "mcp"} - ({"summary"} if is_own else set()))


def walk_strings(value: Any, path: Path) -> Iterator[ModelText]:
    """The strings of a value that stands at a path, keys before what they lead to."""
    if isinstance(value, str):
        yield ModelText(path, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield ModelText((*path, key), key, is_key=True)
            yield from walk_strings(inner, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from walk_strings(inner, (*path, index))


def _definition(tool: ToolSpec) -> Iterator[_Part]:
    for field in filter(tool.fields.__contains__, _DEFINITION):
        yield (field,), getattr(tool, field)
    yield ("mcp", "extra"), tool.mcp_extra


def _prose(tool: ToolSpec) -> Iterator[_Part]:
    yield ("when_to_use",), tool.when_to_use
    yield ("guidance",), tool.guidance
    if tool.actions is not None:
        yield ("actions",), _actions(tool.actions)
    if tool.cli is not None and "cli" in tool.fields:
        yield ("cli",), tool.cli._asdict()
    for index, example in enumerate(tool.examples):
        yield ("examples", index), example.as_json
    yield ("deprecated",), tool.deprecated


def _actions(actions: Actions) -> dict[str, Any]:
    values = {action.name: action._asdict() for action in actions.values}
    return {"parameter": actions.parameter, "values": values}


def get_summary_field(tool: ToolSpec) -> str:
    """The field that the summary is read from."""
    return "summary" if "summary" in tool.fields else "description"


Prose = Iterator[tuple[Path, str]]


Owner = ToolSpec | ResourceSpec | PromptSpec | Toolset
"""What has texts."""


def list_text_owners(toolset: Toolset) -> tuple[Owner, ...]:
    """Its tools, resources and MCP prompts, then the toolset itself."""
    return (*toolset.tools, *toolset.mcp_specs, toolset)


def list_prose(owner: Owner) -> Prose:
    """The sentences of a spec that people and models read."""
    if isinstance(owner, ToolSpec):
        return _prose_of_tool(owner)
    if isinstance(owner, Toolset):
        return _prose_of_toolset(owner)
    return _prose_of_mcp_spec(owner)


def _prose_of_tool(tool: ToolSpec) -> Prose:
    """A tool's texts: its own, its parameters', its actions', its examples', its skill's."""
    for field in ("title", "summary", "description", "when_to_use", "guidance"):
        if field in tool.fields:
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
    for found in walk_strings(tool.skill or {}, ("skill",)):
        if not found.is_key:
            yield found.path, found.text


def _prose_of_mcp_spec(spec: ResourceSpec | PromptSpec) -> Prose:
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


def _prose_of_toolset(toolset: Toolset) -> Prose:
    """A toolset's texts: its own, its sections', its CLI block's."""
    yield from _text(toolset.title, "title")
    yield from _text(toolset.instructions, "instructions")
    yield from _text(toolset.preamble_heading, "preamble", "heading")
    yield from _text(toolset.preamble_intro, "preamble", "intro")
    for found in walk_strings(toolset.skill, ("skill",)):
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
