"""Data model of a workspace: immutable values without I/O, YAML or templates.

Fields with the name of a spec field are documented in `spec_language/*.language.yaml`.

JSON values (schemas, annotations, examples) are plain dicts and lists, in the order of the
spec, and must not be modified. Tools, toolsets and workspaces are compared by identity, so
that functions can cache results for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from toolcast_runtime.core.definitions.tool import (
    ResultForm,
    distinct_name,
    format_deprecation,
    module_name,
)
from toolcast_runtime.results.field_selection import (
    build_listed_parameters,
    build_listed_returns,
)

from ..json_schema.graph import JsonSchema
from ..parsing.tree import NOWHERE, Source
from .language_fields import get_default, language_default
from .mcp_servers import McpServer, ToolRouter
from .python_project import PythonProject
from .toolset_parts import (
    Client,
    Definitions,
    HandlerReference,
    McpSpec,
    PromptSpec,
    ResourceSpec,
    Suppression,
    omit_none,
)

JsonObject = Mapping[str, Any]


class Action(NamedTuple):
    """One value of the parameter that selects a tool's action.

    Attributes:
        requires: the other parameters that a call with this action must contain.
        requires_any: parameters of which a call must contain at least one.
        accepts: the further parameters that a call may contain; None for all parameters.
    """

    name: str
    summary: str = ""
    requires: tuple[str, ...] = ()
    requires_any: tuple[str, ...] = ()
    accepts: tuple[str, ...] | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """All parameters that the action mentions, in the order of the spec."""
        names = (*self.requires, *self.requires_any, *(self.accepts or ()))
        return tuple(dict.fromkeys(names))


class Actions(NamedTuple):
    """The actions of a tool: the parameter that selects an action, and its values."""

    parameter: str
    values: tuple[Action, ...]


class CliDecision(NamedTuple):
    """The command of a tool in the CLI, or the reason why the tool has no command.

    `keyword` is None for a tool without a command; only then `reason` is set.
    """

    keyword: str | None
    usage: str | None = None
    comment: str | None = None
    reason: str | None = None


class Confirm(NamedTuple):
    """A confirmation that a user must give before a call.

    Attributes:
        message: the question to the user.
        when: the arguments that require the confirmation; None for all calls.
    """

    message: str
    when: JsonObject | None = None

    @property
    def as_json(self) -> JsonObject:
        """The confirmation as a member of a tool's definition."""
        return omit_none(message=self.message, when=self.when)


@dataclass(frozen=True)
class Example:
    """An example call: arguments, and the expected result or error.

    `has_result` distinguishes an expected result of null from an example without a result.
    """

    arguments: JsonObject
    title: str = language_default("tool.examples.*.title")
    has_result: bool = False
    result: Any = None
    error: str | None = None

    @property
    def as_json(self) -> JsonObject:
        """The example as a member of a tool's definition."""
        value: dict[str, Any] = {"title": self.title} if self.title else {}
        value["arguments"] = self.arguments
        if self.has_result:
            value["result"] = self.result
        if self.error is not None:
            value["error"] = self.error
        return value


class Case(NamedTuple):
    """A test case for tool selection: a user's message, and the tool to call for it.

    `tool` is None if no tool of the toolset fits the message.
    """

    message: str
    tool: str | None
    never: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    top: int | None = None


@dataclass(frozen=True)
class SelectionGates:
    """The minimum results of a toolset's tool selection tests (`toolset.selection`)."""

    top: int = language_default("toolset.selection.top")
    margin: float = language_default("toolset.selection.margin", float)
    coverage: float = language_default("toolset.selection.coverage", float)


