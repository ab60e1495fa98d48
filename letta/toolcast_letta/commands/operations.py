"""The implementation of the commands; each function returns an exit code."""

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
    format_block_changes,
    list_block_changes,
    load_block_changes,
    save_block_changes,
    write_block_changes,
)
from ..code.entry_backups import get_newest_backup, load_backup, restore_entries
from ..code.settings_file import Settings, SettingsError, get_default_path
from ..plan.applying import apply_plan
from ..plan.backend import (
    ApplyResult,
    Backend,
    BackendError,
    CallOptions,
    PlanRefusedError,
    Report,
)
from ..plan.desired_state import DesiredState, MissingSettingError
from ..plan.plan import Overrides, Plan
from ..plan.planning import build_plan
from ..plan.report import format_plan, format_verification
from ..plan.verification import verify as verify_it
from ..specs import build_settings
from ..state.baseline import Baseline, Baselines, ConcurrentRunError
from ..state.seal import Seal, StateError
from ..v1.api import LettaError, UnverifiedStateError
from ..v1.rollback import preview_rollback, roll_back
from ..v1.server_backend import ServerBackend
from ..v1.undoing import RestoreError, Undo
from .backends import LettaRequest, build_api, build_backend, get_desired_state

Result = TypeVar("Result")


def plan(
    request: LettaRequest,
    overrides: Overrides,
    out: Path | None,
    *,
    detailed_exitcode: bool,
) -> int:
    """Print a plan; save it to `out` unless it has blockers.

    Return `FINDINGS` if it has blockers or something is missing. Otherwise return
    `CLEAN`, or 2 with `detailed_exitcode` if there are changes or outdated memory
    blocks.
    """
    desired, backend = _connect(request)
    new_plan = _build_plan(request, desired, backend, overrides)
    if out is not None and not new_plan.blockers:
        try:
            new_plan.save(out, Seal())
        except StateError as error:
            fail(str(error))
    if request.as_json:
        _print_json(new_plan.to_json())
    else:
        _print(format_plan(new_plan))
        if out is not None and not new_plan.blockers:
            kind = "" if request.kind == "v1" else f" --backend {request.kind}"
            _print(f"Saved: toolcast letta apply{kind} {shlex.quote(str(out))}\n")
        elif out is not None:
            _print(f"Not saved: {out}\n")
    if new_plan.blockers or new_plan.missing:
        return FINDINGS
    # As in Terraform, exit code 2 means that the plan has changes.
    is_pending = bool(new_plan.changes or new_plan.blocks)
    return USAGE if detailed_exitcode and is_pending else CLEAN


def apply(request: LettaRequest, overrides: Overrides, file: Path | None) -> int:
    """Apply the plan in `file`, or a plan that is made now if it is None.

    Of the overrides, a saved plan uses only `accept_loss`. Return `FINDINGS` if the
    plan was refused, or if something differs or is missing afterwards.
    """
    desired, backend = _connect(request)
    if file is not None:
        try:
            chosen_plan = Plan.load(file, Seal())
            if overrides.accept_loss:
                accepted = (*chosen_plan.overrides.accept_loss, *overrides.accept_loss)
                allowed = replace(chosen_plan.overrides, accept_loss=accepted)
                chosen_plan = replace(chosen_plan, overrides=allowed)
            # The plan can have been made with `--agent`, for some of the agents.
            desired = desired.select_agents(agent.name for agent in chosen_plan.agents)
        except (StateError, MissingSettingError) as error:
            fail(str(error))
    else:
        chosen_plan = _build_plan(request, desired, backend, overrides)
        if not request.as_json:
            _print(format_plan(chosen_plan))
    try:
        result = _exit_on_error(
            lambda: apply_plan(chosen_plan, backend, desired, _build_report(request))
        )
    except (PlanRefusedError, ConcurrentRunError, StateError) as error:
        return _print_refusal(str(error))
    if request.as_json:
        _print_json(asdict(result))
    else:
        for line in result.missed:
            _print(f"not as planned: {line}\n", err=True)
        # A plan that was made now has been printed above, with its missing parts.
        for line in result.missing if file is not None else ():
            _print(f"missing: {line}\n", err=True)
        _print(_format_result(chosen_plan, result))
    return FINDINGS if result.missed or result.missing else CLEAN


def _format_result(applied_plan: Plan, result: ApplyResult) -> str:
    if applied_plan.backend == "v1":
        return f"tools+rules synced - {result.tools} tools, {result.rules} rules\n"
    state = "written" if result.changed else "already up to date"
    return f"{applied_plan.location}: {applied_plan.server['name']} for {len(applied_plan.agents)} agents, {state}\n"


