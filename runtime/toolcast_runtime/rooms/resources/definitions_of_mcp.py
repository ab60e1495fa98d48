"""Reads the folders `mcp_resources/` and `mcp_prompts/` of a generated package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.definitions.definitions import DefinitionError
from ...core.definitions.module_names import module_name
from ...core.definitions.tool import Tool

if TYPE_CHECKING:
    from types import ModuleType

_SIGNATURE = re.compile(r"by Toolcast from (?:.*/)?([^/]+)\.yaml\. DO NOT EDIT\.")
_Offer = TypeVar("_Offer")


@dataclass(frozen=True, slots=True)
class McpResource:
    """A resource, or a template of resources.

    Attributes:
        name: its name.
        definition: as MCP lists it, with `uri` or `uriTemplate`.
        contents: its `text` or `blob`; None when a handler gives it.
        handler: its handler as a tool, whose parameters are the template's variables.
        values: the only values of variables of the template that have some.
        clients: who may read it; nobody else in a toolset with clients.
    """

    name: str
    definition: Mapping[str, Any]
    contents: Mapping[str, str] | None = None
    handler: Tool | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt that MCP clients offer to their people.

    Attributes:
        name: its name.
        definition: as MCP lists it.
        messages: `role` and `text` of each, with `{{argument}}` in it; None when a handler
            gives them.
        handler: its handler as a tool, whose parameters are the arguments.
        values: the only values of arguments that have some.
        clients: who may get it; nobody else in a toolset with clients.
    """

    name: str
    definition: Mapping[str, Any]
    messages: Sequence[Mapping[str, str]] | None = None
    handler: Tool | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clients: tuple[str, ...] = ()


def read_resources(package: ModuleType | None) -> tuple[McpResource, ...]:
    """The resources of a generated `mcp_resources`, by their file names.

    Raises:
        DefinitionError: one is not what was generated.
    """
    return _read(package, "resource", _resource)


def read_prompts(package: ModuleType | None) -> tuple[McpPrompt, ...]:
    """The prompts of a generated `mcp_prompts`; raises as `read_resources`."""
    return _read(package, "prompt", _prompt)


def _read(
    package: ModuleType | None,
    kind: str,
    made: Callable[[str, Mapping[str, Any]], _Offer],
) -> tuple[_Offer, ...]:
    if package is None:
        return ()
    from importlib.resources import files

    found = []
    entries = {entry.name: entry for entry in files(package).iterdir()}
    for name in sorted(name for name in entries if name.endswith(".json")):
        try:
            value = json.loads(entries[name].read_bytes())
            signed = _SIGNATURE.fullmatch(value["generated"])
            own = value["mcp"]["name"]
            if signed is None or {signed[1], name} != {own, f"{module_name(own)}.json"}:
                raise ValueError("its signature, its name and its file do not agree")
            found.append(made(own, value))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise DefinitionError(
                f"{package.__name__} cannot be loaded; `toolcast generate` writes it"
                f" again:\n- {name} is no definition of a {kind}: {error}"
            ) from None
    if not found:
        raise DefinitionError(
            f"{package.__name__} has no {kind}: the definitions have to be installed, too"
        )
    return tuple(found)


def _resource(name: str, value: Mapping[str, Any]) -> McpResource:
    definition = value["mcp"]
    contents = {key: value[key] for key in ("text", "blob") if key in value}
    if "uri" not in definition and "uriTemplate" not in definition:
        raise ValueError("it has no URI")
    return McpResource(
        name,
        definition,
        contents or None,
        _handler("resource", value),
        value.get("values", {}),
        tuple(value.get("clients", ())),
    )


def _prompt(name: str, value: Mapping[str, Any]) -> McpPrompt:
    return McpPrompt(
        name,
        value["mcp"],
        value.get("messages"),
        _handler("prompt", value),
        value.get("values", {}),
        tuple(value.get("clients", ())),
    )


def _handler(kind: str, value: Mapping[str, Any]) -> Tool | None:
    """What runs the handler: a tool of a name that no tool can have."""
    if "handler" not in value:
        return None
    declared = {name: {"type": "string"} for name in value["parameters"]}
    return Tool(
        name=f"{kind} {value['mcp']['name']}",
        summary="",
        description="",
        definition={"inputSchema": {"type": "object", "properties": declared}},
        handler=value["handler"],
        timeout=value["timeout"],
        uses=tuple(value.get("uses", ())),
        kind=kind,
    )
