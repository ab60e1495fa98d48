"""Resources and MCP prompts, as their specs say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..reading.tree import NOWHERE, Source

__all__ = [
    "HandlerReference",
    "PromptArgument",
    "PromptMessage",
    "PromptSpec",
    "ResourceSpec",
    "Suppression",
]


class Suppression(NamedTuple):
    """A finding that is accepted, with the reason."""

    rule: str
    reason: str
    until: str | None = None


class HandlerReference(NamedTuple):
    """`module:function`, or `module:Class` for a type."""

    module: str
    function: str

    @classmethod
    def parse(cls, text: str) -> HandlerReference:
        """The reference that a well-formed `module:function` names."""
        module, _, function = text.partition(":")
        return cls(module, function)

    def __str__(self) -> str:
        return f"{self.module}:{self.function}"


@dataclass(frozen=True, eq=False)
class ResourceSpec:
    """A resource, or a template of resources.

    `content` is what `file` holds, None where it names none. `variables` are those of the
    template that have some values only.
    """

    name: str
    title: str | None = None
    description: str | None = None
    uri: str | None = None
    uri_template: str | None = None
    mime_type: str | None = None
    text: str | None = None
    file: str | None = None
    content: bytes | None = None
    handler: HandlerReference | None = None
    uses: tuple[str, ...] = ()
    timeout: float | None = None
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clients: tuple[str, ...] | None = None
    suppress: tuple[Suppression, ...] = ()
    source: Source = field(default=NOWHERE, repr=False)

    kind = "resource"

    @property
    def mcp(self) -> dict[str, Any]:
        """The resource as MCP lists it."""
        listed = {
            "name": self.name,
            "title": self.title,
            "uri": self.uri,
            "uriTemplate": self.uri_template,
            "description": self.description,
            "mimeType": self.mime_type,
        }
        return {key: value for key, value in listed.items() if value is not None}


class PromptArgument(NamedTuple):
    """What is asked of whoever uses a prompt."""

    name: str
    description: str | None = None
    required: bool = False
    enum: tuple[str, ...] = ()

    @property
    def mcp(self) -> dict[str, Any]:
        """The argument as MCP lists it."""
        listed: dict[str, Any] = {"name": self.name}
        if self.description is not None:
            listed["description"] = self.description
        return {**listed, "required": True} if self.required else listed


class PromptMessage(NamedTuple):
    """What a prompt says, with `{{name}}` for an argument."""

    text: str
    role: str = "user"


@dataclass(frozen=True, eq=False)
class PromptSpec:
    """A prompt that MCP clients offer to their people."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    messages: tuple[PromptMessage, ...] = ()
    handler: HandlerReference | None = None
    uses: tuple[str, ...] = ()
    timeout: float | None = None
    clients: tuple[str, ...] | None = None
    suppress: tuple[Suppression, ...] = ()
    source: Source = field(default=NOWHERE, repr=False)

    kind = "prompt"

    @property
    def mcp(self) -> dict[str, Any]:
        """The prompt as MCP lists it."""
        arguments = [argument.mcp for argument in self.arguments]
        listed = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": arguments or None,
        }
        return {key: value for key, value in listed.items() if value is not None}
