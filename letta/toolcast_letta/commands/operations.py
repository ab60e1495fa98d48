"""What the commands do, the same for every kind of Letta; each gives an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toolcast.commands.exit_codes import CLEAN, FINDINGS, USAGE, fail

from .backends import LettaRequest, backend_of, desired_by, server_of

if TYPE_CHECKING:
    from ..plan.backend import Applied, Backend, Calls, Report
    from ..plan.desired_state import DesiredState
    from ..plan.plan import Overrides, Plan

__all__ = ["apply", "plan", "rollback", "verify"]

Result = TypeVar("Result")


def plan(
    request: LettaRequest,
    overrides: Overrides,
    out: Path | None,
    *,
    detailed_exitcode: bool,
) -> int:
    """Prints the plan, and saves it where that is asked for."""
    from ..plan.report import plan_text

    desired, backend = _connected(request)
    made = _planned(desired, backend, overrides)
    if out is not None:
        try:
            made.save(out)
        except OSError as error:
            fail(f"{out}: {error.strerror or error}")
    if request.as_json:
        _print_json(made.to_json())
    else:
        _print(plan_text(made))
        if out is not None and not made.blockers:
            kind = "" if request.kind == "v1" else f" --backend {request.kind}"
            click.echo(f"Saved: toolcast letta apply{kind} {out}")
    if made.blockers:
        return FINDINGS
    return USAGE if detailed_exitcode and made.changes else CLEAN


def apply(request: LettaRequest, overrides: Overrides, file: Path | None) -> int:
    """Carries out a saved plan, or one that is made now."""
    from ..plan.applying import apply_plan
    from ..plan.backend import Refused
    from ..plan.desired_state import MissingSetting
    from ..plan.plan import Plan, PlanFileError
    from ..plan.report import plan_text
    from ..v1.baseline import AnotherRun, BaselineError

    desired, backend = _connected(request)
    if file is not None:
        try:
            made = Plan.load(file)
            desired = desired.for_agents(agent.name for agent in made.agents)
        except (PlanFileError, MissingSetting) as error:
            fail(str(error))
    else:
        made = _planned(desired, backend, overrides)
        if not request.as_json:
            _print(plan_text(made))
    try:
        done = _asked(lambda: apply_plan(made, backend, desired, _report(request)))
    except (Refused, AnotherRun, BaselineError) as error:
        return _refused(str(error))
    if request.as_json:
        _print_json(asdict(done))
    else:
        for line in done.missed:
            _print(f"not as planned: {line}\n", err=True)
        _print(_done_text(made, done))
    return FINDINGS if done.missed else CLEAN


def _done_text(made: Plan, done: Applied) -> str:
    if made.backend == "v1":
        return f"tools+rules synced - {done.tools} tools, {done.rules} rules\n"
    state = "written" if done.changed else "as it should be already"
    return (
        f"{made.place}: {made.server['name']} for {len(made.agents)} agents, {state}\n"
    )


def verify(request: LettaRequest, calls: Calls) -> int:
    """Prints what is otherwise than the specs say."""
    from ..plan.desired_state import MissingSetting
    from ..plan.verification import verification_text
    from ..plan.verification import verify as verify_it
    from ..v1.baseline import BaselineError

    desired, backend = _connected(request)
    try:
        found = _asked(lambda: verify_it(backend, desired, calls))
    except (MissingSetting, BaselineError) as error:
        fail(str(error))
    if request.as_json:
        _print_json(found.to_json())
    else:
        _print(verification_text(found))
    return CLEAN if found.all_match else FINDINGS


def rollback(request: LettaRequest, file: Path | None) -> int:
    """Puts back what a baseline says."""
    from ..plan.desired_state import MissingSetting
    from ..v1.api import LettaError
    from ..v1.baseline import AnotherRun, BaselineError, Baselines
    from ..v1.rollback import roll_back

    if request.kind != "v1":
        fail(f"the backend `{request.kind}` has no `rollback`: there is no baseline")
    baselines = Baselines(request.state)
    try:
        desired = desired_by(request)
        api = server_of(request, desired)
        if file is not None:
            baseline = baselines.load(file)
        else:
            baseline = baselines.latest(desired.toolset, api.base_url)
    except (MissingSetting, LettaError, BaselineError) as error:
        fail(str(error))
    if (baseline.toolset, baseline.base_url) != (desired.toolset, api.base_url):
        fail(f"that baseline is of {baseline.toolset} at {baseline.base_url}")
    try:
        done = _asked(
            lambda: roll_back(api, desired, baseline, baselines, _report(request))
        )
    except AnotherRun as error:
        return _refused(str(error))
    if request.as_json:
        _print_json({"baseline": str(baselines.path(baseline)), **asdict(done)})
    else:
        for line in done.stays:
            _print(f"stays: {line}\n")
        for line in done.lost:
            _print(f"cannot be restored: {line}\n", err=True)
        number = len(baseline.agents)
        _print(f"{done.agents} of {number} agents as they were at {baseline.saved}\n")
    return FINDINGS if done.lost else CLEAN


def _connected(request: LettaRequest) -> tuple[DesiredState, Backend]:
    from ..plan.backend import BackendError
    from ..plan.desired_state import MissingSetting

    try:
        desired = desired_by(request)
        return desired, backend_of(request, desired)
    except (MissingSetting, BackendError) as error:
        fail(str(error))


def _planned(desired: DesiredState, backend: Backend, overrides: Overrides) -> Plan:
    from ..plan.planning import make_plan

    current = _asked(lambda: backend.read(desired))
    return make_plan(backend.place, desired, current, overrides)


def _asked(ask: Callable[[], Result]) -> Result:
    """Runs what reads or changes Letta; where that fails, the program ends."""
    from ..code.settings_file import SettingsError
    from ..plan.backend import BackendError
    from ..v1.api import Unsure

    try:
        return ask()
    except Unsure as error:
        _print(f"error: {error}\n", err=True)
        click.echo("  help: whether it was done is not known; run it again", err=True)
    except SettingsError as error:
        fail(f"{error}\n  help: Letta Code itself could not read it; mend it by hand")
    except BackendError as error:
        _print(f"error: {error}\n", err=True)
    sys.exit(FINDINGS)


def _report(request: LettaRequest) -> Report:
    def report(line: str) -> None:
        _print(f"{line}\n", err=request.as_json)

    return report


def _refused(reasons: str) -> int:
    for line in reasons.split("\n"):
        _print(f"refused: {line}\n", err=True)
    return FINDINGS


def _print(text: str, *, err: bool = False) -> None:
    """Prints text in which specs or a server may have had a say."""
    from toolcast.reports import printable

    lines = "\n".join(printable(line) for line in text.split("\n"))
    click.echo(lines, nl=False, err=err)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
