"""The Letta server with a tool registry, 0.13 to 0.16."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from .letta_flavours import LettaRequest
from .manners import CLEAN, FINDINGS, USAGE, fail

if TYPE_CHECKING:
    from ..runtime.letta_api import LettaApi
    from ..runtime.letta_attachment import Attachment
    from ..runtime.letta_plan import Plan

__all__ = ["apply", "plan"]


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
        from ..runtime.letta_report import plan_text

        click.echo(plan_text(made), nl=False)
        if request.out is not None and not made.objections:
            click.echo(f"Saved: toolcast letta apply {request.out}")
    if made.objections:
        return FINDINGS
    return USAGE if request.detailed_exitcode and made.changes else CLEAN


def apply(request: LettaRequest) -> int:
    """Carries out a saved plan, or one that is made now."""
    from ..runtime.letta_applying import Refused, apply_plan
    from ..runtime.letta_attachment import MissingSetting
    from ..runtime.letta_baseline import AnotherRun, BaselineError, Baselines
    from ..runtime.letta_plan import Plan, PlanFileError

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
            from ..runtime.letta_report import plan_text

            click.echo(plan_text(made), nl=False)
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
            click.echo(f"not as planned: {line}", err=True)
        click.echo(f"tools+rules synced - {done.tools} tools, {done.rules} rules")
    return FINDINGS if done.missed else CLEAN


def _planned(request: LettaRequest) -> Plan:
    from ..runtime.letta_plan import Permits
    from ..runtime.letta_planning import make_plan
    from ..runtime.letta_reading import read_world

    wish, api = _connected(request)
    permits = Permits(request.allow_delete, request.allow_capture, request.drop_stale)
    world = _asked(read_world, api, wish)
    return make_plan(api.base_url, wish, world, permits)


def _connected(request: LettaRequest) -> tuple[Attachment, LettaApi]:
    from ..runtime.letta_api import LettaApi, LettaError
    from ..runtime.letta_attachment import MissingSetting, attachment
    from ..targets.letta_wishes import letta_data, letta_definitions

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
    from ..runtime.letta_api import LettaError, Unsure

    try:
        return function(*arguments)
    except Unsure as error:
        click.echo(f"error: {error}", err=True)
        click.echo("  help: whether it was done is not known; run it again", err=True)
    except LettaError as error:
        click.echo(f"error: {error}", err=True)
    sys.exit(FINDINGS)


def _say(request: LettaRequest) -> Any:
    def say(line: str) -> None:
        click.echo(line, err=request.format == "json")

    return say


def _refused(reasons: str, request: LettaRequest) -> int:
    for line in reasons.split("\n"):
        click.echo(f"refused: {line}", err=True)
    return FINDINGS


def _json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
