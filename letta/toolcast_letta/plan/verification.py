"""Compare Letta with the specs, and call the tools that agents have."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .backend import AgentCount, Backend, CallOptions, CheckResult
from .desired_state import DesiredState, MissingSettingError
from .plan import Plan
from .planning import build_plan


@dataclass(frozen=True)
class Verification:
    """The results of verification.

    Attributes:
        plan: the plan that would bring Letta to the desired state; without changes if
            it is there.
        counts: the number of tools of each agent.
        checks: the results of the calls.
        canonical: the names of the tools that every agent of the toolset gets.
    """

    plan: Plan
    counts: tuple[AgentCount, ...]
    checks: tuple[CheckResult, ...]
    canonical: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[str, ...]:
        """Descriptions of all differences from the specs."""
        lines = [blocker.message for blocker in self.plan.blockers]
        for change in self.plan.changes:
            owner = f" of {change.agent}" if change.agent else ""
            detail = f" ({change.detail})" if change.detail else ""
            lines.append(f"{change.action} {change.layer} {change.name}{owner}{detail}")
        return (*lines, *self.plan.missing, *self.plan.blocks)

    @property
    def all_match(self) -> bool:
        """Whether Letta matches the specs and no check failed.

        Skipped checks do not count as failed.
        """
        return not self.differences and all(
            check.passed is not False for check in self.checks
        )

    @property
    def skipped_checks(self) -> tuple[str, ...]:
        """Descriptions of the checks that the user requested and that were skipped."""
        return tuple(
            f"{check.kind} {check.tool} by {check.agent}: {check.detail}"
            for check in self.checks
            if check.is_asked and check.passed is None
        )

    @property
    def is_success(self) -> bool:
        """Whether everything matches and every requested check was done."""
        return self.all_match and not self.skipped_checks

    def to_json(self) -> dict[str, Any]:
        """Return the results as a JSON object."""
        return {
            "all_match": self.all_match,
            "skipped_checks": list(self.skipped_checks),
            "agents": [count.to_json() for count in self.counts],
            "differences": list(self.differences),
            "warnings": list(self.plan.warnings),
            "calls": [asdict(check) for check in self.checks],
        }


def verify(
    backend: Backend, desired: DesiredState, calls: CallOptions | None = None
) -> Verification:
    """Compare Letta with the desired state, and call the selected tools.

    Failed calls are part of the result and raise no error.

    Args:
        backend: the Letta to read.
        desired: the desired state.
        calls: the options that select the calls; None for the default.

    Raises:
        MissingSettingError: an option names a tool that the toolset does not attach, or
            contradicts another option.
        BackendError: the current state cannot be read.
    """
    calls = calls or CallOptions()
    for name in [*calls.tools, *([calls.turn] if calls.turn else [])]:
        if name not in desired.canonical:
            raise MissingSettingError(
                f"the spec of `{name}` does not attach it to agents"
            )
    if calls.tools and not calls.examples:
        raise MissingSettingError(
            "--tool and --no-calls contradict each other: remove one of them"
        )
    current = backend.read(desired)
    return Verification(
        build_plan(backend.location, desired, current),
        tuple(backend.count_tools(desired, current)),
        tuple(backend.run_checks(desired, current, calls)),
        desired.canonical,
    )
