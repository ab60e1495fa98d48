"""What a toolset has beside its tools: clients, resources, prompts, shared definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..json_schema.graph import JsonSchema, Reference
from ..parsing.tree import NOWHERE, SHARED, Source
from .language_fields import language_default


class NameEntry(NamedTuple):
    """An entry of a list: `search_code`, `search_*`, `section:search` or `FIELD:FACT`.

    `names` are the tools that it stands for; a plain name stands for itself.
    """

    text: str
    names: tuple[str, ...]

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for what it does not name: no tool's name has such characters."""
        return "*" in self.text or ":" in self.text

    @property
    def matched_path(self) -> tuple[str, ...]:
        """Where a tool says that the entry stands for it: its name, its section or a fact."""
        kind, separator, what = self.text.partition(":")
        if not separator:
            return ("name",)
        return (kind,) if kind == "section" else (kind, what)


@dataclass(frozen=True)
class Client:
    """Who may see and call tools. `allow` is None for every tool.

    `allow` and `deny` are names of tools; `allow_entries` and `deny_entries` are
    what the spec has, with its patterns. `kind` is the program or provider that it is, one of `facts.client_kinds`; with
    `client_confirms` that program asks a person itself where a tool has a `confirm`.
    """

    name: str
    title: str = ""
    allow: tuple[str, ...] | None = ()
    deny: tuple[str, ...] = ()
    path: str | None = None
    token_variable: str | None = None
    permissions: tuple[str, ...] = ()
    kind: str | None = None
    client_confirms: bool = language_default("toolset.clients.*.client_confirms")
    allow_entries: tuple[NameEntry, ...] = ()
    deny_entries: tuple[NameEntry, ...] = ()

    def allows(self, tool: str) -> bool:
        """Whether the client's own lists let it have a tool."""
        return tool not in self.deny and (self.allow is None or tool in self.allow)

    def get_entry_texts(self, key: str) -> list[str]:
        """A list as the spec has it, `allow` or `deny`; `*` where `allow` has no list."""
        return [entry.text for entry in self._entries(key)]

    def find_entry(self, key: str, tool: str) -> NameEntry | None:
        """The first entry of `allow` or `deny` that stands for a tool."""
        entries = self._entries(key, tool)
        return next((entry for entry in entries if tool in entry.names), None)

    def _entries(self, key: str, *tools: str) -> tuple[NameEntry, ...]:
        if key == "deny":
            return self.deny_entries
        return (NameEntry("*", tools),) if self.allow is None else self.allow_entries

    def has_permission(self, permission: str | None) -> bool:
        """Whether the client has the permission that a tool needs, if it needs one."""
        return permission is None or permission in self.permissions


def expand_entries(
    texts: Iterable[str], marks: Mapping[str, Collection[str]], outside: Sequence[str]
) -> tuple[NameEntry, ...]:
    """The entries of a list with what they stand for, patterns sorted by name.

    Args:
        texts: the list as the spec has it.
        marks: what is true of each tool of the toolset, as an entry says it, by its name.
        outside: the names of external servers' tools that the toolset declares.
    """
    return tuple(NameEntry(text, _names(text, marks, outside)) for text in texts)


def _names(
    text: str, marks: Mapping[str, Collection[str]], outside: Sequence[str]
) -> tuple[str, ...]:
    entry = NameEntry(text, (text,))
    if not entry.is_pattern:
        return entry.names
    if ":" in text:
        return tuple(sorted(name for name, own in marks.items() if text in own))
    if not text.strip("*"):
        # `allow: "*"` says every tool; as one entry of a list it is taken for a mistake.
        return ()
    return tuple(sorted(n for n in {*marks, *outside} if _matches(text, n)))


def _matches(pattern: str, name: str) -> bool:
    """Whether a name has a pattern's pieces in their order, each as early as can be.

    A regular expression would try every way to lay them out, for hours.
    """
    if "*" not in pattern:
        return name == pattern
    first, *pieces, last = pattern.split("*")
    if not name.startswith(first) or not name.endswith(last):
        return False
    at = len(first)
    for piece in pieces:
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return at + len(last) <= len(name)


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