# With `eq=False`, tools are compared and hashed by identity. Functions can therefore cache
# results for a tool, although its schemas cannot be hashed.
@dataclass(frozen=True, eq=False)
class ToolSpec:
    """One tool, as defined by its YAML file.

    Attributes:
        fields: the keys of the spec in their order, which is also the order of the keys in
            the tool's MCP definition.
        no_usage_reason: the reason for a tool without `when_to_use`.
        mcp_omit: `mcp.omit` of the spec.
        mcp_extra: `mcp.extra` of the spec.
        extensions: the values of fields that extensions add, by field name.
    """

    name: str
    summary: str
    parameters: JsonObject
    fields: tuple[str, ...]
    title: str | None = None
    description: str | None = None
    when_to_use: str | None = None
    no_usage_reason: str | None = None
    guidance: str | None = None
    section: str | None = None
    order: int | None = None
    returns: Any = None
    actions: Actions | None = None
    annotations: JsonObject | None = None
    icons: tuple[Any, ...] | None = None
    meta: JsonObject | None = None
    execution: JsonObject | None = None
    mcp_omit: tuple[str, ...] = ()
    mcp_extra: JsonObject = field(default_factory=dict)
    handler: HandlerReference | None = None
    proxy: str | None = None
    uses: tuple[str, ...] = ()
    values: str | None = None
    arguments_type: HandlerReference | None = None
    result_type: HandlerReference | None = None
    clients: tuple[str, ...] | None = None
    always: bool = language_default("tool.always")
    persistent: bool = language_default("tool.persistent")
    service: str | None = None
    permission: str | None = None
    timeout: float | None = None
    confirm: Confirm | None = None
    result: ResultForm = language_default("tool.result.send", ResultForm)
    cli: CliDecision | None = None
    data: JsonObject | None = None
    skill: JsonObject | None = None
    renamed_from: tuple[str, ...] = language_default("tool.renamed_from", tuple)
    deprecated: JsonObject | None = None
    stability: str | None = None
    since: str | None = None
    examples: tuple[Example, ...] = language_default("tool.examples", tuple)
    cases: tuple[Case, ...] = ()
    extensions: JsonObject = field(default_factory=dict)
    suppress: tuple[Suppression, ...] = ()
    source: Source = field(default=NOWHERE, repr=False)

    @cached_property
    def module(self) -> str:
        """The name of the tool's generated files, without suffix.

        Usually it is derived from the tool's name. If two tools of a toolset would have the
        same module name, the spec file of one has a distinct name, which is used instead.
        """
        stem = self.source.stem
        return stem if stem == distinct_name(self.name) else module_name(self.name)

    @cached_property
    def properties(self) -> JsonObject:
        """The schema of each parameter, by name; empty if `properties` is not an object."""
        # `properties` can be of any type here: only the rule `schema/invalid`, which runs after
        # loading, checks the keywords of a schema.
        properties = self.parameters.get("properties")
        return properties if isinstance(properties, dict) else {}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The names of the required parameters; empty if `required` is not an array."""
        required = self.parameters.get("required")
        if not isinstance(required, list):
            return ()
        return tuple(name for name in required if isinstance(name, str))

    @cached_property
    def schemas(self) -> Mapping[str, JsonSchema]:
        """The tool's schemas by spec field: `parameters` and `returns`, if it is not null."""
        values = {"parameters": self.parameters, "returns": self.returns}
        return {k: JsonSchema(v) for k, v in values.items() if v is not None}

    @cached_property
    def picks(self) -> JsonObject | None:
        """The settings that let callers select fields of a result (`result.fields`).

        None if callers cannot select fields. The name of the tool parameter for the selection
        is in `parameter`, also if the spec does not set it.
        """
        fields = self.result.fields
        if fields is None:
            return None
        return {"parameter": get_default("tool.result.fields.parameter"), **fields}

    @cached_property
    def listed_parameters(self) -> JsonObject:
        """The schema of the arguments as clients see it in `inputSchema`.

        It contains the parameter that selects fields of a result, if there is one.
        """
        return build_listed_parameters(self.parameters, self.picks)

    @cached_property
    def listed_returns(self) -> Any:
        """The schema of the results as clients see it in `outputSchema`.

        Fields that a caller can leave out of the result are optional. None without `returns`.
        """
        return build_listed_returns(self.returns, self.picks)

    @property
    def model_description(self) -> str:
        """The description for models: `description` or `summary`, and a deprecation notice."""
        text = self.summary if self.description is None else self.description
        if self.deprecation_notice:
            return f"{text}\n\n{self.deprecation_notice}"
        return text

    @property
    def deprecation_notice(self) -> str:
        """The deprecation notice for the description; empty without `deprecated.show`."""
        if self.deprecated is None or not self.deprecated.get("show"):
            return ""
        return format_deprecation(self.deprecated)


class Section(NamedTuple):
    """A group of tools in system prompts.

    Attributes:
        heading: the heading of the section's block.
        label: the label of the section in the preamble.
        intro: the text above the tools of the section.
        footer: the text below the tools of the section.
    """

    name: str
    heading: str
    label: str
    intro: str = ""
    footer: str = ""


