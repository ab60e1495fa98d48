"""Reads everything back, calls what agents have, and says what is otherwise than desired."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .backend import AgentCount, Backend, CallOptions, CheckResult
from .desired_state import DesiredState, MissingSettingError
from .plan import Plan
from .planning import build_plan


@dataclass(frozen=True)
class Verification:
    """What was found.

    Attributes:
        plan: what would have to be done; nothing when all is as it should be.
        counts: each agent's tools.
        checks: the calls.
        canonical: the names that every agent of the toolset gets.
        blocks: memory blocks that are not as the specs say, a line each.
    """

    plan: Plan
    counts: tuple[AgentCount, ...]
    checks: tuple[CheckResult, ...]
    canonical: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[str, ...]:
        """What is otherwise than the specs say, a line each."""
        lines = [blocker.message for blocker in self.plan.blockers]
        for change in self.plan.changes:
            of = f" of {change.agent}" if change.agent else ""
            detail = f" ({change.detail})" if change.detail else ""
            lines.append(f"{change.action} {change.layer} {change.name}{of}{detail}")
        return (*lines, *self.plan.missing, *self.blocks)

    @property
    def all_match(self) -> bool:
        """Whether everything is as the specs say, and every call went well."""
        return not self.differences and all(t.passed is not False for t in self.checks)

    @property
    def not_done(self) -> tuple[str, ...]:
        """What was asked for by its name and left out, a line each."""
        return tuple(
            f"{check.kind} {check.tool} by {check.agent}: {check.detail}"
            for check in self.checks
            if check.is_asked and check.passed is None
        )

    @property
    def is_success(self) -> bool:
        """Whether all match, and all that was asked for was done."""
        return self.all_match and not self.not_done

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "all_match": self.all_match,
            "not_done": list(self.not_done),
            "agents": [count.to_json() for count in self.counts],
            "differences": list(self.differences),
            "warnings": list(self.plan.warnings),
            "calls": [asdict(check) for check in self.checks],
        }


def verify(
    backend: Backend, desired: DesiredState, calls: CallOptions | None = None
) -> Verification:
    """Compares what is there with the specs, and calls what agents have.

    Raises:
        MissingSettingError: a tool was named that no agent of the toolset gets.
        BackendError: something cannot be read.
    """
    calls = calls or CallOptions()
    for name in [*calls.tools, *([calls.turn] if calls.turn else [])]:
        if name not in desired.canonical:
            raise MissingSettingError(
                f"`{name}` is not attached to an agent by its spec"
            )
    if calls.tools and not calls.examples:
        raise MissingSettingError(
            "--tool names what is called, and --no-calls calls nothing"
        )
    current = backend.read(desired)
    return Verification(
        build_plan(backend.location, desired, current),
        tuple(backend.count_tools(desired, current)),
        tuple(backend.run_checks(desired, current, calls)),
        desired.canonical,
    )
