"""Parts of a toolset other than tools: clients, resources, prompts, shared definitions."""

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
    """An entry in `allow` or `deny` of a client.

    Attributes:
        text: a tool name, a pattern (`search_*`), a section (`section:search`), or a boolean
            of an extension's field (`FIELD:KEY`).
        names: the names of the tools that the entry matches.
    """

    text: str
    names: tuple[str, ...]

    @property
    def is_pattern(self) -> bool:
        """Whether the entry is not a plain name; tool names contain neither `*` nor `:`."""
        return "*" in self.text or ":" in self.text

    @property
    def matched_path(self) -> tuple[str, ...]:
        """The path of the field in a tool's spec that decides whether the entry matches."""
        field, separator, key = self.text.partition(":")
        if not separator:
            return ("name",)
        return (field,) if field == "section" else (field, key)


@dataclass(frozen=True)
class Client:
    """A profile of callers, and the tools that they can list and call.

    Attributes:
        allow: the names of the allowed tools; None for every tool.
        deny: the names of the tools that are not allowed, even if `allow` includes them.
        path: the HTTP path of the client's endpoint; None for the default.
        token_variable: the environment variable of the client's token; None for the default.
        kind: the program or provider that the client is, a key of `CLIENT_KINDS`.
        client_confirms: whether the client itself asks the user for the confirmation of a tool.
        allow_entries: the entries of `allow` in the spec, with patterns.
        deny_entries: the entries of `deny` in the spec, with patterns.
        mcp_resources: `allow` and `deny` for resources, with patterns.
        mcp_prompts: `allow` and `deny` for prompts, with patterns.
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
    mcp_resources: Mapping[str, Any] = field(default_factory=dict)
    mcp_prompts: Mapping[str, Any] = field(default_factory=dict)

    def can_use(self, spec: McpSpec) -> bool:
        """Return whether the client may use a resource or prompt."""
        if spec.clients is None:
            is_listed = self._has_mcp_entry("allow", spec)
        else:
            is_listed = self.name in spec.clients
        return is_listed and not self.denies(spec)

    def denies(self, spec: McpSpec) -> bool:
        """Return whether `deny` of `mcp_resources` or `mcp_prompts` matches a spec."""
        return self._has_mcp_entry("deny", spec)

    def _has_mcp_entry(self, key: str, spec: McpSpec) -> bool:
        is_resource = isinstance(spec, ResourceSpec)
        lists = self.mcp_resources if is_resource else self.mcp_prompts
        return any(matches_entry(pattern, spec.name) for pattern in lists.get(key, ()))

    def allows(self, tool: str) -> bool:
        """Return whether `allow` and `deny` permit a tool; permissions are not checked."""
        return tool not in self.deny and (self.allow is None or tool in self.allow)

    def get_entry_texts(self, key: str) -> list[str]:
        """Return the entries of `allow` or `deny` as in the spec; `["*"]` for every tool."""
        return [entry.text for entry in self._list_entries(key)]

    def find_entry(self, key: str, tool: str) -> NameEntry | None:
        """Return the first entry of `allow` or `deny` that matches a tool, or None."""
        entries = self._list_entries(key, tool)
        return next((entry for entry in entries if tool in entry.names), None)

    def _list_entries(self, key: str, *tools: str) -> tuple[NameEntry, ...]:
        """Return the entries of `allow` or `deny`.

        If `allow` is None, the result is one entry `*`, which matches the passed tools.
        """
        if key == "deny":
            return self.deny_entries
        return (NameEntry("*", tools),) if self.allow is None else self.allow_entries

    def has_permission(self, permission: str | None) -> bool:
        """Return whether the client has a permission; True for None (no permission needed)."""
        return permission is None or permission in self.permissions


def expand_entries(
    texts: Iterable[str],
    tool_marks: Mapping[str, Collection[str]],
    external_names: Sequence[str],
) -> tuple[NameEntry, ...]:
    """Return the entries of `allow` or `deny` with the tool names that they match.

    Args:
        texts: the entries as in the spec.
        tool_marks: the entries such as `section:search` that select each tool, by tool name.
        external_names: the names of external servers' tools that the toolset declares.
    """
    return tuple(
        NameEntry(text, _match_names(text, tool_marks, external_names))
        for text in texts
    )


def _match_names(
    text: str, tool_marks: Mapping[str, Collection[str]], external_names: Sequence[str]
) -> tuple[str, ...]:
    """Return the tool names that an entry matches; those of a pattern are sorted.

    An entry without a pattern matches its own text, whether or not the tool exists.
    """
    entry = NameEntry(text, (text,))
    if not entry.is_pattern:
        return entry.names
    if ":" in text:
        return tuple(
            sorted(name for name, marks in tool_marks.items() if text in marks)
        )
    if not text.strip("*"):
        # Only `allow: "*"` means every tool. `*` in an array matches no tool, since it is
        # assumed to be a mistake.
        return ()
    names = {*tool_marks, *external_names}
    return tuple(sorted(name for name in names if matches_entry(text, name)))


def matches_entry(pattern: str, name: str) -> bool:
    """Return whether a name or pattern matches a name; `*` matches any characters."""
    if "*" not in pattern:
        return name == pattern
    # Searching for the first occurrence of each part between two `*` is sufficient. A regular
    # expression would backtrack over all combinations of occurrences.
    first, *parts, last = pattern.split("*")
    if not name.startswith(first) or not name.endswith(last):
        return False
    position = len(first)
    for part in parts:
        index = name.find(part, position)
        if index < 0:
            return False
        position = index + len(part)
    return position + len(last) <= len(name)


class Suppression(NamedTuple):
    """An accepted finding of a rule, with the reason.

    Attributes:
        until: the date (`YYYY-MM-DD`) on which the suppression expires; None for no limit.
        names: names and patterns of the specs in whose files it is accepted; without them,
            it is accepted in the file that contains the suppression.
    """

    rule: str
    reason: str
    until: str | None = None
    names: tuple[str, ...] = ()


class HandlerReference(NamedTuple):
    """A reference to a function (`module:function`) or a type (`module:Class`)."""

    module: str
    function: str

    @classmethod
    def parse(cls, text: str) -> HandlerReference:
        """Parse `module:function`, which must be valid; invalid text raises no error."""
        module, _, function = text.partition(":")
        return cls(module, function)

    def __str__(self) -> str:
        return f"{self.module}:{self.function}"


def omit_none(**values: Any) -> dict[str, Any]:
    """Return a dict of the keyword arguments whose values are not None, in order."""
    return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True, eq=False)
class McpSpec:
    """Base class of resources and prompts."""

    name: str
    title: str | None = None
    description: str | None = None
    order: int | None = None
    icons: list[dict[str, Any]] | None = None
    meta: Mapping[str, Any] | None = None
    handler: HandlerReference | None = None
    uses: tuple[str, ...] = ()
    timeout: float | None = None
    clients: tuple[str, ...] | None = None
    suppress: tuple[Suppression, ...] = ()
    source: Source = field(default=NOWHERE, repr=False)


@dataclass(frozen=True, eq=False)
class ResourceSpec(McpSpec):
    """An MCP resource, or a resource template.

    Attributes:
        listed_name: the name in MCP's lists; None if it is `name`.
        content: the content of `file`; None without a file, or if it cannot be read.
        variables: the allowed values of the template's variables; a variable that allows any
            value is not included.
    """

    listed_name: str | None = None
    uri: str | None = None
    uri_template: str | None = None
    mime_type: str | None = None
    annotations: Mapping[str, Any] | None = None
    size: int | None = None
    text: str | None = None
    file: str | None = None
    content: bytes | None = None
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    # Without an annotation, `kind` is an attribute of the class, not a dataclass field.
    kind = "resource"

    @property
    def mcp(self) -> dict[str, Any]:
        """The entry of the resource in MCP's `resources/list`, without unset members.

        A template is an entry of `resources/templates/list`.
        """
        return omit_none(
            name=self.name if self.listed_name is None else self.listed_name,
            title=self.title,
            uri=self.uri,
            uriTemplate=self.uri_template,
            description=self.description,
            mimeType=self.mime_type,
            annotations=self.annotations,
            size=self.size,
            icons=self.icons,
            _meta=self.meta,
        )


@dataclass(frozen=True)
class PromptArgument:
    """An argument of a prompt, which the user enters.

    Attributes:
        is_required_listed: whether the spec contains `required`; `prompts/list` then contains
            the member even if it is false.
    """

    name: str
    description: str | None = None
    required: bool = language_default("mcp_prompt.arguments.*.required")
    enum: tuple[str, ...] = ()
    is_required_listed: bool = False

    @property
    def mcp(self) -> dict[str, Any]:
        """The argument in an entry of MCP's `prompts/list`, without unset members."""
        # The default of `required` in MCP is false, so an optional argument has the member only
        # if the spec contains it.
        required = True if self.required else False if self.is_required_listed else None
        return omit_none(
            name=self.name, description=self.description, required=required
        )