def omit_none(**values: Any) -> dict[str, Any]:
    """A JSON object of what is said; None is not."""
    return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True, eq=False)
class McpSpec:
    """What resources and prompts have alike."""

    name: str
    title: str | None = None
    description: str | None = None
    handler: HandlerReference | None = None
    uses: tuple[str, ...] = ()
    timeout: float | None = None
    clients: tuple[str, ...] | None = None
    suppress: tuple[Suppression, ...] = ()
    source: Source = field(default=NOWHERE, repr=False)


@dataclass(frozen=True, eq=False)
class ResourceSpec(McpSpec):
    """A resource, or a template of resources.

    `content` is what `file` holds, None where it names none. `variables` are those of the
    template that have some values only.
    """

    uri: str | None = None
    uri_template: str | None = None
    mime_type: str | None = None
    text: str | None = None
    file: str | None = None
    content: bytes | None = None
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    kind = "resource"

    @property
    def mcp(self) -> dict[str, Any]:
        """The resource as MCP lists it."""
        return omit_none(
            name=self.name,
            title=self.title,
            uri=self.uri,
            uriTemplate=self.uri_template,
            description=self.description,
            mimeType=self.mime_type,
        )


@dataclass(frozen=True)
class PromptArgument:
    """What is asked of whoever uses a prompt."""

    name: str
    description: str | None = None
    required: bool = language_default("mcp_prompt.arguments.*.required")
    enum: tuple[str, ...] = ()

    @property
    def mcp(self) -> dict[str, Any]:
        """The argument as MCP lists it."""
        required = self.required or None
        return omit_none(
            name=self.name, description=self.description, required=required
        )


@dataclass(frozen=True)
class PromptMessage:
    """What a prompt says, with `{{name}}` for an argument."""

    text: str
    role: str = language_default("mcp_prompt.messages.*.role")


@dataclass(frozen=True, eq=False)
class PromptSpec(McpSpec):
    """A prompt that MCP clients offer to their people."""

    arguments: tuple[PromptArgument, ...] = ()
    messages: tuple[PromptMessage, ...] = ()

    kind = "prompt"

    @property
    def mcp(self) -> dict[str, Any]:
        """The prompt as MCP lists it."""
        return omit_none(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=[argument.mcp for argument in self.arguments] or None,
        )


SHARED_REFERENCE_PREFIX = f"#/{'/'.join(map(str, SHARED))}/"
"""What a reference to a definition begins with; its name follows."""


def parse_shared_name(reference: str) -> str | None:
    """The definition that the text of a reference names, there or not."""
    pointer = unquote(reference)
    return (
        pointer[len(SHARED_REFERENCE_PREFIX) :].split("/")[0]
        if pointer.startswith(SHARED_REFERENCE_PREFIX)
        else None
    )


@dataclass(frozen=True, eq=False)
class Definitions:
    """The definitions that the tools of a toolset share: its own and the workspace's.

    Attributes:
        schemas: each by its name.
        source: `definitions.yaml`, the toolset's own where it has one.
    """

    schemas: Mapping[str, dict[str, Any]]
    source: Source

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that they are from."""
        return tuple(filter(None, (self.source, self.source.above)))

    @cached_property
    def references(self) -> Mapping[str, tuple[Reference, ...]]:
        """The references in each definition; their targets mean nothing there."""
        return {name: JsonSchema(s).references for name, s in self.schemas.items()}

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many values each definition has."""
        return {name: _values(schema) for name, schema in self.schemas.items()}

    def list_used(self, references: Iterable[Reference]) -> list[str]:
        """The names of the definitions that references lead to, in their order."""
        used: set[str] = set()
        waiting = list(references)
        while waiting:
            name = parse_shared_name(waiting.pop().text)
            if name is not None and name in self.schemas and name not in used:
                used.add(name)
                waiting += self.references[name]
        return sorted(used)


def _values(value: Any) -> int:
    number, waiting = 0, [value]
    while waiting:
        here = waiting.pop()
        number += 1
        if isinstance(here, dict):
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
    return number
