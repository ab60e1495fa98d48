"""The rooms beside the core: one table of names, and what the core asks of each.

The core imports none of them. One is loaded by whoever first needs it; where it is absent or
broken, that call is refused by the room's name, and no handler runs: a missing part never skips
what it is there for. What a member of a room does, and what it raises, is said in the room's module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from .context import CallContext, CallOutcome, ToolResponse
    from .definitions.tool import Confirm, Tool
    from .question import Approvals, AskPerson, Question, Questions
    from .toolset_settings import LedgerSettings, Lifespan, LinkLimits
    from .validation.checker import Checker

    Answer = Callable[..., Awaitable[tuple[ToolResponse, CallOutcome]]]

_ROOMS = {
    "confirmation": ("consent.confirmation", ("confirmation", "copied", "is_needed")),
    "questions": ("consent.questions", ("ApprovalsInMemory", "Questions")),
    "recorder": ("ledger.recorder", ("Recorder",)),
    "approvals": ("ledger.tables", ("ApprovalsTable",)),
    "lifespan": ("lifespan", ("Resources",)),
    "values": ("values.models", ("typed_function",)),
    "types": ("values.types_of_tool", ("types_of",)),
    "router": ("router.router", ("Router", "chosen_from")),
    "offers": (
        "resources.definitions_of_mcp",
        (
            "Failed",
            "contents_of",
            "messages_of",
            "problems_with_arguments",
            "read_prompts",
            "read_resources",
        ),
    ),
    "kept": ("resources.content_blocks", ("KeptContent",)),
    "skills": ("skills", ("ServedSkills",)),
    "results": ("results.shaping", ("listed_parameters", "listed_returns", "shaping")),
}
"""Modules below `rooms`, and what the core uses of each."""


class MissingRoomError(RuntimeError):
    """A part of the runtime that is needed now cannot be loaded. The text names it."""


class Confirmation(Protocol):
    """The question of a tool that asks before it does its work."""

    def copied(self, value: Any) -> Any: ...
    def is_needed(
        self,
        confirm: Confirm,
        checkers: dict[str, Checker | None],
        arguments: Mapping[str, Any],
    ) -> bool: ...
    def confirmation(
        self, tool: str, confirm: Confirm, arguments: Mapping[str, Any]
    ) -> Question: ...


class AskingPeople(Protocol):
    """What puts the questions of calls to people."""

    def Questions(
        self,
        person: AskPerson,
        approvals: Callable[[], Approvals],
        tool: Tool,
        client: str | None,
        arguments: Mapping[str, Any],
        loop: asyncio.AbstractEventLoop,
    ) -> Questions: ...
    def ApprovalsInMemory(self) -> Approvals: ...


class Recorder(Protocol):
    """Records the calls of persistent tools."""

    async def record(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        work: Callable[[], Awaitable[tuple[ToolResponse, CallOutcome]]],
    ) -> tuple[ToolResponse, CallOutcome]: ...
    async def check(self) -> None: ...
    async def close(self) -> None: ...


class Resources(Protocol):
    """The resources that a toolset's tools use: who has to have them, and where."""

    is_over: bool
    is_left_out: bool

    @property
    def is_up(self) -> bool: ...
    async def enter(self) -> None: ...
    async def leave(self) -> None: ...
    async def of(
        self, names: Sequence[str]
    ) -> tuple[Mapping[str, Any], asyncio.AbstractEventLoop | None]: ...
    def replaced(
        self, resources: Mapping[str, Any]
    ) -> AbstractContextManager[None]: ...


class Router(Protocol):
    """Chooses tools for a message."""

    async def route(
        self, message: str, tools: Sequence[Any], history: Sequence[str] = ()
    ) -> Any:
        """The route, with the `names` of the chosen tools. Never raises."""

    async def best_first(self, message: str, tools: Sequence[Any]) -> list[str]: ...


class Offer(Protocol):
    """A resource, or an MCP prompt, as its definition has it.

    Attributes:
        name: its name.
        definition: as MCP lists it.
        handler: its handler as a tool; None where the definition holds everything.
        values: the only values of variables or arguments that have some.
        clients: who may have it; nobody else in a toolset with clients.
    """

    @property
    def name(self) -> str: ...
    @property
    def definition(self) -> Mapping[str, Any]: ...
    @property
    def handler(self) -> Tool | None: ...
    @property
    def values(self) -> Mapping[str, Sequence[str]]: ...
    @property
    def clients(self) -> tuple[str, ...]: ...


class RunsHandlers(Protocol):
    """The calls of a toolset, which run the handlers of resources and prompts, too."""

    async def run_handler(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        shaped: Callable[[Any], ToolResponse],
    ) -> tuple[ToolResponse, CallOutcome]: ...


