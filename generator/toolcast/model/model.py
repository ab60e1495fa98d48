"""The model of a workspace: frozen values without I/O, YAML or templates.

A field that the spec language has is described there, in `language/*.language.yaml`.

JSON values (schemas, annotations, examples) are plain dicts and lists in the order in which
the spec has them. Nobody changes them. A tool, a toolset and a workspace are equal to
nothing but themselves, so that functions may cache what they find out about one.
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
    """One value of an action parameter, and what it requires."""

    name: str
    summary: str = ""
    requires: tuple[str, ...] = ()
    requires_any: tuple[str, ...] = ()
    accepts: tuple[str, ...] | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Every parameter that the action names, in the order of the spec, each once."""
        named = (*self.requires, *self.requires_any, *(self.accepts or ()))
        return tuple(dict.fromkeys(named))


class Actions(NamedTuple):
    """An action router: the parameter that selects, and what each value needs."""

    parameter: str
    values: tuple[Action, ...]


class CliDecision(NamedTuple):
    """The keyword of a tool in the CLI, or the reason why it has none."""

    keyword: str | None
    usage: str | None = None
    comment: str | None = None
    reason: str | None = None


class Confirm(NamedTuple):
    """What a person is asked before a call, and about which arguments; None is any."""

    message: str
    when: JsonObject | None = None

    @property
    def as_json(self) -> JsonObject:
        """What a definition says of it."""
        return omit_none(message=self.message, when=self.when)


@dataclass(frozen=True)
class Example:
    """An example call: arguments, and the expected result or error."""

    arguments: JsonObject
    title: str = language_default("tool.examples.*.title")
    has_result: bool = False
    result: Any = None
    error: str | None = None

    @property
    def as_json(self) -> JsonObject:
        """What a definition says of it."""
        shown: dict[str, Any] = {"title": self.title} if self.title else {}
        shown["arguments"] = self.arguments
        if self.has_result:
            shown["result"] = self.result
        if self.error is not None:
            shown["error"] = self.error
        return shown


class Case(NamedTuple):
    """What a user says, and the tool that is meant; None when no tool of the toolset is."""

    message: str
    tool: str | None
    never: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    top: int | None = None


@dataclass(frozen=True)
class SelectionGates:
    """What the cases of a toolset are held to."""

    top: int = language_default("toolset.selection.top")
    margin: float = language_default("toolset.selection.margin", float)
    coverage: float = language_default("toolset.selection.coverage", float)


@dataclass(frozen=True, eq=False)
class ToolSpec:
    """One tool.

    `fields` holds the spec's keys in their order: MCP's list shows the tool's keys in it.
    `no_usage_reason` is the reason of a spec that decides against `when_to_use`.
    `extensions` holds the values of the fields that extensions bring, by their names.
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
    source: Source = field(default=NOWHERE, compare=False, repr=False)

    @cached_property
    def module(self) -> str:
        """The name of the tool's generated files; its spec's name decides which."""
        stem = self.source.stem
        return stem if stem == distinct_name(self.name) else module_name(self.name)

    @cached_property
    def properties(self) -> JsonObject:
        """The schemas of the parameters by name; empty when there are none."""
        properties = self.parameters.get("properties")
        return properties if isinstance(properties, dict) else {}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The parameters that a call must give."""
        required = self.parameters.get("required")
        if not isinstance(required, list):
            return ()
        return tuple(name for name in required if isinstance(name, str))

    @cached_property
    def schemas(self) -> Mapping[str, JsonSchema]:
        """The tool's schemas by the field that holds them; null is no schema."""
        both = {"parameters": self.parameters, "returns": self.returns}
        return {k: JsonSchema(v) for k, v in both.items() if v is not None}

    @cached_property
    def picks(self) -> JsonObject | None:
        """What callers may pick of results, and by which `parameter`."""
        fields = self.result.fields
        if fields is None:
            return None
        return {"parameter": get_default("tool.result.fields.parameter"), **fields}

    @cached_property
    def listed_parameters(self) -> JsonObject:
        """The schema of the arguments as callers are shown it."""
        return build_listed_parameters(self.parameters, self.picks)

    @cached_property
    def listed_returns(self) -> Any:
        """The schema of the results as callers get them."""
        return build_listed_returns(self.returns, self.picks)

    @property
    def model_description(self) -> str:
        """What models read as the description: the spec's own, else the summary."""
        own = self.summary if self.description is None else self.description
        return f"{own}\n\n{self.deprecation_notice}" if self.deprecation_notice else own

    @property
    def deprecation_notice(self) -> str:
        """What the description says of the tool's deprecation; "" where it says nothing."""
        if self.deprecated is None or not self.deprecated.get("show"):
            return ""
        return format_deprecation(self.deprecated)


class Section(NamedTuple):
    """A named group of tools in the prompt docs."""

    name: str
    heading: str
    label: str
    intro: str = ""
    footer: str = ""


class TokenBudget(NamedTuple):
    """How many tokens a toolset may cost; what is not named may cost anything.

    `upfront` is by the client's name, or for every client under `None`.
    """

    upfront: Mapping[str | None, int] = MappingProxyType({})
    tool: int | None = None
    blocks: Mapping[str, int] = MappingProxyType({})

    def get_client_budget(self, name: str | None) -> int | None:
        """What a client may cost upfront; None is the one caller without clients."""
        return self.upfront.get(name, self.upfront.get(None))


