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


@dataclass(frozen=True, slots=True)
class _Offer:
    """What an MCP client is offered beside tools.

    Attributes:
        name: its name.
        definition: as MCP lists it.
        held: what there is of it without a handler; None when a handler gives it.
        handler: its handler as a tool, whose parameters are the variables or arguments.
        values: the only values of variables or arguments that have some.
        clients: who may have it; nobody else in a toolset with clients.
    """

    name: str
    definition: Mapping[str, Any]
    held: Any = None
    handler: Tool | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clients: tuple[str, ...] = ()


class McpResource(_Offer):
    """A resource with a `uri`, or a template of resources with a `uriTemplate`.

    What it holds is a mapping with its `text` or its `blob`.
    """

    __slots__ = ()


class McpPrompt(_Offer):
    """A prompt that MCP clients offer to their people.

    What it holds is the `role` and `text` of each message, with `{{argument}}` in it.
    """

    __slots__ = ()


_AnOffer = TypeVar("_AnOffer", bound=_Offer)


def read_resources(package: ModuleType | None) -> tuple[McpResource, ...]:
    """The resources of a generated `mcp_resources`, by their file names.

    Raises:
        DefinitionError: one is not what was generated.
    """
    return _read(package, "resource", McpResource, _contents)


def read_prompts(package: ModuleType | None) -> tuple[McpPrompt, ...]:
    """The prompts of a generated `mcp_prompts`; raises as `read_resources`."""
    return _read(package, "prompt", McpPrompt, lambda value: value.get("messages"))


def _read(
    package: ModuleType | None,
    kind: str,
    made: type[_AnOffer],
    held: Callable[[Mapping[str, Any]], Any],
) -> tuple[_AnOffer, ...]:
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
            offer = made(
                own,
                value["mcp"],
                held(value),
                _handler(kind, value),
                value.get("values", {}),
                tuple(value.get("clients", ())),
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise DefinitionError(
                f"{package.__name__} cannot be loaded; `toolcast generate` writes it"
                f" again:\n- {name} is no definition of a {kind}: {error}"
            ) from None
        found.append(offer)
    if not found:
        raise DefinitionError(
            f"{package.__name__} has no {kind}: the definitions have to be installed, too"
        )
    return tuple(found)


def _contents(value: Mapping[str, Any]) -> Mapping[str, str] | None:
    if "uri" not in value["mcp"] and "uriTemplate" not in value["mcp"]:
        raise ValueError("it has no URI")
    return {key: value[key] for key in ("text", "blob") if key in value} or None


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
