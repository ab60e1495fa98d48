"""Letta Code, which has no registry: MCP servers stand in its settings, a list an agent."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from toolcast.commands.exit_codes import CLEAN, FINDINGS, USAGE, fail

from .backends import LettaRequest

if TYPE_CHECKING:
    from ..code.plan import CodePlan
    from ..code.settings import Settings
    from ..server.desired_state import Attachment

__all__ = ["apply", "plan", "verify"]


def plan(request: LettaRequest) -> int:
    """Prints the plan, and saves it where that is asked for."""
    wish = _wish(request)
    made = _planned(request, wish, _settings(request))
    if request.out is not None:
        text = json.dumps(made.to_json(), indent=2, ensure_ascii=False)
        try:
            request.out.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            fail(f"{request.out}: {error.strerror or error}")
    if request.format == "json":
        _json(made.to_json())
    else:
        from ..code.report import code_plan_text

        click.echo(code_plan_text(made), nl=False)
        if request.out is not None and not made.objections:
            click.echo(f"Saved: toolcast letta apply --flavour code {request.out}")
    if made.objections:
        return FINDINGS
    return USAGE if request.detailed_exitcode and made.changes else CLEAN


def apply(request: LettaRequest) -> int:
    """Writes a saved plan, or one that is made now."""
    from ..code.plan import CodePlan
    from ..code.planning import Moved, apply_code_plan
    from ..code.settings import SettingsError
    from ..plan.plan import PlanFileError

    wish = _wish(request)
    if request.file is not None:
        try:
            made = CodePlan.load(request.file)
        except PlanFileError as error:
            fail(str(error))
    else:
        made = _planned(request, wish, _settings(request))
        if request.format == "text":
            from ..code.report import code_plan_text

            click.echo(code_plan_text(made), nl=False)
    if made.objections:
        return _refused([objection.message for objection in made.objections])
    try:
        changed = apply_code_plan(made, wish)
    except (Moved, SettingsError) as error:
        return _refused([str(error), "plan again"])
    if request.format == "json":
        _json({"changed": changed, "settings": made.path})
    else:
        done = "written" if changed else "as it should be already"
        click.echo(f"{made.path}: {made.server} for {len(made.agents)} agents, {done}")
    return CLEAN


def verify(request: LettaRequest) -> int:
    """Lists the server's tools as the agents would, and calls their examples."""
    from ..code.verifying import verify_code

    wish, settings = _wish(request), _settings(request)
    if request.turn is not None:
        fail("Letta Code has turns of its own: start it; --turn is for flavour v1")
    found = verify_code(
        settings,
        wish,
        _planned(request, wish, settings),
        timeout=request.timeout,
        call=request.call,
        call_changing=request.call_changing,
        only=request.tools,
    )
    if request.format == "json":
        _json(found.to_json())
    else:
        for problem in found.problems:
            click.echo(f"wrong: {problem}", err=True)
        for name, reason in found.not_called.items():
            click.echo(f"not called: {name} ({reason})")
        click.echo(
            f"all_match: {str(found.all_match).lower()}, offered_count: {found.offered},"
            f" called: {len(found.called)}"
        )
    return CLEAN if found.all_match else FINDINGS


def _wish(request: LettaRequest) -> Attachment:
    from ..config import letta_data, letta_definitions
    from ..server.desired_state import MissingSetting, attachment

    toolset = request.toolset
    try:
        wish = attachment(
            letta_data(toolset),
            letta_definitions(toolset),
            os.environ,
            server_url=request.server_url,
        )
        return wish.for_agents(request.agents) if request.agents else wish
    except MissingSetting as error:
        fail(str(error))


def _settings(request: LettaRequest) -> Settings:
    from ..code.settings import Settings, SettingsError, default_path

    try:
        return Settings.read(request.settings or default_path(os.environ))
    except SettingsError as error:
        fail(f"{error}\n  help: Letta Code itself could not read it; mend it by hand")


def _planned(request: LettaRequest, wish: Attachment, settings: Settings) -> CodePlan:
    from ..code.planning import make_code_plan
    from ..code.verifying import ServerFailed, offered_tools
    from ..plan.plan import Objection
    from ..server.guard import AGENT_HEADER

    headers = {AGENT_HEADER: wish.agents[0].id} if wish.agents else {}
    if wish.token is not None:
        headers["Authorization"] = f"Bearer {wish.token}"
    offered: list[str] = []
    silent: tuple[Objection, ...] = ()
    try:
        tools = offered_tools(wish.server_url, headers, request.timeout)
        offered = [tool["name"] for tool in tools]
    except ServerFailed as error:
        silent = (Objection("unreachable", str(error), "start it"),)
    made = make_code_plan(
        settings,
        wish,
        list(wish.tools) if silent else offered,
        request.base_url,
        os.environ,
        request.allow_capture,
    )
    return replace(made, objections=(*silent, *made.objections))


def _refused(reasons: list[str]) -> int:
    for line in reasons:
        click.echo(f"refused: {line}", err=True)
    return FINDINGS


def _json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