class TokenBudget(NamedTuple):
    """Maximum numbers of tokens of a toolset's texts; None or no entry means no limit.

    Attributes:
        upfront: the limit of the texts that a client loads before the first call, by client
            name; the key None applies to all other clients.
        tool: the limit of each tool's definition.
        blocks: the limits of prompt blocks, by block name.
    """

    upfront: Mapping[str | None, int] = MappingProxyType({})
    tool: int | None = None
    blocks: Mapping[str, int] = MappingProxyType({})

    def get_client_budget(self, name: str | None) -> int | None:
        """Return the limit of the texts that a client loads before its first call.

        None if there is no limit. In a toolset without clients, the name is None.
        """
        return self.upfront.get(name, self.upfront.get(None))


class Exclusion(NamedTuple):
    """A declared omission of a tool from a target."""

    tool: str
    target: str
    reason: str


@dataclass(frozen=True, eq=False)
class Toolset:
    """The tools of one folder with `toolset.yaml`, sorted by section, `order` and name.

    Attributes:
        fields: the keys of `toolset.yaml` in their order.
        pools: the tables of each database pool, by pool name.
        pool_accessors: the accessor functions of each pool, by pool name.
        reserved_names: the reasons for reserved tool names, by name.
        extensions: the values of fields that extensions add, by field name.
    """

    name: str
    title: str
    folder: str
    tools: tuple[ToolSpec, ...] = ()
    mcp_resources: tuple[ResourceSpec, ...] = ()
    mcp_prompts: tuple[PromptSpec, ...] = ()
    fields: tuple[str, ...] = ()
    version: str = language_default("toolset.version")
    stability: str = language_default("toolset.stability")
    instructions: str | None = None
    handlers: str | None = None
    proxy: str | None = None
    lifespan: HandlerReference | None = None
    dependencies: Mapping[str, HandlerReference] = field(default_factory=dict)
    formats: str = language_default("toolset.formats")
    values: str = language_default("toolset.values")
    timeout: float = language_default("toolset.timeout", float)
    preamble_heading: str = language_default("toolset.preamble.heading")
    preamble_intro: str = ""
    skill: JsonObject = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    clients: tuple[Client, ...] = ()
    client_kind: str | None = None
    clients_override: str | None = None
    token_budget: TokenBudget = field(default_factory=TokenBudget)
    ledger: JsonObject = field(default_factory=dict)
    permissions: Mapping[str, str] = field(default_factory=dict)
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pool_accessors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mcp_servers: tuple[McpServer, ...] = ()
    router: ToolRouter | None = None
    reserved_names: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, JsonObject] = field(default_factory=dict)
    exclusions: tuple[Exclusion, ...] = ()
    cases: tuple[Case, ...] = ()
    selection: SelectionGates = field(default_factory=SelectionGates)
    extensions: JsonObject = field(default_factory=dict)
    suppress: tuple[Suppression, ...] = ()
    definitions: Definitions | None = None
    source: Source = field(default=NOWHERE, repr=False)

    @property
    def heading(self) -> str:
        """The title, with spaces instead of line breaks."""
        return " ".join(re.split(r"[\r\n]+", self.title))

    @property
    def mcp_specs(self) -> tuple[ResourceSpec | PromptSpec, ...]:
        """The MCP resources and MCP prompts."""
        return (*self.mcp_resources, *self.mcp_prompts)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The spec files: `toolset.yaml`, tools, resources, prompts and shared definitions."""
        definitions = () if self.definitions is None else self.definitions.sources
        owners = (self, *self.tools, *self.mcp_specs)
        return (*(owner.source for owner in owners), *definitions)

    @property
    def asserts_formats(self) -> bool:
        """Whether calls validate the `format` of strings; false without `handlers`."""
        return self.handlers is not None and self.formats == "assertion"

    def get_proxy(self, tool: ToolSpec) -> str | None:
        """Return the name of the external server that handles a tool's calls, or None.

        None means that a handler of the project handles the calls.
        A tool with its own `proxy` or `handler` does not use the `proxy` of the toolset.
        """
        if tool.proxy is not None or tool.handler is not None:
            return tool.proxy
        return self.proxy

    @property
    def proxied_servers(self) -> frozenset[str]:
        """The names of the external servers that handle calls of the toolset's own tools."""
        # `proxy` of the toolset counts even if each tool has its own handler or proxy.
        names = {self.proxy, *(self.get_proxy(tool) for tool in self.tools)}
        return frozenset(name for name in names if name is not None)

    @property
    def listed_servers(self) -> tuple[McpServer, ...]:
        """The external servers that contribute tools of their own, without a spec."""
        return tuple(s for s in self.mcp_servers if s.name not in self.proxied_servers)

    def get_timeout(self, spec: ToolSpec | McpSpec) -> float:
        """Return the time limit of a call in seconds: that of the spec or of the toolset.

        A value without fraction is an int, so that generated files contain `30`, not `30.0`.
        """
        seconds = self.timeout if spec.timeout is None else spec.timeout
        return int(seconds) if float(seconds).is_integer() else seconds

    def has_python_values(self, tool: ToolSpec) -> bool:
        """Return whether a tool's handler receives `date`, `UUID` and `bytes` objects.

        Otherwise the handler receives such arguments as strings, or by its own annotations.
        """
        return self.get_value_types(tool) == "python"

    def get_value_types(self, tool: ToolSpec) -> str:
        """Return the types of a handler's arguments: `json`, `python` or `pydantic`."""
        return tool.values or self.values

    def find_client(self, name: str) -> Client | None:
        """Return the client with a name, or None."""
        return next((client for client in self.clients if client.name == name), None)

    def get_client_kind(self, client: Client | None) -> str | None:
        """Return the `kind` of a client, or else `client_kind` of the toolset.

        None if neither is declared.

        Args:
            client: the client; None in a toolset without clients.
        """
        kind = client.kind if client is not None else None
        return kind if kind is not None else self.client_kind

    def get_stability(self, tool: ToolSpec) -> str:
        """Return `draft`, `beta` or `stable`: the tool's value, or the toolset's."""
        return tool.stability or self.stability

    def is_granted(self, permission: str) -> bool:
        """Return whether at least one client of the toolset has a permission."""
        return any(permission in client.permissions for client in self.clients)

    def is_offered(self, tool: ToolSpec, client: Client) -> bool:
        """Return whether a client can list and call a tool.

        The tool's `clients`, the client's `allow` and `deny`, and the client's permissions must
        all allow the tool.
        """
        is_listed = tool.clients is None or client.name in tool.clients
        return (
            is_listed
            and client.has_permission(tool.permission)
            and client.allows(tool.name)
        )

    def list_excluded_tools(self, target: str) -> frozenset[str]:
        """Return the names of the tools that `exclusions` omits from a target."""
        return frozenset(e.tool for e in self.exclusions if e.target == target)

    def list_target_tools(self, target: str) -> tuple[ToolSpec, ...]:
        """Return the tools that `exclusions` does not omit from a target, in toolset order.

        Whether the target itself is enabled is not checked.
        """
        excluded = self.list_excluded_tools(target)
        if not excluded:
            return self.tools
        return tuple(tool for tool in self.tools if tool.name not in excluded)