@dataclass(frozen=True)
class PromptMessage:
    """A message of a prompt; `{{name}}` is replaced by the argument with that name."""

    text: str
    role: str = language_default("mcp_prompt.messages.*.role")


@dataclass(frozen=True, eq=False)
class PromptSpec(McpSpec):
    """A prompt that MCP clients offer to their users.

    Attributes:
        are_arguments_listed: whether the spec contains `arguments`; `prompts/list` then
            contains the member even if it is empty.
    """

    arguments: tuple[PromptArgument, ...] = ()
    are_arguments_listed: bool = False
    messages: tuple[PromptMessage, ...] = ()

    kind = "prompt"

    @property
    def mcp(self) -> dict[str, Any]:
        """The entry of the prompt in MCP's `prompts/list`, without unset members."""
        arguments = [argument.mcp for argument in self.arguments]
        return omit_none(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=arguments if self.are_arguments_listed else None,
            icons=self.icons,
            _meta=self.meta,
        )


SHARED_REFERENCE_PREFIX = f"#/{'/'.join(map(str, SHARED))}/"
"""The start of a reference to a shared definition; the name follows."""


def parse_shared_name(reference: str) -> str | None:
    """Return the name of the shared definition in a `$ref`; None for other references.

    A definition of this name may not exist.
    """
    pointer = unquote(reference)
    if not pointer.startswith(SHARED_REFERENCE_PREFIX):
        return None
    return pointer[len(SHARED_REFERENCE_PREFIX) :].split("/")[0]


