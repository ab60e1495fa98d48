"""Several toolsets on one server: each tool is looked up and called by its own registry.

Their names are unique, so that a call has one owner. Who may have what is decided by the owner's
access alone; a client that a toolset does not have gets nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...core.definitions.definitions import DefinitionError
from ...core.registry.registry import Registry
from .server import McpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...core.calls.tool_calls import ToolCalls
    from ...core.definitions.tool import Tool
    from ...rooms.resources.definitions_of_mcp import McpPrompt, McpResource
    from ...rooms.skills.skills import Skill
    from .toolset_server import ToolsetServer


class JoinedRegistry(Registry):
    """The tools of several toolsets.

    Args:
        package: the generated package of the endpoint, by its name.
        servers: the toolsets' own servers, in the declared order.

    Attributes:
        servers: these.

    Raises:
        DefinitionError: two have a tool of one name, or only some have clients.
    """

    def __init__(self, package: str, servers: Sequence[ToolsetServer]) -> None:
        self.servers = tuple(servers)
        self._router = None
        toolsets = [one for s in servers for one in s.registry.toolsets]
        offering = [one for s in servers if s.external for one in s.registry.toolsets]
        self._hold(package, toolsets, offering)


@dataclass(frozen=True)
class JoinedServer(McpServer):
    """The server of an endpoint that several toolsets share; its registry is a joined one.

    Raises:
        DefinitionError: two toolsets answer at one path for administrators.
    """

    def __post_init__(self) -> None:
        parts = tuple(part for one in self.toolsets for part in one.parts)
        paths = [route.path for part in parts for route in part.admin_routes]
        for path in paths:
            if paths.count(path) > 1:
                package = self.registry.package
                raise DefinitionError(f"{package}: two toolsets answer at {path}")
        object.__setattr__(self, "parts", parts)

    @property
    def toolsets(self) -> tuple[ToolsetServer, ...]:
        """The toolsets' own servers."""
        joined = self.registry
        return joined.servers if isinstance(joined, JoinedRegistry) else ()

    @property
    def has_offers(self) -> bool:
        """Whether there are resources or MCP prompts, for anybody."""
        return any(one.has_offers for one in self.toolsets)

    def calls_of(self, handler: Tool | None) -> ToolCalls:
        """What runs the handler of a resource or prompt: its own toolset's calls."""
        for one in self.toolsets:
            if handler is None or handler in one.offer_handlers:
                return one.registry.calls
        raise LookupError("the handler is of none of the toolsets")

    @cached_property
    def all_resources(self) -> tuple[McpResource, ...]:
        """The resources of all toolsets.

        Raises:
            DefinitionError: two have one URI.
        """
        found = tuple(one for server in self.toolsets for one in server.all_resources)
        keys = [
            str(one.definition.get("uri", one.definition.get("uriTemplate")))
            for one in found
        ]
        self._refuse_twice("resource", keys)
        return found

    @cached_property
    def all_prompts(self) -> tuple[McpPrompt, ...]:
        """The MCP prompts of all toolsets.

        Raises:
            DefinitionError: two have one name.
        """
        found = tuple(one for server in self.toolsets for one in server.all_prompts)
        self._refuse_twice("prompt", [one.name for one in found])
        return found

    @property
    def has_skills(self) -> bool:
        """Whether a toolset has Agent Skills, for anybody."""
        return any(one.has_skills for one in self.toolsets)

    def skills_of(self, client: str | None) -> list[Skill]:
        """The skills of all toolsets that have the client; raises as `all_prompts`."""
        self.registry.access().client(client)
        has = [one for one in self.toolsets if _has(one.registry, client)]
        found = [skill for one in has for skill in one.skills_of(client)]
        self._refuse_twice("skill", [skill.name for skill in found])
        return found

    def _refuse_twice(self, what: str, keys: Sequence[str]) -> None:
        for key in keys:
            if keys.count(key) > 1:
                package = self.registry.package
                raise DefinitionError(f"{package}: two toolsets have a {what} `{key}`")

    def import_handlers(
        self, begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Imports the handlers of all toolsets."""
        failed: dict[str, BaseException] = {}
        for one in self.toolsets:
            failed |= one.import_handlers(begin)
        return failed

    def refusal(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a part of the tool's own toolset refuses a call; None when none does."""
        for one in self.toolsets:
            if one.registry.is_local(tool_name):
                return one.refusal(tool_name, headers)
        return None


def _has(registry: Registry, client: str | None) -> bool:
    return client in registry.clients if registry.has_clients else client is None
