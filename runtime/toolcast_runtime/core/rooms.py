"""The rooms beside the core: one table of names, and what the core asks of each.

The core imports none of them. One is loaded by whoever first needs it; where it is absent or
broken, that call is refused by the room's name, and no handler runs: a missing part never skips
what it is there for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from .context import CallContext, CallOutcome, ToolResponse
    from .definitions.tool import Confirm, Tool
    from .question import Approvals, AskPerson, Question, Questions
    from .toolset_settings import LedgerSettings, Lifespan
    from .validation.checker import Checker

_ROOMS = {
    "confirmation": ("consent.confirmation", ("confirmation", "copied", "is_needed")),
    "questions": ("consent.questions", ("ApprovalsInMemory", "Questions")),
    "recorder": ("ledger.recorder", ("Recorder",)),
    "approvals": ("ledger.approvals_table", ("ApprovalsTable",)),
    "lifespan": ("lifespan.resources", ("Resources",)),
    "values": ("values.typed_function", ("typed_function",)),
    "router": ("router.router", ("Router",)),
    "route": ("router.route", ("chosen_from",)),
}
"""Modules below `rooms`, and what the core uses of each."""


class MissingRoomError(RuntimeError):
    """A part of the runtime that is needed now cannot be loaded. The text names it."""


class Confirmation(Protocol):
    """The question of a tool that asks before it does its work."""

    def copied(self, value: Any) -> Any:
        """Valid arguments that nobody else can change, while a person looks at them."""

    def is_needed(
        self,
        confirm: Confirm,
        checkers: dict[str, Checker | None],
        arguments: Mapping[str, Any],
    ) -> bool:
        """Whether these arguments need a yes; when that cannot be told, they do."""

    def confirmation(
        self, tool: str, confirm: Confirm, arguments: Mapping[str, Any]
    ) -> Question:
        """What the person is asked.

        Raises:
            Declined: the arguments are too much for a person to read.
        """


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
    ) -> Questions:
        """The questions of one call, which runs in a loop."""

    def ApprovalsInMemory(self) -> Approvals:
        """Where questions are kept without a ledger."""


class Recorder(Protocol):
    """Records the calls of persistent tools."""

    async def record(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        work: Callable[[], Awaitable[tuple[ToolResponse, CallOutcome]]],
    ) -> tuple[ToolResponse, CallOutcome]:
        """Does the work of a call, and records it."""

    async def check(self) -> None:
        """Returns when calls can be recorded.

        Raises:
            LedgerError: they cannot.
        """

    async def close(self) -> None:
        """Returns when everything is recorded."""


class Resources(Protocol):
    """The resources that a toolset's tools use: who has to have them, and where."""

    is_over: bool
    is_left_out: bool

    @property
    def is_up(self) -> bool:
        """Whether what tools use is open, or replaced, or left out."""

    async def enter(self) -> None:
        """Starts the lifespan in the present loop, unless it runs already.

        Raises:
            LifespanError: it cannot be started.
        """

    async def leave(self) -> None:
        """Ends the lifespan, unless another toolset still needs it."""

    async def of(
        self, names: Sequence[str]
    ) -> tuple[Mapping[str, Any], asyncio.AbstractEventLoop | None]:
        """The named resources, and the loop in which they are to be used; None for any.

        Raises:
            LifespanError: they are not there.
        """

    def replaced(self, resources: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Gives tools these instead of what the lifespan gives.

        Raises:
            LookupError: the toolset has no resource of a name.
        """


class Router(Protocol):
    """Chooses tools for a message."""

    async def route(
        self, message: str, tools: Sequence[Any], history: Sequence[str] = ()
    ) -> Any:
        """The route, with the `names` of the chosen tools. Never raises."""


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


def router() -> Router:
    """What chooses tools by their words."""
    return cast("Router", _loaded("router").Router())


def chosen_from(tools: Sequence[Tool], catalog: Mapping[str, str] | None) -> list[Any]:
    """What a router chooses from: the tools of a catalogue, or the routed ones of them."""
    found: list[Any] = _loaded("route").chosen_from(tools, catalog)
    return found


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