class Exclusion(NamedTuple):
    """A declared decision that a tool is not in a target."""

    tool: str
    target: str
    reason: str


@dataclass(frozen=True, eq=False)
class Toolset:
    """The tools of one server or agent platform, in their declared order.

    `extensions` holds the values of the fields that extensions bring, by their names.
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
    source: Source = field(default=NOWHERE, compare=False, repr=False)

    @property
    def heading(self) -> str:
        """Its title, on one line."""
        return " ".join(re.split(r"[\r\n]+", self.title))

    @property
    def mcp_specs(self) -> tuple[ResourceSpec | PromptSpec, ...]:
        """The resources and MCP prompts."""
        return (*self.mcp_resources, *self.mcp_prompts)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Its files of specs: its own, its tools', and those of all that is beside them."""
        definitions = () if self.definitions is None else self.definitions.sources
        owners = (self, *self.tools, *self.mcp_specs)
        return (*(owner.source for owner in owners), *definitions)

    @property
    def asserts_formats(self) -> bool:
        """Whether arguments have to be of their formats; only for handlers of its own."""
        return self.handlers is not None and self.formats == "assertion"

    def get_proxy(self, tool: ToolSpec) -> str | None:
        """The server that answers a tool's calls: its own word, else the toolset's."""
        if tool.proxy is not None or tool.handler is not None:
            return tool.proxy
        return self.proxy

    @property
    def proxied_servers(self) -> frozenset[str]:
        """The names of the servers that answer calls of its own tools."""
        named = {self.proxy, *(self.get_proxy(tool) for tool in self.tools)}
        return frozenset(name for name in named if name is not None)

    @property
    def listed_servers(self) -> tuple[McpServer, ...]:
        """The servers whose own lists are offered beside its tools."""
        return tuple(s for s in self.mcp_servers if s.name not in self.proxied_servers)

    def get_timeout(self, spec: ToolSpec | McpSpec) -> float:
        """Seconds until a call is given up; whole ones as an integer."""
        seconds = self.timeout if spec.timeout is None else spec.timeout
        return int(seconds) if float(seconds).is_integer() else seconds

    def has_python_values(self, tool: ToolSpec) -> bool:
        """Whether a tool's handler is given Python's dates, UUIDs and bytes."""
        return (tool.values or self.values) == "python"

    def find_client(self, name: str) -> Client | None:
        """The client of a name, or None."""
        return next((client for client in self.clients if client.name == name), None)

    def get_client_kind(self, client: Client | None) -> str | None:
        """Which program a client is, as far as the specs say; None is the one caller."""
        own = client.kind if client is not None else None
        return own if own is not None else self.client_kind

    def get_stability(self, tool: ToolSpec) -> str:
        """`draft`, `beta` or `stable`: the tool's own word, else the toolset's."""
        return tool.stability or self.stability

    def is_granted(self, permission: str) -> bool:
        """Whether a client has a permission."""
        return any(permission in client.permissions for client in self.clients)

    def is_offered(self, tool: ToolSpec, client: Client) -> bool:
        """Whether a client may see and call a tool: both sides must agree."""
        listed = tool.clients is None or client.name in tool.clients
        return (
            listed
            and client.has_permission(tool.permission)
            and client.allows(tool.name)
        )

    def list_excluded_tools(self, target: str) -> frozenset[str]:
        """The names of the tools that are declared not to be in a target."""
        return frozenset(e.tool for e in self.exclusions if e.target == target)

    def list_target_tools(self, target: str) -> tuple[ToolSpec, ...]:
        """The tools that are in a target, in order."""
        excluded = self.list_excluded_tools(target)
        if not excluded:
            return self.tools
        return tuple(tool for tool in self.tools if tool.name not in excluded)


class SharedEndpoint(NamedTuple):
    """A server that several toolsets share; `title` is None for the toolsets' own."""

    name: str
    toolsets: tuple[str, ...]
    title: str | None = None


@dataclass(frozen=True, eq=False)
class Workspace:
    """What `toolcast.yaml` lists.

    Attributes:
        root: absolute path of the project's root.
        toolset_folders: relative paths with forward slashes.
        extensions: the names of the listed extensions, all of which are installed.
        project: what pyproject.toml says; None where there is none that can be read.
        definitions: those of `definitions.yaml` beside toolcast.yaml, for all toolsets.
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
    source: Source = field(default=NOWHERE, compare=False, repr=False)

    @property
    def commands(self) -> Mapping[str, str] | None:
        """What the console commands of pyproject.toml run; None without the file."""
        return None if self.project is None else self.project.commands

    @property
    def package(self) -> str:
        """The dotted name under which Python imports the output folder.

        It begins below the one of `sources` that the folder is in: they are on the path.
        Empty where the folder is one of them.
        """
        folder = f"{self.output}/"
        below = (
            folder.removeprefix(f"{source}/")
            for source in self.sources
            if folder.startswith(f"{source}/")
        )
        return min(below, key=len, default=folder).rstrip("/").replace("/", ".")
