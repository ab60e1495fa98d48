"""What the commands do, the same for every kind of Letta; each gives an exit code."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from toolcast.extension_api import CLEAN, FINDINGS, USAGE, fail

from ..blocks import (
    BlockError,
    block_changes,
    load_changes,
    save_changes,
    shown,
    write_changes,
)
from ..code.kept_entries import load, newest, put_back
from ..code.settings_file import Settings, SettingsError, default_path
from ..plan.applying import apply_plan
from ..plan.backend import (
    ApplyResult,
    Backend,
    BackendError,
    Calls,
    PlanRefusedError,
    Report,
)
from ..plan.desired_state import DesiredState, MissingSettingError
from ..plan.plan import Overrides, Plan
from ..plan.planning import make_plan
from ..plan.report import plan_text, verification_text
from ..plan.verification import verify as verify_it
from ..specs import settings_of
from ..state.baseline import Baseline, Baselines, ConcurrentRunError
from ..state.seal import Seal, StateError
from ..v1.api import LettaError, UnverifiedStateError
from ..v1.rollback import preview, roll_back
from ..v1.server_backend import ServerBackend
from ..v1.undoing import Undo
from .backends import LettaRequest, backend_of, desired_by, server_of

Result = TypeVar("Result")


def plan(
    request: LettaRequest,
    overrides: Overrides,
    out: Path | None,
    *,
    detailed_exitcode: bool,
) -> int:
    """Prints the plan, and saves it where that is asked for and nothing speaks against it."""
    desired, backend = _connected(request)
    made = _planned(desired, backend, overrides)
    if out is not None and not made.blockers:
        try:
            made.save(out, Seal())
        except StateError as error:
            fail(str(error))
    if request.as_json:
        _print_json(made.to_json())
    else:
        _print(plan_text(made))
        if out is not None and not made.blockers:
            kind = "" if request.kind == "v1" else f" --backend {request.kind}"
            _print(f"Saved: toolcast letta apply{kind} {shlex.quote(str(out))}\n")
        elif out is not None:
            _print(f"Not saved: {out}\n")
    if made.blockers:
        return FINDINGS
    return USAGE if detailed_exitcode and made.changes else CLEAN


def apply(request: LettaRequest, overrides: Overrides, file: Path | None) -> int:
    """Carries out a saved plan, or one that is made now."""
    desired, backend = _connected(request)
    if file is not None:
        try:
            made = Plan.load(file, Seal())
            desired = desired.for_agents(agent.name for agent in made.agents)
        except (StateError, MissingSettingError) as error:
            fail(str(error))
    else:
        made = _planned(desired, backend, overrides)
        if not request.as_json:
            _print(plan_text(made))
    try:
        done = _asked(lambda: apply_plan(made, backend, desired, _report(request)))
    except (PlanRefusedError, ConcurrentRunError, StateError) as error:
        return _refused(str(error))
    if request.as_json:
        _print_json(asdict(done))
    else:
        for line in done.missed:
            _print(f"not as planned: {line}\n", err=True)
        for line in made.missing if file is not None else ():
            _print(f"missing: {line}\n", err=True)
        _print(_done_text(made, done))
    return FINDINGS if done.missed else CLEAN


def _done_text(made: Plan, done: ApplyResult) -> str:
    if made.backend == "v1":
        return f"tools+rules synced - {done.tools} tools, {done.rules} rules\n"
    state = "written" if done.changed else "as it should be already"
    return f"{made.location}: {made.server['name']} for {len(made.agents)} agents, {state}\n"


def verify(request: LettaRequest, calls: Calls) -> int:
    """Prints what is otherwise than the specs say."""
    desired, backend = _connected(request)
    try:
        found = _asked(lambda: verify_it(backend, desired, calls))
        wrong = _asked(lambda: _wrong_blocks(request, desired, backend))
        found = replace(found, blocks=wrong)
    except (MissingSettingError, StateError) as error:
        fail(str(error))
    if request.as_json:
        _print_json(found.to_json())
    else:
        _print(verification_text(found))
    return CLEAN if found.is_success else FINDINGS


def _wrong_blocks(
    request: LettaRequest, desired: DesiredState, backend: Backend
) -> tuple[str, ...]:
    """Memory blocks that are not as the specs say, a line each."""
    if not isinstance(backend, ServerBackend):
        return ()
    if not any(agent.blocks for agent in desired.agents):
        return ()
    try:
        changes = block_changes(backend.api, request.toolset, desired)
    except BlockError as error:
        return tuple(str(error).split("\n"))
    return tuple(
        f"the block `{one.label}` of {one.agent} is not as the specs say:"
        " `toolcast letta blocks` shows it"
        for one in changes
        if one.changes
    )


def blocks(request: LettaRequest, out: Path | None, write: Path | None) -> int:
    """Shows what the specs say in memory blocks, or writes what was shown."""
    if request.kind != "v1":
        fail(f"the backend `{request.kind}` has no memory blocks that can be written")
    toolset, settings = request.toolset, settings_of(request.toolset)
    try:
        desired = desired_by(request)
        api = server_of(request, desired)
    except (MissingSettingError, LettaError) as error:
        fail(str(error))
    if not any(agent.blocks for agent in settings.agents):
        fail("no agent of the toolset has `blocks`: they name what the specs write")
    try:
        now = _asked(lambda: block_changes(api, toolset, desired))
        if write is not None:
            if api.is_cloud:
                return _refused("this is Letta's cloud: nothing is changed there")
            agreed = load_changes(write, toolset.name, api.base_url, Seal())
            done = _asked(lambda: write_changes(api, agreed, now))
            _print("".join(f"{line}\n" for line in done or ["all is written already"]))
            return CLEAN
        if out is not None:
            save_changes(now, toolset.name, api.base_url, out, Seal())
    except BlockError as error:
        return _refused(str(error))
    except StateError as error:
        fail(str(error))
    _print("".join(f"{line}\n" for line in shown(now)))
    if out is not None:
        _print(
            "Let the agent review it, then:"
            f" toolcast letta blocks --write {shlex.quote(str(out))}\n"
        )
    return CLEAN


def rollback(
    request: LettaRequest,
    file: Path | None,
    restore: tuple[str, ...],
    *,
    dry_run: bool,
) -> int:
    """Undoes what applies did since a baseline, or says what it would do."""
    if request.kind != "v1":
        if restore:
            fail("--restore is for agents of a server: here no tool is attached")
        return _settings_rollback(request, file, dry_run=dry_run)
    baselines = Baselines(request.state)
    try:
        desired = desired_by(request)
        api = server_of(request, desired)
        if file is not None:
            baseline = baselines.load(file)
        else:
            baseline = baselines.latest(desired.toolset, api.base_url)
    except (MissingSettingError, LettaError, StateError) as error:
        fail(str(error))
    if (baseline.toolset, baseline.base_url) != (desired.toolset, api.base_url):
        fail(f"that baseline is of {baseline.toolset} at {baseline.base_url}")
    for line in baselines.strangers(desired.toolset) if file is None else ():
        _print(f"left out: {line}\n", err=True)
    known = {agent.id for agent in desired.agents}
    foreign = [a for a in baseline.agents if a.id not in known]
    if foreign and not request.agents:
        shown = ", ".join(f"{agent.name} ({agent.id})" for agent in foreign)
        fail(f"that baseline has {shown}, which the specs do not have: --agent chooses")
    if dry_run:
        undo = _asked(lambda: preview(api, desired, baseline, baselines, restore))
        _show_undo(request, baseline, undo)
        return CLEAN
    refusal = ServerBackend(api, baselines).refusal
    if refusal:
        return _refused(refusal)
    report = _report(request)
    try:
        done = _asked(
            lambda: roll_back(api, desired, baseline, baselines, report, restore)
        )
    except (ConcurrentRunError, StateError) as error:
        return _refused(str(error))
    if request.as_json:
        _print_json({"baseline": str(baselines.path(baseline)), **asdict(done)})
    else:
        _print_left(done.stays, done.lost)
        number = sum(agent.id in known for agent in baseline.agents)
        _print(f"{done.agents} of {number} agents as they were at {baseline.saved}\n")
    return FINDINGS if done.lost else CLEAN


def _settings_rollback(
    request: LettaRequest, file: Path | None, *, dry_run: bool
) -> int:
    """Puts the entries of a settings file back that an apply has replaced."""
    path, seal = request.settings or default_path(os.environ), Seal()
    try:
        if file is None:
            file, entries = newest(path, request.toolset.name, seal)
        else:
            entries = load(file, seal)
        if request.agents:
            entries = [one for one in entries if one.agent in request.agents]
        before = Settings.read(path)
        after, done, lost = put_back(before, entries)
        if done and not dry_run:
            after.write(before)
    except (SettingsError, StateError) as error:
        fail(str(error))
    if request.as_json:
        value = {"copy": str(file), "done": done, "lost": lost, "dry_run": dry_run}
        _print_json(value)
    else:
        _print("".join(f"{line}\n" for line in done or ["nothing to put back"]))
        _print_left([], lost)
        _print("Nothing was changed.\n" if dry_run else f"{path}: as {file} says\n")
    return FINDINGS if lost else CLEAN


def _show_undo(request: LettaRequest, baseline: Baseline, undo: Undo) -> None:
    if request.as_json:
        _print_json({"saved": baseline.saved, **asdict(undo)})
        return
    for name in undo.register:
        _print(f"    + registry {name}\n")
    for agent in undo.agents:
        _print(f"{agent.name} is {agent.id}\n")
        for line in agent.changes or ("nothing to do",):
            _print(f"    {line}\n")
    _print_left(
        [*(line for agent in undo.agents for line in agent.stays), *undo.stays],
        [*(line for agent in undo.agents for line in agent.lost), *undo.lost],
    )
    _print(f"Nothing was changed; this goes back to {baseline.saved}.\n")


def _print_left(stays: Sequence[str], lost: Sequence[str]) -> None:
    for line in stays:
        _print(f"stays: {line}\n")
    for line in lost:
        _print(f"cannot be restored: {line}\n", err=True)


def _connected(request: LettaRequest) -> tuple[DesiredState, Backend]:
    try:
        desired = desired_by(request)
        return desired, backend_of(request, desired)
    except (MissingSettingError, BackendError) as error:
        fail(str(error))


def _planned(desired: DesiredState, backend: Backend, overrides: Overrides) -> Plan:
    current = _asked(lambda: backend.read(desired))
    return make_plan(backend.location, desired, current, overrides)


def _asked(ask: Callable[[], Result]) -> Result:
    """Runs what reads or changes Letta; where that fails, the program ends."""
    try:
        return ask()
    except UnverifiedStateError as error:
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
    first, *rest = reasons.split("\n")
    _print(
        "\n".join([f"refused: {first}", *(f"  {line}" for line in rest), ""]), err=True
    )
    return FINDINGS


def _print(text: str, *, err: bool = False) -> None:
    """Prints text in which specs or a server may have had a say."""
    from toolcast.extension_api import printable

    lines = "\n".join(printable(line) for line in text.split("\n"))
    click.echo(lines, nl=False, err=err)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))
