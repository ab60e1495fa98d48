"""Content of an MCP server: its tools, resources and prompts, and access to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from ..core import optional
from ..core.definitions.definitions import DefinitionError, validate_dependencies
from ..core.registry import Registry, UnknownToolError

if TYPE_CHECKING:
    from types import ModuleType

    from ..core.calls.tool_calls import ToolCalls
    from ..core.definitions.tool import Tool
    from ..core.toolset import ToolMatch
    from ..core.toolset_settings import LinkLimits
    from ..http.settings import AdminRoute, HttpSettings
    from ..resources.mcp_definitions import ResourceOrPrompt
    from ..skills import Skill, Skills


class ServerPart(Protocol):
    """Addition to a toolset's server by a target of an extension."""

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """The routes for administrators."""

    @property
    def background_tasks(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """The coroutine functions that run in the background while the server runs."""

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Return the reason to refuse a call over HTTP; None to allow it.

        It checks each call of a client, and each call that a handler makes by the registry in
        the same context: in the handler's task or thread, or in one that it starts with a copy
        of its context.

        Args:
            tool_name: the called tool's current name.
            headers: the headers of the request, by lower-case name.
        """

    def definition_members(
        self, spec: Mapping[str, Any], exclusions: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Return the keys that the target adds to a tool's definition, with their values.

        None means that the definition must not have the key. Generated tests compare the
        definition with the returned values.

        Args:
            spec: the tool's spec, parsed.
            exclusions: the targets that the toolset excludes the tool from, with reasons.
        """


@dataclass(frozen=True)
class ToolsetServer:
    """Content and settings of one MCP server.

    Attributes:
        registry: finds and calls tools.
        name: the name in `serverInfo`.
        title: the title in `serverInfo`.
        version: the version in `serverInfo`.
        instructions: how to use the server as a whole.
        client: the client that is served by default; None in a toolset without clients.
        http: the HTTP settings, with an endpoint for each client.
        external: whether the tools of external servers are listed and called.
        state_key_variable: the environment variable with the key that seals the state of
            questions to the user; None for a random key in each process.
        mcp_resources: the package whose `.json` files define the resources; None if there are
            none.
        mcp_prompts: the package whose `.json` files define the prompts; None if there are none.
        skills: the Agent Skills; or the relative name of the package that contains them, such
            as `.skills`, which is imported on first use; None if there are none.
        links: the limits of stored content behind links; None stores no content.
        heartbeat: whether progress is repeated while a handler reports none, if the caller
            requested progress.
        search: whether only the tools marked `always` are listed, with two tools that search
            and call the others.
        parts: the additions by other targets of the toolset.
        member_servers: the servers of the toolsets that this server combines, in the declared
            order; empty for the server of one toolset.

    Raises:
        DefinitionError: two member servers use the same path for administrators.
    """

    registry: Registry
    _: KW_ONLY
    name: str
    title: str | None = None
    version: str = "0.0.0"
    instructions: str | None = None
    client: str | None = None
    http: HttpSettings | None = None
    external: bool = False
    state_key_variable: str | None = None
    mcp_resources: ModuleType | None = None
    mcp_prompts: ModuleType | None = None
    skills: Skills | str | None = None
    links: LinkLimits | None = None
    heartbeat: bool = True
    search: bool = False
    parts: tuple[ServerPart, ...] = ()
    member_servers: tuple[ToolsetServer, ...] = ()

    def __post_init__(self) -> None:
        if self.search:
            from .tool_search import SEARCH_TOOLS

            self.registry.reserve_names(SEARCH_TOOLS)
        if not self.member_servers:
            return
        parts = tuple(part for server in self.member_servers for part in server.parts)
        paths = [route.path for part in parts for route in part.admin_routes]
        for path in paths:
            if paths.count(path) > 1:
                package = self.registry.package
                raise DefinitionError(
                    f"{package}: two toolsets use the administration path {path}"
                )
        # The dataclass is frozen, so a plain assignment would raise an error.
        object.__setattr__(self, "parts", parts)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.registry.list_names_in("mcp"))

    @cached_property
    def _callable_names(self) -> frozenset[str]:
        """The current and previous names of the local tools."""
        tools = (t for t in self.registry.local_tools if t.name in self._names)
        return frozenset(name for t in tools for name in (t.name, *t.former_names))

    def has_tool(self, name: str) -> bool:
        """Return whether any client has a local tool with this current name."""
        return name in self._names

    def tools(self, client: str | None) -> list[Tool]:
        """Return a client's local tools, in their declared order.

        Raises:
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        return self.registry.tools(client, target="mcp")

    def names(self, client: str | None) -> tuple[str, ...]:
        """Return the names of a client's local tools in declared order; errors of `tools`."""
        return self.registry.names(client, target="mcp")

    def count_unlisted_tools(self, client: str | None) -> int:
        """Return the number of a client's local tools that only tool search finds.

        Raises the errors of `tools`.
        """
        return sum(not tool.always for tool in self.tools(client))

    def list_directly_listed(self, client: str | None) -> list[Tool]:
        """Return the local tools in the client's `tools/list`; for the errors see `tools`.

        The two search tools are included if there are tools that are not listed.
        """
        tools = self.tools(client)
        if not self.search:
            return tools
        from .tool_search import SEARCH_TOOLS

        listed_tools = [tool for tool in tools if tool.always]
        has_unlisted_tools = len(listed_tools) < len(tools) or self.external
        if has_unlisted_tools:
            return [*listed_tools, *SEARCH_TOOLS.values()]
        return listed_tools

    def list_tools(self, client: str | None) -> list[Mapping[str, Any]]:
        """Return the definitions in the client's `tools/list`, without external tools."""
        return [tool.definition for tool in self.list_directly_listed(client)]

    @property
    def toolsets(self) -> tuple[ToolsetServer, ...]:
        """The servers of the single toolsets: the combined ones, or this one."""
        return self.member_servers or (self,)

    @property
    def has_resources_or_prompts(self) -> bool:
        """Whether any client has resources or MCP prompts."""
        return any(
            server.mcp_resources is not None or server.mcp_prompts is not None
            for server in self.toolsets
        )

    @cached_property
    def resource_and_prompt_handlers(self) -> tuple[Tool, ...]:
        """The handlers of resources and prompts, as tools; errors as `all_resources`."""
        definitions = (*self.all_resources, *self.all_prompts)
        handlers = (definition.handler for definition in definitions)
        return tuple(handler for handler in handlers if handler is not None)

    def get_handler_calls(self, handler: Tool | None) -> ToolCalls:
        """Return the calls of the toolset that has the handler of a resource or prompt.

        Raises:
            LookupError: no toolset has this handler.
        """
        for server in self.toolsets:
            if handler is None or handler in server.resource_and_prompt_handlers:
                return server.registry.calls
        raise LookupError("no toolset has this handler")

    def can_ask_user(self, client: str | None) -> bool:
        """Return whether calls of a client may ask its user; for the errors see `tools`.

        A toolset whose handlers ask questions declares the variable of the state key.
        """
        return self.state_key_variable is not None or any(
            tool.confirm is not None for tool in self.tools(client)
        )

    def resources(self, client: str | None) -> list[ResourceOrPrompt]:
        """Return the resources and resource templates that a client may read.

        In a toolset with clients, a resource without clients is available to none.

        Raises:
            DefinitionError: the definitions differ from the generated ones.
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        return [
            resource
            for resource in self.all_resources
            if self._is_available(client, resource.clients)
        ]

    def prompts(self, client: str | None) -> list[ResourceOrPrompt]:
        """Return the MCP prompts that a client may get; for the errors see `resources`."""
        return [
            prompt
            for prompt in self.all_prompts
            if self._is_available(client, prompt.clients)
        ]

    @property
    def has_skills(self) -> bool:
        """Whether any client has Agent Skills."""
        return any(server.skills is not None for server in self.toolsets)

    def list_skills(self, client: str | None) -> list[Skill]:
        """Return a client's Agent Skills, of all toolsets that have the client.

        Raises:
            DefinitionError: two toolsets have a skill of the same name.
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        # Called only for its error: `get_client` raises for an unknown client.
        self.registry.access().get_client(client)
        skills = [
            skill
            for server in self.toolsets
            if server.loaded_skills is not None and _has_client(server.registry, client)
            for skill in server.loaded_skills.list_skills(client, target="mcp")
        ]
        self._reject_duplicates("skill", [skill.name for skill in skills])
        return skills

    @cached_property
    def loaded_skills(self) -> Skills | None:
        """The toolset's own skills; their package is imported on first use."""
        if isinstance(self.skills, str):
            skills: Skills = import_module(self.skills, self.registry.package).SKILLS
            return skills
        return self.skills

    @cached_property
    def all_resources(self) -> tuple[ResourceOrPrompt, ...]:
        """The resources of all clients.

        Raises:
            DefinitionError: a definition differs from the generated one; a handler uses a
                dependency that the lifespan does not provide; or two toolsets have a resource
                with the same URI.
        """
        if self.member_servers:
            resources = [
                resource
                for server in self.member_servers
                for resource in server.all_resources
            ]
            definitions = [resource.definition for resource in resources]
            uris = [
                str(definition.get("uri", definition.get("uriTemplate")))
                for definition in definitions
            ]
            self._reject_duplicates("resource", uris)
            return tuple(resources)
        if self.mcp_resources is None:
            return ()
        return self._check_dependencies(
            optional.mcp_definitions.read_resources(self.mcp_resources)
        )

    @cached_property
    def all_prompts(self) -> tuple[ResourceOrPrompt, ...]:
        """The MCP prompts of all clients; errors as `all_resources`, by name."""
        if self.member_servers:
            prompts = [
                prompt
                for server in self.member_servers
                for prompt in server.all_prompts
            ]
            self._reject_duplicates("prompt", [prompt.name for prompt in prompts])
            return tuple(prompts)
        if self.mcp_prompts is None:
            return ()
        return self._check_dependencies(
            optional.mcp_definitions.read_prompts(self.mcp_prompts)
        )

    def _check_dependencies(
        self, definitions: tuple[ResourceOrPrompt, ...]
    ) -> tuple[ResourceOrPrompt, ...]:
        handlers = [
            definition.handler
            for definition in definitions
            if definition.handler is not None
        ]
        available = self.registry.lifespan_dependencies
        validate_dependencies(self.registry.package, handlers, available)
        return definitions

    def _reject_duplicates(self, kind: str, keys: Sequence[str]) -> None:
        """Raise if two combined toolsets have a definition with the same key."""
        if len({*keys}) == len(keys) or not self.member_servers:
            return
        duplicate = next(key for key in keys if keys.count(key) > 1)
        package = self.registry.package
        raise DefinitionError(f"{package}: two toolsets have a {kind} `{duplicate}`")

    def _is_available(self, client: str | None, clients: tuple[str, ...]) -> bool:
        # Called only for its error: `get_client` raises for an unknown client.
        self.registry.access().get_client(client)
        return not self.registry.has_clients or client in clients

    async def list_available_tools(self, client: str | None) -> list[Tool]:
        """Return the tools that a client may call, local tools first.

        Raises:
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        return [*self.tools(client), *await self.external_tools(client)]

    async def external_tools(
        self, client: str | None, *, is_always: bool = False
    ) -> list[Tool]:
        """Return the external tools that a client may call, optionally only `always` tools."""
        if not self.external:
            return []
        return await self.registry.list_remote_tools(client, is_always=is_always)

    async def find(
        self, name: str, client: str | None, *, is_found: bool = False
    ) -> ToolMatch | None:
        """Return a tool that a client may call, by its current or a previous name.

        Args:
            name: the name in the call.
            client: the client that calls.
            is_found: whether the call is unwrapped from `call_found_tool`, which cannot call
                the two search tools.
        """
        if self.search and not is_found:
            from .tool_search import SEARCH_TOOLS, SearchToolProvider

            if name in SEARCH_TOOLS:
                list_tools = partial(self.list_available_tools, client)
                return SearchToolProvider(self.registry, list_tools).find(name)
        # Fast path: without external servers, an unknown name needs only this lookup.
        if name not in self._callable_names and not self.external:
            return None
        try:
            match = await self.registry.find(name, client)
        except UnknownToolError:
            return None
        # The registry also returns local tools that are excluded from the target `mcp`.
        is_available = match.provider is not None or match.tool.name in self._names
        return match if is_available else None

    def import_handlers(
        self, begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Import the handlers of tools, resources and prompts; see `Toolset`."""
        errors: dict[str, BaseException] = {}
        for server in self.toolsets:
            toolset = server.registry.get_single_toolset()
            errors |= toolset.import_handlers(
                server.resource_and_prompt_handlers, begin
            )
        return errors

    def find_refusal(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Return why a part of the tool's toolset refuses a call over HTTP; None if allowed."""
        for server in self.toolsets:
            if not self.member_servers or server.registry.is_local(tool_name):
                for part in server.parts:
                    reason = part.guard(tool_name, headers)
                    if reason is not None:
                        return reason
                return None
        return None


def _has_client(registry: Registry, client: str | None) -> bool:
    return client in registry.clients if registry.has_clients else client is None