def verify(request: LettaRequest, calls: CallOptions) -> int:
    """Print differences from the specs and the results of calls.

    Return `FINDINGS` if anything differs or fails, or if a requested check was skipped.
    """
    desired, backend = _connect(request)
    try:
        verification = _exit_on_error(lambda: verify_it(backend, desired, calls))
        verification = replace(
            verification, plan=_add_blocks(verification.plan, request, desired, backend)
        )
    except (MissingSettingError, StateError) as error:
        fail(str(error))
    if request.as_json:
        _print_json(verification.to_json())
    else:
        _print(format_verification(verification))
    return CLEAN if verification.is_success else FINDINGS


def _list_outdated_blocks(
    request: LettaRequest, desired: DesiredState, backend: Backend
) -> tuple[str, ...]:
    """Return descriptions of memory blocks that differ from the specs.

    The result is empty for Letta Code, which has no memory blocks.
    """
    if not isinstance(backend, ServerBackend):
        return ()
    if not any(agent.blocks for agent in desired.agents):
        return ()
    try:
        changes = list_block_changes(backend.api, request.toolset, desired)
    except BlockError as error:
        return tuple(str(error).split("\n"))
    return tuple(
        f"the block `{change.label}` of {change.agent} differs from the specs: run"
        " `toolcast letta blocks`"
        for change in changes
        if change.is_changed
    )


