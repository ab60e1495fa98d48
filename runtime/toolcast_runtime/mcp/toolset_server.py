"""What one MCP server serves: its name, its tools, who gets which."""

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
    from ..resources.mcp_definitions import McpOffer
    from ..skills import Skill, Skills


class ServerPart(Protocol):
    """What one target adds to the toolset's server over HTTP."""

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """Paths for administrators."""

    @property
    def started(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What runs beside the requests once the server answers."""

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a call over HTTP is refused; None when it is not.

        It is asked for each call of a client, and for those that a handler makes through
        the registry meanwhile, in the same context: in its own task or thread, or in one
        that it starts with a copy of its context.

        Args:
            tool_name: the called tool's present name.
            headers: the request's, by their names in lower case.
        """

    def definition_members(
        self, spec: Mapping[str, Any], exclusions: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Return what the definition of a tool contains for the target, by member name.

        Generated tests compare the definition with it. None is an absent member.

        Args:
            spec: the tool's spec, parsed.
            exclusions: the targets that the toolset excludes the tool from, with reasons.
        """


@dataclass(frozen=True)
class ToolsetServer:
    """What one MCP server serves.

    Attributes:
        registry: looks tools up and calls them.
        name: serverInfo's name.
        title: serverInfo's title.
        version: serverInfo's version.
        instructions: how to use the server as a whole.
        client: the client that is served when none is asked for; None in a toolset
            without clients.
        http: where and how each client is served over HTTP.
        external: shows and calls the tools of external servers, too.
        state_key_variable: the environment variable with the key that seals what a client
            keeps while a person is asked; None for a key of each process alone.
        mcp_resources: the package whose `.json` files are the resources' definitions; None
            when there are none.
        mcp_prompts: the same for MCP prompts.
        skills: the Agent Skills, or the package below the toolset's that has them, such as
            `.skills`, which the first request for one imports; None when there are none.
        links: how long and how much content behind links is kept; None keeps none.
        heartbeat: reports that a call still runs, where its caller asked for progress and
            its handler reports none.
        search: lists the tools of every turn alone, and two that find and call the others.
        parts: what other targets of the toolset add.
        sharing: the own servers of the toolsets that share this one, in the declared order;
            empty where it is one toolset's alone.

    Raises:
        DefinitionError: two toolsets that share it answer at one path for administrators.
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
    sharing: tuple[ToolsetServer, ...] = ()

    def __post_init__(self) -> None:
        if self.search:
            from .tool_search import OWN

            self.registry.reserve_names(OWN)
        if not self.sharing:
            return
        parts = tuple(part for one in self.sharing for part in one.parts)
        paths = [route.path for part in parts for route in part.admin_routes]
        for path in paths:
            if paths.count(path) > 1:
                package = self.registry.package
                raise DefinitionError(f"{package}: two toolsets answer at {path}")
        object.__setattr__(self, "parts", parts)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.registry.list_names_in("mcp"))

    @cached_property
    def _called_names(self) -> frozenset[str]:
        """The present and the former names of the local tools that are served."""
        tools = (t for t in self.registry.local_tools if t.name in self._names)
        return frozenset(name for t in tools for name in (t.name, *t.former_names))

    def has(self, name: str) -> bool:
        """Whether a local tool of this present name is served, for anybody."""
        return name in self._names

    def tools(self, client: str | None) -> list[Tool]:
        """The local tools that a client gets, in their order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        return self.registry.tools(client, target="mcp")

    def names(self, client: str | None) -> tuple[str, ...]:
        """The names of `tools`; raises as it does."""
        return self.registry.names(client, target="mcp")

    def hidden(self, client: str | None) -> int:
        """How many of `tools` are searched for instead of listed; raises as it does."""
        return sum(not t.always for t in self.tools(client)) if self.search else 0

    def listed(self, client: str | None) -> list[Tool]:
        """What `tools/list` shows without the tools of external servers; raises as `tools`.

        The two that find others are there where the client has others.
        """
        tools = self.tools(client)
        if not self.search:
            return tools
        from .tool_search import OWN

        listed = [tool for tool in tools if tool.always]
        has_others = len(listed) < len(tools) or self.external
        return [*listed, *OWN.values()] if has_others else listed

    def list_tools(self, client: str | None) -> list[Mapping[str, Any]]:
        """The client's `tools/list`, without the tools of external servers."""
        return [tool.definition for tool in self.listed(client)]

    @property
    def toolsets(self) -> tuple[ToolsetServer, ...]:
        """What is served, a toolset each: those that share the server, or this one."""
        return self.sharing or (self,)

    @property
    def has_offers(self) -> bool:
        """Whether there are resources or MCP prompts, for anybody."""
        packages = [(one.mcp_resources, one.mcp_prompts) for one in self.toolsets]
        return any(package is not None for two in packages for package in two)

    @cached_property
    def offer_handlers(self) -> tuple[Tool, ...]:
        """The handlers of resources and MCP prompts, as tools; raises as `all_resources`."""
        handlers = (one.handler for one in (*self.all_resources, *self.all_prompts))
        return tuple(handler for handler in handlers if handler is not None)

    def calls_of(self, handler: Tool | None) -> ToolCalls:
        """What runs the handler of a resource or an MCP prompt: its own toolset's calls."""
        for one in self.toolsets:
            if handler is None or handler in one.offer_handlers:
                return one.registry.calls
        raise LookupError("the handler is of none of the toolsets")

    def asks(self, client: str | None) -> bool:
        """Whether a client has to count on questions to its person; raises as `tools`.

        A toolset whose handlers ask says so by the key's variable.
        """
        return self.state_key_variable is not None or any(
            tool.confirm is not None for tool in self.tools(client)
        )

    def resources(self, client: str | None) -> list[McpOffer]:
        """The resources and templates that a client may read.

        In a toolset with clients those of none are nobody's.

        Raises:
            DefinitionError: the definitions are not what was generated.
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have what cannot be found out.
        """
        return [one for one in self.all_resources if self._is_for(client, one.clients)]

    def prompts(self, client: str | None) -> list[McpOffer]:
        """The MCP prompts that a client may get; raises as `resources`."""
        return [one for one in self.all_prompts if self._is_for(client, one.clients)]

    @property
    def has_skills(self) -> bool:
        """Whether there are Agent Skills, for anybody."""
        return any(one.skills is not None for one in self.toolsets)

    def skills_of(self, client: str | None) -> list[Skill]:
        """The Agent Skills that a client may have, of all toolsets that have the client.

        Raises: as `tools`.
            DefinitionError: two toolsets have one of one name.
        """
        self.registry.access().get_client(client)
        found = [
            skill
            for one in self.toolsets
            if one.own_skills is not None and _has(one.registry, client)
            for skill in one.own_skills.of(client, target="mcp")
        ]
        self._refuse_twice("skill", [skill.name for skill in found])
        return found

    @cached_property
    def own_skills(self) -> Skills | None:
        """The toolset's own, imported if need be."""
        if isinstance(self.skills, str):
            found: Skills = import_module(self.skills, self.registry.package).SKILLS
            return found
        return self.skills

    @cached_property
    def all_resources(self) -> tuple[McpOffer, ...]:
        """The resources, whoever may read them.

        Raises:
            DefinitionError: one is not what was generated, or its handler uses what the
                lifespan does not give; or two toolsets have one of one URI.
        """
        if self.sharing:
            found = [offer for one in self.sharing for offer in one.all_resources]
            told = [one.definition for one in found]
            keys = [str(one.get("uri", one.get("uriTemplate"))) for one in told]
            self._refuse_twice("resource", keys)
            return tuple(found)
        if self.mcp_resources is None:
            return ()
        return self._usable(optional.mcp_definitions.read_resources(self.mcp_resources))

    @cached_property
    def all_prompts(self) -> tuple[McpOffer, ...]:
        """The MCP prompts, whoever may get them; raises as `all_resources`, for names."""
        if self.sharing:
            found = [offer for one in self.sharing for offer in one.all_prompts]
            self._refuse_twice("prompt", [one.name for one in found])
            return tuple(found)
        if self.mcp_prompts is None:
            return ()
        return self._usable(optional.mcp_definitions.read_prompts(self.mcp_prompts))

    def _usable(self, found: tuple[McpOffer, ...]) -> tuple[McpOffer, ...]:
        handlers = [one.handler for one in found if one.handler is not None]
        known = self.registry.lifespan_dependencies
        validate_dependencies(self.registry.package, handlers, known)
        return found

    def _refuse_twice(self, what: str, keys: Sequence[str]) -> None:
        if len({*keys}) == len(keys) or not self.sharing:
            return
        twice = next(key for key in keys if keys.count(key) > 1)
        package = self.registry.package
        raise DefinitionError(f"{package}: two toolsets have a {what} `{twice}`")

    def _is_for(self, client: str | None, clients: tuple[str, ...]) -> bool:
        self.registry.access().get_client(client)
        return not self.registry.has_clients or client in clients

    async def offered(self, client: str | None) -> list[Tool]:
        """The tools that a client is offered, the local before the external.

        Raises: as `tools`.
        """
        return [*self.tools(client), *await self.external_tools(client)]

    async def external_tools(
        self, client: str | None, *, is_always: bool = False
    ) -> list[Tool]:
        """The external servers' tools that a client is offered; or those of every turn."""
        remote = self.registry.list_remote_tools
        return await remote(client, is_always=is_always) if self.external else []

    async def find(
        self, name: str, client: str | None, *, is_found: bool = False
    ) -> ToolMatch | None:
        """A tool that a client is offered, by its present or a former name; or None.

        Every call comes here, and what is found is called: it costs one look-up.
        `is_found`: it is called as a found one, which the server's own two never are.
        """
        if self.search and not is_found:
            from .tool_search import OWN, OwnTools

            if name in OWN:
                return OwnTools(self.registry, partial(self.offered, client)).find(name)
        if name not in self._called_names and not self.external:
            return None
        try:
            found = await self.registry.find(name, client)
        except UnknownToolError:
            return None
        is_offered = found.provider is not None or found.tool.name in self._names
        return found if is_offered else None

    def import_handlers(
        self, begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Imports the handlers of tools, resources and prompts; see `Toolset`."""
        failed: dict[str, BaseException] = {}
        for one in self.toolsets:
            start = one.registry.get_single_toolset()
            failed |= start.import_handlers(one.offer_handlers, begin)
        return failed

    def refusal(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a part of the tool's own toolset refuses a call over HTTP; None for none."""
        for one in self.toolsets:
            if not self.sharing or one.registry.is_local(tool_name):
                reasons = (part.guard(tool_name, headers) for part in one.parts)
                return next((reason for reason in reasons if reason is not None), None)
        return None


def _has(registry: Registry, client: str | None) -> bool:
    return client in registry.clients if registry.has_clients else client is None
