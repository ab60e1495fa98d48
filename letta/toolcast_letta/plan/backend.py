"""The interface that every kind of Letta implements, and the values it exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from .current_state import CurrentState
from .desired_state import DesiredState, DesiredTool
from .plan import Plan

Report = Callable[[str], None]
"""A callback that receives one progress line for each step."""


class BackendError(Exception):
    """Failure to read or change the state of Letta; the message has no secret."""


class PlanRefusedError(Exception):
    """Refusal to apply a plan or its remaining steps; one reason on each line."""


@dataclass(frozen=True)
class ApplyResult:
    """The result of applying a plan.

    Attributes:
        tools: the number of tools of the plan's first agent after applying.
        rules: the number of that agent's rules.
        changed: whether anything had to be changed.
        baseline: the file with the previous state; None if nothing was changed.
        missed: differences from the plan that exist after applying, because another
            client changed Letta at the same time.
        missing: descriptions of what agents need and the plan did not provide.
    """

    tools: int
    rules: int
    changed: bool
    baseline: str | None = None
    missed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallOptions:
    """Options that decide which tools verification calls.

    Attributes:
        examples: whether to call the examples of tools.
        changing: whether to also call the examples of tools that change data or require
            approval.
        tools: the names of the tools to call; empty for every tool with examples.
        turn: the tool that each agent calls in a turn with its model; None for no turn.
    """

    examples: bool = True
    changing: bool = False
    tools: tuple[str, ...] = ()
    turn: str | None = None

    def selects(self, tool: DesiredTool) -> bool:
        """Return whether the options select a tool for a call of its examples.

        A tool that the user named is selected even if it has no example;
        `omission_reason` then returns why it is not called.
        """
        if not self.examples:
            return False
        return tool.name in self.tools if self.tools else bool(tool.examples)

    def omission_reason(self, tool: DesiredTool) -> str:
        """Return why a selected tool is not called; empty if it is called."""
        if not tool.examples:
            return "its spec has no example"
        if tool.needs_opt_in and not self.changing:
            return (
                "it changes data or requires approval; pass --call-changing to call it"
            )
        return ""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check during verification.

    Attributes:
        agent: the agent's name in the toolset.
        tool: the tool's name; empty for a check of the whole server.
        kind: `run` for a call without a model, `turn` for a call by the agent's model,
            `list` for the list of offered tools.
        passed: whether the check succeeded; None if it was skipped.
        detail: why it failed or was skipped, or a summary.
        is_asked: whether the user requested this check by the tool's name. If such a
            check is skipped, verification fails.
    """

    agent: str
    tool: str
    kind: str
    passed: bool | None
    detail: str = ""
    is_asked: bool = False

    @classmethod
    def from_examples(cls, agent: str, tool: DesiredTool, problem: str) -> CheckResult:
        """Return the result of calling a tool's examples.

        Args:
            agent: the agent's name.
            tool: the tool.
            problem: the description of the failure; empty if all calls succeeded.
        """
        count = len(tool.examples)
        detail = problem or f"{count} example{'' if count == 1 else 's'}"
        return cls(agent, tool.name, "run", not problem, detail)


@dataclass(frozen=True)
class AgentCount:
    """The tools of an agent, now and in the newest baseline.

    Attributes:
        agent: the agent's name in the toolset.
        names: the names of its tools.
        canonical: the number of tools that the toolset attaches to each of its agents.
        baseline: the names of its tools in the baseline; None without a baseline.
    """

    agent: str
    names: tuple[str, ...]
    canonical: int
    baseline: tuple[str, ...] | None = None

    @property
    def attached(self) -> int:
        """The number of tools that the agent has."""
        return len(self.names)

    @property
    def gained(self) -> tuple[str, ...]:
        """The tools that the agent has now and did not have in the baseline."""
        # Without a baseline, no tool counts as gained.
        before = self.names if self.baseline is None else self.baseline
        return tuple(name for name in self.names if name not in before)

    @property
    def lost(self) -> tuple[str, ...]:
        """The tools that the agent had in the baseline and does not have now."""
        return tuple(name for name in self.baseline or () if name not in self.names)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
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
    """A Letta server, or a settings file of Letta Code."""

    @property
    def location(self) -> str:
        """The URL of the server, or the path of the settings file."""

    @property
    def refusal(self) -> str:
        """Why this Letta must not be changed; empty if plans can be applied to it."""

    def read(self, desired: DesiredState) -> CurrentState:
        """Read the current state, as far as a plan for the desired state depends on it.

        Raises:
            BackendError: a request failed, an agent does not exist, or a file cannot be
                read.
        """

    def lock(self) -> AbstractContextManager[None]:
        """Return a context manager that prevents concurrent changes.

        Raises:
            ConcurrentRunError: another run has the lock.
        """

    def record_unchanged(self, plan: Plan, desired: DesiredState) -> None:
        """Record the losses that a plan without changes accepts.

        If an earlier run was interrupted, it is marked as complete, because no change
        is left to apply.
        """

    def execute(
        self, plan: Plan, desired: DesiredState, current: CurrentState, report: Report
    ) -> ApplyResult:
        """Apply the changes of a plan.

        The current state must be the state that the plan was made for.

        Raises:
            PlanRefusedError: a step did not have its expected effect.
            BackendError: a request failed, or a file cannot be written. Applying again
                completes the plan.
        """

    def count_tools(
        self, desired: DesiredState, current: CurrentState
    ) -> Iterator[AgentCount]:
        """Yield the tools of each agent, and those of its newest baseline."""

    def run_checks(
        self, desired: DesiredState, current: CurrentState, calls: CallOptions
    ) -> Iterator[CheckResult]:
        """Call the tools that the options select, and yield the results.

        Raises:
            MissingSettingError: the options select a check that this kind of Letta does
                not support.
        """