class SharedEndpoint(NamedTuple):
    """An HTTP endpoint that several toolsets share.

    `title` is None if the titles of the toolsets are used.
    """

    name: str
    toolsets: tuple[str, ...]
    title: str | None = None


@dataclass(frozen=True, eq=False)
class Workspace:
    """A project: the settings in `toolcast.yaml`, and its toolsets.

    Attributes:
        root: absolute path of the project's root.
        toolset_folders: relative paths with forward slashes.
        extensions: the names of the listed extensions, all of which are installed.
        project: the contents of `pyproject.toml`; None if it is missing or invalid.
        definitions: the definitions that all toolsets share, from `definitions.yaml` in the
            root.
    """

    root: str
    toolset_folders: tuple[str, ...]
    targets: tuple[str, ...] = language_default("workspace.targets", tuple)
    output: str = language_default("workspace.output")
    sources: tuple[str, ...] = language_default("workspace.sources", tuple)
    templates: str | None = None
    documents: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    project: PythonProject | None = None
    endpoints: tuple[SharedEndpoint, ...] = ()
    scan: tuple[str, ...] = ()
    not_scanned: tuple[str, ...] = ()
    fail_on: str = language_default("workspace.fail_on")
    definitions: Definitions | None = None
    toolsets: tuple[Toolset, ...] = ()
    source: Source = field(default=NOWHERE, repr=False)

    @property
    def commands(self) -> Mapping[str, str] | None:
        """The function of each console command (`[project.scripts]` in `pyproject.toml`).

        None if the commands are unknown, for example without `pyproject.toml`.
        """
        return None if self.project is None else self.project.commands

    @property
    def package(self) -> str:
        """The dotted name by which Python imports the output folder.

        The name is relative to the folder in `sources` that contains the output folder, since
        the source folders are on Python's path. Empty if the output folder is itself a source
        folder.
        """
        folder = f"{self.output}/"
        relative_paths = (
            folder.removeprefix(f"{source}/")
            for source in self.sources
            if folder.startswith(f"{source}/")
        )
        # Source folders can be nested; the innermost one results in the shortest path.
        path = min(relative_paths, key=len, default=folder)
        return path.rstrip("/").replace("/", ".")
