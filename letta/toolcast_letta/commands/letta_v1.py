"""The Letta server with a tool registry, 0.13 to 0.16."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from toolcast.commands.exit_codes import CLEAN, FINDINGS, USAGE, fail

from .backends import LettaRequest

if TYPE_CHECKING:
    from ..plan.plan import Plan
    from ..server.api import LettaApi
    from ..server.desired_state import Attachment

__all__ = ["apply", "plan", "rollback", "verify"]


def plan(request: LettaRequest) -> int:
    """Prints the plan, and saves it where that is asked for."""
    made = _planned(request)
    if request.out is not None:
        try:
            made.save(request.out)
        except OSError as error:
            fail(f"{request.out}: {error.strerror or error}")
    if request.format == "json":
        _json(made.to_json())
    else:
        from ..plan.report import plan_text

        _show(plan_text(made))
        if request.out is not None and not made.objections:
            click.echo(f"Saved: toolcast letta apply {request.out}")
    if made.objections:
        return FINDINGS
    return USAGE if request.detailed_exitcode and made.changes else CLEAN


def apply(request: LettaRequest) -> int:
    """Carries out a saved plan, or one that is made now."""
    from ..plan.plan import Plan, PlanFileError
    from ..server.applying import Refused, apply_plan
    from ..server.baseline import AnotherRun, BaselineError, Baselines
    from ..server.desired_state import MissingSetting

    wish, api = _connected(request)
    if request.file is not None:
        try:
            made = Plan.load(request.file)
        except PlanFileError as error:
            fail(str(error))
        try:
            wish = wish.for_agents(agent.name for agent in made.agents)
        except MissingSetting as error:
            fail(str(error))
    else:
        made = _planned(request)
        if request.format == "text":
            from ..plan.report import plan_text

            _show(plan_text(made))
    try:
        done = _asked(
            apply_plan, made, api, wish, Baselines(request.state), _say(request)
        )
    except (Refused, AnotherRun, BaselineError) as error:
        return _refused(str(error), request)
    if request.format == "json":
        path = None
        if done.baseline is not None:
            path = str(Baselines(request.state).path(done.baseline))
        _json(
            {
                "tools": done.tools,
                "rules": done.rules,
                "changed": done.changed,
                "baseline": path,
                "missed": list(done.missed),
            }
        )
    else:
        for line in done.missed:
            _show(f"not as planned: {line}\n", err=True)
        click.echo(f"tools+rules synced - {done.tools} tools, {done.rules} rules")
    return FINDINGS if done.missed else CLEAN


def verify(request: LettaRequest) -> int:
    """Prints what is otherwise than the specs say."""
    from ..server.baseline import BaselineError, Baselines
    from ..server.desired_state import MissingSetting
    from ..server.verifying import Calls, verification_text
    from ..server.verifying import verify as verify_it

    wish, api = _connected(request)
    calls = Calls(request.call, request.call_changing, request.tools, request.turn)
    try:
        found = _asked(verify_it, api, wish, Baselines(request.state), calls)
    except (MissingSetting, BaselineError) as error:
        fail(str(error))
    if request.format == "json":
        _json(found.to_json())
    else:
        _show(verification_text(found))
    return CLEAN if found.all_match else FINDINGS


def rollback(request: LettaRequest) -> int:
    """Puts back what a baseline says."""
    from ..server.baseline import AnotherRun, BaselineError, Baselines
    from ..server.rollback import roll_back

    wish, api = _connected(request)
    baselines = Baselines(request.state)
    try:
        if request.file is not None:
            baseline = baselines.load(request.file)
        else:
            baseline = baselines.latest(wish.toolset, api.base_url)
    except BaselineError as error:
        fail(str(error))
    if (baseline.toolset, baseline.base_url) != (wish.toolset, api.base_url):
        fail(f"that baseline is of {baseline.toolset} at {baseline.base_url}")
    try:
        done = _asked(roll_back, api, wish, baseline, baselines, _say(request))
    except AnotherRun as error:
        return _refused(str(error), request)
    if request.format == "json":
        _json(
            {
                "baseline": str(baselines.path(baseline)),
                "agents": done.agents,
                "lost": list(done.lost),
                "stays": list(done.stays),
            }
        )
    else:
        for line in done.stays:
            _show(f"stays: {line}\n")
        for line in done.lost:
            _show(f"cannot be restored: {line}\n", err=True)
        number = len(baseline.agents)
        _show(f"{done.agents} of {number} agents as they were at {baseline.saved}\n")
    return FINDINGS if done.lost else CLEAN


def _planned(request: LettaRequest) -> Plan:
    from ..plan.plan import Permits
    from ..plan.planning import make_plan
    from ..server.reading import read_world

    wish, api = _connected(request)
    permits = Permits(request.allow_delete, request.allow_capture, request.drop_stale)
    world = _asked(read_world, api, wish)
    return make_plan(api.base_url, wish, world, permits)


def _connected(request: LettaRequest) -> tuple[Attachment, LettaApi]:
    from ..config import letta_data, letta_definitions
    from ..server.api import LettaApi, LettaError
    from ..server.desired_state import MissingSetting, attachment

    if not request.base_url:
        fail(
            "nothing says where Letta is\n  help: --base-url URL, or LETTA_BASE_URL;"
            " nothing reaches Letta's cloud by default"
        )
    toolset = request.toolset
    try:
        wish = attachment(
            letta_data(toolset),
            letta_definitions(toolset),
            os.environ,
            server_url=request.server_url,
        )
        if request.agents:
            wish = wish.for_agents(request.agents)
        api = LettaApi(
            request.base_url,
            os.environ.get("LETTA_API_KEY") or None,
            timeout=request.timeout,
            secrets=[wish.token] if wish.token else [],
        )
    except (MissingSetting, LettaError) as error:
        fail(str(error))
    return wish, api


def _asked(function: Any, *arguments: Any) -> Any:
    """Runs what speaks to Letta; a request that fails ends the program."""
    from ..server.api import LettaError, Unsure

    try:
        return function(*arguments)
    except Unsure as error:
        _show(f"error: {error}\n", err=True)
        click.echo("  help: whether it was done is not known; run it again", err=True)
    except LettaError as error:
        _show(f"error: {error}\n", err=True)
    sys.exit(FINDINGS)


def _say(request: LettaRequest) -> Any:
    def say(line: str) -> None:
        _show(f"{line}\n", err=request.format == "json")

    return say


def _refused(reasons: str, request: LettaRequest) -> int:
    for line in reasons.split("\n"):
        _show(f"refused: {line}\n", err=True)
    return FINDINGS


def _show(text: str, *, err: bool = False) -> None:
    """Prints text in which specs or a server may have had a say."""
    from toolcast.reports import printable

    lines = "\n".join(printable(line) for line in text.split("\n"))
    click.echo(lines, nl=False, err=err)


def _json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