def blocks(request: LettaRequest, out: Path | None, write: Path | None) -> int:
    """Print the changes of memory blocks, and save them to `out` if it is set.

    If `write` is set, write the reviewed changes in this file instead.
    """
    if request.kind != "v1":
        fail(f"the backend `{request.kind}` does not support memory blocks")
    toolset, settings = request.toolset, build_settings(request.toolset)
    try:
        desired = get_desired_state(request)
        api = build_api(request, desired)
    except (MissingSettingError, LettaError) as error:
        fail(str(error))
    if not any(agent.blocks for agent in settings.agents):
        fail(
            "no agent of the toolset has `blocks`\n"
            "  help: declare memory blocks for an agent in the toolset's `letta`"
        )
    try:
        changes = _exit_on_error(lambda: list_block_changes(api, toolset, desired))
        if write is not None:
            if api.is_cloud:
                return _print_refusal("Letta's cloud is not supported for changes")
            reviewed = load_block_changes(write, toolset.name, api.base_url, Seal())
            written = _exit_on_error(
                lambda: write_block_changes(api, reviewed, changes)
            )
            _print(
                "".join(
                    f"{line}\n"
                    for line in written or ["all blocks already match the specs"]
                )
            )
            return CLEAN
        if out is not None:
            save_block_changes(changes, toolset.name, api.base_url, out, Seal())
    except BlockError as error:
        return _print_refusal(str(error))
    except StateError as error:
        fail(str(error))
    _print("".join(f"{line}\n" for line in format_block_changes(changes)))
    if out is not None:
        _print(
            "Let the agent review the texts, then run:"
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
    """Undo what was applied since a baseline, or print what would be undone.

    `file` is the baseline; None for the newest one. Return `FINDINGS` if something
    could not be restored.
    """
    if request.kind != "v1":
        if restore:
            fail(
                "--restore is not supported for --backend code, which attaches no tools"
            )
        return _roll_back_settings(request, file, dry_run=dry_run)
    baselines = Baselines(request.state)
    try:
        desired = get_desired_state(request)
        api = build_api(request, desired)
        if file is not None:
            baseline = baselines.load(file)
        else:
            baseline = baselines.get_latest(desired.toolset, api.base_url)
    except (MissingSettingError, LettaError, StateError) as error:
        fail(str(error))
    if (baseline.toolset, baseline.base_url) != (desired.toolset, api.base_url):
        fail(f"the baseline is for {baseline.toolset} at {baseline.base_url}")
    # `get_latest` skipped these files without a message.
    for line in baselines.list_foreign_files(desired.toolset) if file is None else ():
        _print(f"ignored: {line}\n", err=True)
    agent_ids = {agent.id for agent in desired.agents}
    foreign = [a for a in baseline.agents if a.id not in agent_ids]
    if foreign and not request.agents:
        names = ", ".join(f"{agent.name} ({agent.id})" for agent in foreign)
        fail(
            f"the baseline has agents that the specs do not declare: {names}\n"
            "  help: pass --agent to select the agents to roll back"
        )
    if dry_run:
        try:
            undo = _exit_on_error(
                lambda: preview_rollback(api, desired, baseline, baselines, restore)
            )
        except RestoreError as error:
            fail(str(error))
        _print_undo(request, baseline, undo)
        return CLEAN
    refusal = ServerBackend(api, baselines).refusal
    if refusal:
        return _print_refusal(refusal)
    report = _build_report(request)
    try:
        result = _exit_on_error(
            lambda: roll_back(api, desired, baseline, baselines, report, restore)
        )
    except RestoreError as error:
        fail(str(error))
    except (ConcurrentRunError, StateError) as error:
        return _print_refusal(str(error))
    if request.as_json:
        _print_json({"baseline": str(baselines.path(baseline)), **asdict(result)})
    else:
        _print_remaining(result.stays, result.lost)
        number = sum(agent.id in agent_ids for agent in baseline.agents)
        _print(f"restored {result.agents} of {number} agents to {baseline.saved}\n")
    return FINDINGS if result.lost else CLEAN


def _roll_back_settings(
    request: LettaRequest, file: Path | None, *, dry_run: bool
) -> int:
    """Restore the entries of a settings file that an apply has replaced.

    `file` is the backup; None for the newest one.
    """
    path, seal = request.settings or get_default_path(os.environ), Seal()
    try:
        if file is None:
            file, entries = get_newest_backup(path, request.toolset.name, seal)
        else:
            entries = load_backup(file, seal)
        if request.agents:
            entries = [entry for entry in entries if entry.agent in request.agents]
        before = Settings.read(path)
        after, done, lost = restore_entries(before, entries)
        if done and not dry_run:
            after.write(before)
    except (SettingsError, StateError) as error:
        fail(str(error))
    if request.as_json:
        value = {"copy": str(file), "done": done, "lost": lost, "dry_run": dry_run}
        _print_json(value)
    else:
        _print("".join(f"{line}\n" for line in done or ["nothing to restore"]))
        _print_remaining([], lost)
        _print(
            "Nothing was changed.\n" if dry_run else f"restored {path} from {file}\n"
        )
    return FINDINGS if lost else CLEAN


def _print_undo(request: LettaRequest, baseline: Baseline, undo: Undo) -> None:
    if request.as_json:
        _print_json({"saved": baseline.saved, **asdict(undo)})
        return
    for name in undo.register:
        _print(f"    + registry {name}\n")
    for agent in undo.agents:
        _print(f"{agent.name} is {agent.id}\n")
        for line in agent.changes or ("nothing to do",):
            _print(f"    {line}\n")
    _print_remaining(
        [*(line for agent in undo.agents for line in agent.stays), *undo.stays],
        [*(line for agent in undo.agents for line in agent.lost), *undo.lost],
    )
    _print(f"Nothing was changed. The baseline is from {baseline.saved}.\n")


def _print_remaining(stays: Sequence[str], lost: Sequence[str]) -> None:
    for line in stays:
        _print(f"stays: {line}\n")
    for line in lost:
        _print(f"cannot be restored: {line}\n", err=True)


def _connect(request: LettaRequest) -> tuple[DesiredState, Backend]:
    try:
        desired = get_desired_state(request)
        return desired, build_backend(request, desired)
    except (MissingSettingError, BackendError) as error:
        fail(str(error))


def _build_plan(
    request: LettaRequest, desired: DesiredState, backend: Backend, overrides: Overrides
) -> Plan:
    current = _exit_on_error(lambda: backend.read(desired))
    new_plan = build_plan(backend.location, desired, current, overrides)
    return _add_blocks(new_plan, request, desired, backend)


def _add_blocks(
    plan: Plan, request: LettaRequest, desired: DesiredState, backend: Backend
) -> Plan:
    """Return a copy of a plan with descriptions of the memory blocks that differ."""
    blocks = _exit_on_error(lambda: _list_outdated_blocks(request, desired, backend))
    return replace(plan, blocks=blocks)


def _exit_on_error(operation: Callable[[], Result]) -> Result:
    """Return the result of an operation; on a backend's error, print it and exit."""
    try:
        return operation()
    except UnverifiedStateError as error:
        _print(f"error: {error}\n", err=True)
        click.echo("  help: run the command again: the effect is unknown", err=True)
    except SettingsError as error:
        fail(
            f"{error}\n  help: fix the settings file by hand: Letta Code cannot read it"
        )
    except BackendError as error:
        _print(f"error: {error}\n", err=True)
    sys.exit(FINDINGS)


def _build_report(request: LettaRequest) -> Report:
    def report(line: str) -> None:
        # Progress lines on stdout would make the JSON output invalid.
        _print(f"{line}\n", err=request.as_json)

    return report


def _print_refusal(reasons: str) -> int:
    first, *rest = reasons.split("\n")
    _print(
        "\n".join([f"refused: {first}", *(f"  {line}" for line in rest), ""]), err=True
    )
    return FINDINGS


def _print(text: str, *, err: bool = False) -> None:
    """Print text from specs or servers, with control characters escaped."""
    from toolcast.extension_api import printable

    lines = "\n".join(printable(line) for line in text.split("\n"))
    click.echo(lines, nl=False, err=err)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))