class McpOffers(Protocol):
    """What MCP clients are offered beside tools, what resources hold, and what prompts say."""

    Failed: type[Exception]
    """A handler gave no answer that can be sent; the text may be read by the caller."""

    async def contents_of(
        self,
        resource: Offer,
        uri: str,
        variables: Mapping[str, str],
        calls: RunsHandlers,
        context: CallContext,
    ) -> dict[str, Any] | None: ...
    async def messages_of(
        self,
        prompt: Offer,
        arguments: Mapping[str, str],
        calls: RunsHandlers,
        context: CallContext,
    ) -> list[dict[str, Any]]: ...
    def problems_with_arguments(
        self, prompt: Offer, arguments: Mapping[str, str]
    ) -> list[str]: ...
    def read_resources(self, package: ModuleType) -> tuple[Offer, ...]: ...
    def read_prompts(self, package: ModuleType) -> tuple[Offer, ...]: ...


class KeptContent(Protocol):
    """The content of links that handlers returned, until it is read or over."""

    def keep(
        self, user: str | None, name: str, content: str | bytes, mime_type: str | None
    ) -> str: ...
    def contents(self, user: str | None, uri: str) -> dict[str, Any] | None: ...


class Skill(Protocol):
    """One Agent Skill: its front matter, and the texts of its files by their paths."""

    @property
    def name(self) -> str: ...
    @property
    def front_matter(self) -> Mapping[str, Any]: ...
    @property
    def files(self) -> Mapping[str, str]: ...


class Skills(Protocol):
    """The Agent Skills of a toolset."""

    def of(
        self, client: str | None, *, target: str | None = None
    ) -> Sequence[Skill]: ...


class SkillFolders(Protocol):
    """The skills of one client as MCP shows them."""

    def entries(self) -> list[dict[str, Any]]: ...
    def entry(self, uri: str) -> dict[str, Any] | None: ...
    def children(self, uri: str) -> list[dict[str, Any]]: ...
    def listed(self) -> list[dict[str, Any]]: ...
    def contents(self, uri: str) -> dict[str, Any] | None: ...


class Results(Protocol):
    """What is sent of results, and how tools are listed of which callers pick some."""

    def shaping(self, answer: Answer) -> Answer: ...
    def listed_parameters(self, parameters: Any, fields: Any) -> Any: ...
    def listed_returns(self, returns: Any, fields: Any) -> Any: ...


def confirmation() -> Confirmation:
    """The questions of tools that say so; each of these raises MissingRoomError."""
    return cast("Confirmation", _loaded("confirmation"))


def asking_people() -> AskingPeople:
    """The questions of handlers, and the asking itself."""
    return cast("AskingPeople", _loaded("questions"))


def recorder(settings: LedgerSettings | None, package: str | None) -> Recorder:
    """What records calls, in the ledger of the settings."""
    return cast("Recorder", _loaded("recorder").Recorder(settings, package))


def approvals(settings: LedgerSettings) -> Approvals:
    """Where questions and answers are kept, in the ledger of the settings."""
    return cast("Approvals", _loaded("approvals").ApprovalsTable(settings))


def resources(lifespan: Lifespan, package: str | None, toolset: str) -> Resources:
    """The resources of a lifespan whose function the package has to define."""
    return cast("Resources", _loaded("lifespan").Resources(lifespan, package, toolset))


def typed(
    function: Callable[..., Any], tool: Tool, package: str | None
) -> Callable[..., Any]:
    """A function for plain JSON values around a handler that is given others.

    Raises:
        Exception: a class cannot be had, or does not agree with the tool's schemas.
    """
    made: Callable[..., Any] = _loaded("values").typed_function(function, tool, package)
    return made


def types_of(definition: Mapping[str, Any], has_clients: bool) -> dict[str, Any]:
    """What the generated module of a tool has to say of its types."""
    found: dict[str, Any] = _loaded("types").types_of(definition, has_clients)
    return found


def router() -> Router:
    """What chooses tools by their words."""
    return cast("Router", _loaded("router").Router())


def chosen_from(tools: Sequence[Tool], catalog: Mapping[str, str] | None) -> list[Any]:
    """What a router chooses from: the tools of a catalogue, or the routed ones of them."""
    found: list[Any] = _loaded("router").chosen_from(tools, catalog)
    return found


def mcp_offers() -> McpOffers:
    """Resources and MCP prompts: their definitions, and what they give."""
    return cast("McpOffers", _loaded("offers"))


def kept_content(toolset: str, limits: LinkLimits) -> KeptContent:
    """What keeps the content of links, within limits, below a toolset's URIs."""
    return cast("KeptContent", _loaded("kept").KeptContent(toolset, limits))


def served_skills(skills: Callable[[], list[Skill]]) -> SkillFolders:
    """The skills of one client, which are asked for at each request."""
    return cast("SkillFolders", _loaded("skills").ServedSkills(skills))


def results() -> Results:
    """What leaves out of results what is not sent."""
    return cast("Results", _loaded("results"))


def _loaded(name: str) -> Any:
    module, needed = _ROOMS[name]
    part = module.partition(".")[0]
    try:
        loaded = import_module(f"...rooms.{module}", __name__)
        for each in needed:
            getattr(loaded, each)
    except (Exception, SystemExit) as error:
        raise MissingRoomError(
            f"the part `{part}` of toolcast-runtime cannot be loaded"
        ) from error
    return loaded
