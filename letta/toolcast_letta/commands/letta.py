"""`toolcast letta`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from toolcast.commands.exit_codes import (
    FINDINGS,
    USAGE,
    fail,
    print_findings,
    project_root,
)
from toolcast.commands.options import project_option

from .backends import FLAVOURS, LettaRequest

__all__ = ["command"]

Function = Callable[..., None]

_SHARED = (
    project_option,
    click.option("--toolset", metavar="NAME", help="Needed where there are several."),
    click.option(
        "--agent",
        "agents",
        metavar="NAME",
        multiple=True,
        help="One of the toolset's agents. Default: all.",
    ),
    click.option(
        "--flavour",
        type=click.Choice(list(FLAVOURS)),
        help="The kind of Letta. Default: what the toolset says.",
    ),
    click.option(
        "--base-url",
        metavar="URL",
        envvar="LETTA_BASE_URL",
        help="Where Letta is. Default: LETTA_BASE_URL; there is no other.",
    ),
    click.option(
        "--server-url",
        metavar="URL",
        help="Where Letta reaches the MCP server. Default: what the toolset says.",
    ),
    click.option(
        "--settings",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Flavour code: Letta Code's settings. Default: ~/.letta/settings.json.",
    ),
    click.option(
        "--state",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help="Baselines and the lock. Default: .toolcast/letta.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=60.0,
        help="Seconds that a request may take.",
    ),
    click.option(
        "--format",
        "format",
        type=click.Choice(["text", "json"]),
        default="text",
        help="How the result is printed.",
    ),
)
_PERMITS = (
    click.option(
        "--allow-delete",
        metavar="TOOL",
        multiple=True,
        help="A tool that may go although other agents have it.",
    ),
    click.option(
        "--allow-capture",
        metavar="TOOL",
        multiple=True,
        help="A tool of another owner that may be taken over.",
    ),
    click.option(
        "--drop-stale",
        metavar="TOOL",
        multiple=True,
        help="A tool that is not attached and whose rules may go.",
    ),
)


def _with(*options: Any) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


@click.group(name="letta")
def command() -> None:
    """Plan, apply, verify and roll back what Letta's agents have.

    The specs say which tools an agent gets with which rules; a server's own state is
    compared with them and brought there. LETTA_API_KEY holds the server's key or password.
    """


@command.command()
@_with(*_SHARED, *_PERMITS)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save the plan, for apply.",
)
@click.option(
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with 0 without changes, 2 with changes, 1 when something is wrong.",
)
def plan(detailed_exitcode: bool, **given: Any) -> None:
    """Show what apply would do; changes nothing.

    `+` adds, `~` changes in place, `-` removes, `-/+` removes and adds. The plan is refused
    where applying would take something away that is not the toolset's, unless it is named.
    """
    try:
        _run("plan", detailed_exitcode=detailed_exitcode, **given)
    except SystemExit as end:
        is_changes = isinstance(end.code, _Changes)
        if detailed_exitcode and end.code == USAGE and not is_changes:
            sys.exit(FINDINGS)
        raise


@command.command()
@_with(*_SHARED, *_PERMITS)
@click.argument("plan_file", metavar="[PLAN]", required=False, type=click.Path())
@click.option("--yes", "automatic", is_flag=True, help="Plan and apply at once.")
def apply(plan_file: str | None, automatic: bool, **given: Any) -> None:
    """Carry out exactly a saved plan, or stop when the world has moved.

    What was there before is saved first. An apply that was interrupted is started again.
    """
    if plan_file is None and not automatic:
        fail(
            "name the plan that `toolcast letta plan --out FILE` saved\n"
            "  help: --yes plans and applies at once, unread"
        )
    file = Path(plan_file) if plan_file else None
    _run("apply", file=file, automatic=automatic, **given)


@command.command()
@_with(*_SHARED)
@click.option(
    "--tool",
    "tools",
    metavar="NAME",
    multiple=True,
    help="Call only this tool's examples.",
)
@click.option("--no-calls", is_flag=True, help="Read only; call no tool.")
@click.option(
    "--call-changing",
    is_flag=True,
    help="Also call examples of tools that change data.",
)
@click.option(
    "--turn",
    metavar="TOOL",
    help="Have the agent call this tool in one real turn, with its own model.",
)
def verify(no_calls: bool, **given: Any) -> None:
    """Read everything back, and call the tools that have an example.

    Names, ids, rules and schemas are compared with the specs. Tools are called through
    Letta without a model; those that change data only with --call-changing.
    """
    _run("verify", call=not no_calls, **given)


@command.command()
@_with(*_SHARED)
@click.argument("baseline", metavar="[BASELINE]", required=False, type=click.Path())
def rollback(baseline: str | None, **given: Any) -> None:
    """Put back what the newest baseline, or a named one, says; tell what it cannot.

    Tools are found by their names: ids do not outlive a deletion. What others attached
    since then stays.
    """
    _run("rollback", file=Path(baseline) if baseline else None, **given)


class _Changes(int):
    """Exit code 2 of a plan with changes, told apart from that of a usage error."""


def _run(
    verb: str,
    *,
    project: str | None,
    toolset: str | None,
    flavour: str | None,
    state: Path | None,
    **given: Any,
) -> None:
    from toolcast.findings import has_errors, in_order
    from toolcast.model.loading import load_workspace
    from toolcast.rules.running import check_workspace
    from toolcast.wording import did_you_mean

    from ..config import has_settings, settings_of
    from .backends import handler_of

    root = project_root(project)
    loaded = load_workspace(root)
    findings = loaded.findings
    if loaded.workspace is not None and not has_errors(findings):
        findings = [*findings, *check_workspace(loaded.workspace)]
    if loaded.workspace is None or has_errors(findings):
        print_findings(in_order(findings), "text", with_notes=False)
        sys.exit(USAGE if loaded.workspace is None else FINDINGS)
    sets = {one.name: one for one in loaded.workspace.toolsets if has_settings(one)}
    if not sets:
        fail("no toolset has a `letta`: it names the server's entry and the agents")
    if toolset is None and len(sets) > 1:
        fail(
            f"several toolsets have a `letta`: add --toolset, one of {', '.join(sets)}"
        )
    name = toolset or next(iter(sets))
    if name not in sets:
        fail(
            f"no toolset `{name}` has a `letta`\n  help: "
            + (did_you_mean(name, list(sets)) or f"there is {', '.join(sets)}")
        )
    chosen = sets[name]
    kind = flavour or settings_of(chosen).flavour
    handler = handler_of(kind, verb) if kind in FLAVOURS else None
    if handler is None:
        fail(f"the flavour `{kind}` has no `{verb}`")
    folder = state or Path(root, ".toolcast", "letta")
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    request = LettaRequest(root=root, toolset=chosen, state=folder, **given)
    code = handler(request)
    sys.exit(_Changes(code) if verb == "plan" else code)
