"""What the kinds of Letta differ in: how their state is read, and how it is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from .current_state import CurrentState
from .desired_state import DesiredState, DesiredTool
from .plan import Plan

Report = Callable[[str], None]
"""Is given a line for each step."""


class BackendError(Exception):
    """What is there cannot be read or changed. The text says why, and holds no secret."""


class PlanRefusedError(Exception):
    """Plan that is not applied, or only in part; the message has one reason a line."""


@dataclass(frozen=True)
class ApplyResult:
    """What was done.

    Attributes:
        tools: the number of the first agent's tools, as they are now.
        rules: the number of its rules.
        changed: whether anything had to be done.
        baseline: the file of what was there before; None when none was needed.
        missed: what is not as it should be behind it, because somebody else was at work.
    """

    tools: int
    rules: int
    changed: bool
    baseline: str | None = None
    missed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallOptions:
    """What verifying calls.

    Attributes:
        examples: whether the examples of tools are called.
        changing: whether also those of tools that change data or need approval.
        tools: only these; empty for all.
        turn: the tool that each agent calls in a real turn; None for no turn.
    """

    examples: bool = True
    changing: bool = False
    tools: tuple[str, ...] = ()
    turn: str | None = None

    def selects(self, tool: DesiredTool) -> bool:
        """Whether a tool's examples are to be called: it has some, or somebody named it."""
        is_meant = tool.name in self.tools if self.tools else bool(tool.examples)
        return self.examples and is_meant

    def omission_reason(self, tool: DesiredTool) -> str:
        """Why they are not called all the same; empty when they are."""
        if not tool.examples:
            return "its spec has no example"
        if tool.needs_opt_in and not self.changing:
            return "it changes data, or needs approval; --call-changing calls it"
        return ""


@dataclass(frozen=True)
class CheckResult:
    """One thing that was tried.

    Attributes:
        agent: the agent.
        tool: the tool; empty for the server as a whole.
        kind: `run` without a model, `turn` with the agent's own, `list` of what is offered.
        passed: whether it went as it should; None when it was left out.
        detail: what went wrong, or why it was left out.
        is_asked: somebody named it; left out, it is something that was not done.
    """

    agent: str
    tool: str
    kind: str
    passed: bool | None
    detail: str = ""
    is_asked: bool = False

    @classmethod
    def from_examples(cls, agent: str, tool: DesiredTool, wrong: str) -> CheckResult:
        """A tool whose examples were called, with what was wrong; empty for nothing."""
        number = len(tool.examples)
        detail = wrong or f"{number} example{'' if number == 1 else 's'}"
        return cls(agent, tool.name, "run", not wrong, detail)


@dataclass(frozen=True)
class AgentCount:
    """What an agent has, beside what it had in the newest baseline.

    Attributes:
        agent: the toolset's name for it.
        names: its tools.
        canonical: how many the toolset gives it.
        baseline: the tools that it had; None without a baseline.
    """

    agent: str
    names: tuple[str, ...]
    canonical: int
    baseline: tuple[str, ...] | None = None

    @property
    def attached(self) -> int:
        """How many it has."""
        return len(self.names)

    @property
    def gained(self) -> tuple[str, ...]:
        """What it has and had not."""
        before = self.names if self.baseline is None else self.baseline
        return tuple(name for name in self.names if name not in before)

    @property
    def lost(self) -> tuple[str, ...]:
        """What it had and has not."""
        return tuple(n for n in self.baseline or () if n not in self.names)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "agent": self.agent,
            "attached": self.attached,
            "canonical": self.canonical,
            "names": list(self.names),
            "baseline": None if self.baseline is None else len(self.baseline),
            "gained": list(self.gained),
            "lost": list(self.lost),
        }


class Backend(Protocol):
    """One kind of Letta at one place."""

    @property
    def location(self) -> str:
        """The URL of the server, or the path of the settings file."""

    @property
    def refusal(self) -> str:
        """Why nothing is ever changed there; empty where plans are carried out."""

    def read(self, desired: DesiredState) -> CurrentState:
        """Everything that a plan looks at.

        Raises:
            BackendError: a request failed, an agent is not there, a file cannot be read.
        """

    def lock(self) -> AbstractContextManager[None]:
        """Lets one run at a time change something.

        Raises:
            ConcurrentRunError: another one does.
        """

    def close_interrupted_run(self, desired: DesiredState) -> None:
        """A run finds that all is done, perhaps by one that was interrupted."""

    def execute(
        self, plan: Plan, desired: DesiredState, current: CurrentState, report: Report
    ) -> ApplyResult:
        """Does what a plan says; what is there is what the plan was made for.

        Raises:
            PlanRefusedError: a step did not have its effect.
            BackendError: a request failed, or a file cannot be written. Applying again
                completes what was begun.
        """

    def count_tools(
        self, desired: DesiredState, current: CurrentState
    ) -> Iterator[AgentCount]:
        """The number of each agent's tools."""

    def run_checks(
        self, desired: DesiredState, current: CurrentState, calls: CallOptions
    ) -> Iterator[CheckResult]:
        """Calls what is to be called.

        Raises:
            MissingSettingError: something is asked for that this kind of Letta has not.
        """
