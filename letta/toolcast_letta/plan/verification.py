"""Reads everything back, calls what agents have, and says what is otherwise than desired."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .backend import AgentCount, Backend, Calls, Trial
from .desired_state import DesiredState, MissingSetting
from .plan import Plan
from .planning import make_plan

__all__ = ["Verification", "verification_text", "verify"]


@dataclass(frozen=True)
class Verification:
    """What was found.

    Attributes:
        plan: what would have to be done; nothing when all is as it should be.
        counts: each agent's tools.
        trials: the calls.
    """

    plan: Plan
    counts: tuple[AgentCount, ...]
    trials: tuple[Trial, ...]

    @property
    def differences(self) -> tuple[str, ...]:
        """What is otherwise than the specs say, a line each."""
        lines = [blocker.message for blocker in self.plan.blockers]
        for change in self.plan.changes:
            of = f" of {change.agent}" if change.agent else ""
            detail = f" ({change.detail})" if change.detail else ""
            lines.append(f"{change.action} {change.layer} {change.name}{of}{detail}")
        return tuple(lines)

    @property
    def all_match(self) -> bool:
        """Whether everything is as the specs say, and every call went well."""
        return not self.differences and all(t.passed is not False for t in self.trials)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "all_match": self.all_match,
            "agents": [asdict(count) for count in self.counts],
            "differences": list(self.differences),
            "warnings": list(self.plan.warnings),
            "calls": [asdict(trial) for trial in self.trials],
        }


def verify(
    backend: Backend, desired: DesiredState, calls: Calls | None = None
) -> Verification:
    """Compares what is there with the specs, and calls what agents have.

    Raises:
        MissingSetting: a tool was named that no agent of the toolset gets.
        BackendError: something cannot be read.
    """
    calls = calls or Calls()
    for name in [*calls.tools, *([calls.turn] if calls.turn else [])]:
        if name not in desired.canonical:
            raise MissingSetting(f"`{name}` is not attached to an agent by its spec")
    current = backend.read(desired)
    return Verification(
        make_plan(backend.place, desired, current),
        tuple(backend.counts(desired, current)),
        tuple(backend.trials(desired, current, calls)),
    )


def verification_text(found: Verification) -> str:
    """What was found, for people; ends with a newline."""
    lines = [f"differs: {line}" for line in found.differences]
    lines += [f"warning: {line}" for line in found.plan.warnings]
    words = {True: "ok", False: "FAILED", None: "left out"}
    for trial in found.trials:
        detail = f" ({trial.detail})" if trial.detail else ""
        word = words[trial.passed]
        what = f" {trial.tool}" if trial.tool else ""
        lines.append(f"{trial.kind}{what} by {trial.agent}: {word}{detail}")
    for count in found.counts:
        line = f"attached_count: {count.attached}"
        if count.baseline is not None:
            more = count.attached - count.baseline
            sign = "+" if more >= 0 else "-"
            line += f" (baseline {count.baseline} {sign} {abs(more)})"
        lines.append(f"{line}  {count.agent}")
    lines.append(f"all_match: {'true' if found.all_match else 'false'}")
    return "\n".join(lines) + "\n"