@dataclass(frozen=True, eq=False)
class Definitions:
    """The schemas that the tools of a toolset share.

    Attributes:
        schemas: the schemas of the toolset and of the workspace, by name.
        source: `definitions.yaml` of the toolset, or of the workspace if it has none.
    """

    schemas: Mapping[str, dict[str, Any]]
    source: Source

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files with the schemas: that of the toolset, and that of the workspace."""
        return tuple(filter(None, (self.source, self.source.parent)))

    @cached_property
    def references(self) -> Mapping[str, tuple[Reference, ...]]:
        """The `$ref` references in each schema, by schema name."""
        return {name: JsonSchema(s).references for name, s in self.schemas.items()}

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """The number of JSON values in each schema, by its name."""
        return {name: _count_values(schema) for name, schema in self.schemas.items()}

    def list_used(self, references: Iterable[Reference]) -> list[str]:
        """Return the names of the shared schemas that references use, sorted.

        Schemas that a used schema refers to are included. Other references are ignored.
        """
        used: set[str] = set()
        pending = list(references)
        while pending:
            name = parse_shared_name(pending.pop().text)
            if name is not None and name in self.schemas and name not in used:
                used.add(name)
                pending += self.references[name]
        return sorted(used)


def _count_values(value: Any) -> int:
    count, pending = 0, [value]
    while pending:
        node = pending.pop()
        count += 1
        if isinstance(node, dict):
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return count
