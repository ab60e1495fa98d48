"""`toolcast letta`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcast.extension_api import (
    FINDINGS,
    USAGE,
    fail,
    print_findings,
    project_option,
    project_root,
)

from .backends import BACKENDS

if TYPE_CHECKING:
    from toolcast.extension_api import Toolset, Workspace

    from .backends import LettaRequest

Function = Callable[..., None]
Names = tuple[str, ...]

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
        "--backend",
        "kind",
        type=click.Choice(BACKENDS),
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
        help="Backend code: Letta Code's settings. Default: ~/.letta/settings.json.",
    ),
    click.option(
        "--state",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        envvar="TOOLCAST_LETTA_STATE",
        help="Baselines and the lock, the server's too. Default: TOOLCAST_LETTA_STATE, else"
        " .toolcast/letta.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=60.0,
        help="Seconds that a request may take.",
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json"]),
        default="text",
        help="How the result is printed.",
    ),
)
_OVERRIDES = (
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


def _add_options(*options: Any) -> Callable[[Function], Function]:
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
@_add_options(*_SHARED, *_OVERRIDES)
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
def plan(
    out: Path | None,
    detailed_exitcode: bool,
    allow_delete: Names,
    allow_capture: Names,
    drop_stale: Names,
    **shared: Any,
) -> None:
    """Show what apply would do; changes nothing.

    `+` adds, `~` changes in place, `-` removes, `-/+` removes and adds. The plan is refused
    where applying would take something away that is not the toolset's, unless it is named.
    """
    from ..plan.plan import Overrides
    from . import operations

    overrides = Overrides(allow_delete, allow_capture, drop_stale)
    try:
        request = _build_request(**shared)
        code = operations.plan(
            request, overrides, out, detailed_exitcode=detailed_exitcode
        )
    except SystemExit as end:
        # Exit code 2 is that of a plan with changes then.
        sys.exit(FINDINGS if detailed_exitcode and end.code == USAGE else end.code)
    sys.exit(code)


@command.command(short_help="Carry out a saved plan exactly, or stop.")
@_add_options(*_SHARED, *_OVERRIDES)
@click.argument("plan_file", metavar="[PLAN]", required=False, type=click.Path())
@click.option("--yes", "automatic", is_flag=True, help="Plan and apply at once.")
def apply(
    plan_file: str | None,
    automatic: bool,
    allow_delete: Names,
    allow_capture: Names,
    drop_stale: Names,
    **shared: Any,
) -> None:
    """Carry out exactly a saved plan, or stop when something has changed since.

    What was there before is saved first. An apply that was interrupted is started again.
    """
    from ..plan.plan import Overrides
    from . import operations

    if plan_file is None and not automatic:
        fail(
            "name the plan that `toolcast letta plan --out FILE` saved\n"
            "  help: --yes plans and applies at once, unread"
        )
    overrides = Overrides(allow_delete, allow_capture, drop_stale)
    file = Path(plan_file) if plan_file else None
    sys.exit(operations.apply(_build_request(**shared), overrides, file))


@command.command()
@_add_options(*_SHARED)
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
def verify(
    tools: Names,
    no_calls: bool,
    call_changing: bool,
    turn: str | None,
    **shared: Any,
) -> None:
    """Read everything back, and call the tools that have an example.

    Names, ids, rules and schemas are compared with the specs. Tools are called through
    Letta without a model; with --call-changing also those that change data.
    """
    from ..plan.backend import CallOptions
    from . import operations

    calls = CallOptions(not no_calls, call_changing, tools, turn)
    sys.exit(operations.verify(_build_request(**shared), calls))


@command.command()
@_add_options(*_SHARED)
@click.argument("baseline", metavar="[BASELINE]", required=False, type=click.Path())
@click.option("--dry-run", is_flag=True, help="Say what it would do; change nothing.")
@click.option(
    "--restore",
    metavar="TOOL",
    multiple=True,
    help="A tool that somebody detached since then and that comes back all the same.",
)
def rollback(
    baseline: str | None, dry_run: bool, restore: Names, **shared: Any
) -> None:
    """Undo what applies did since the newest baseline, or a named one.

    Tools are found by their names: ids do not outlive a deletion. What others did since
    then stays. What cannot be put back is told.
    """
    from . import operations

    file = Path(baseline) if baseline else None
    request = _build_request(**shared)
    sys.exit(operations.rollback(request, file, restore, dry_run=dry_run))


@command.command(short_help="Show, or write, the specs' part of memory blocks.")
@_add_options(*_SHARED)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save what is shown, for review and for --write.",
)
@click.option(
    "--write",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write exactly what --out saved.",
)
def blocks(out: Path | None, write: Path | None, **shared: Any) -> None:
    """Show what the specs say in the agents' memory blocks; with --write, write it.

    Only the part between the toolset's marks changes; what the agent wrote itself stays. It
    stops when a block has changed since it was shown.
    """
    from . import operations

    if out is not None and write is not None:
        fail("--out shows and saves, --write writes what was saved: one at a time")
    sys.exit(operations.blocks(_build_request(**shared), out, write))


@command.command(short_help="Print how tools are brought to the agents.")
@click.argument("tool", required=False)
@project_option
@click.option("--toolset", metavar="NAME", help="Needed where there are several.")
def runbook(tool: str | None, project: str | None, toolset: str | None) -> None:
    """Print how a tool is brought to the agents; without a tool, which ones they get."""
    from toolcast.extension_api import did_you_mean, printable

    from ..runbook import format_tool_list, render_tool_page

    workspace, selected = _select_toolset(project_root(project), toolset)
    if tool is None:
        text: str | None = format_tool_list(selected)
    else:
        text = render_tool_page(workspace, selected, tool)
    if text is None:
        meant = did_you_mean(str(tool), [one.name for one in selected.tools])
        help_ = f"\n  help: {meant}" if meant else ""
        fail(f"{selected.name} has no tool `{tool}`{help_}")
    for line in text.splitlines():
        click.echo(printable(line))


def _build_request(
    *,
    project: str | None,
    toolset: str | None,
    agents: Names,
    kind: str | None,
    base_url: str | None,
    server_url: str | None,
    settings: Path | None,
    state: Path | None,
    timeout: float,
    format_: str,
) -> LettaRequest:
    """What the shared options ask for; ends the program where that cannot be told."""
    from ..specs import build_settings
    from .backends import LettaRequest

    root = project_root(project)
    _, selected = _select_toolset(root, toolset)
    return LettaRequest(
        toolset=selected,
        kind=kind or build_settings(selected).backend,
        agents=agents,
        base_url=base_url,
        server_url=server_url,
        settings=settings,
        state=state or Path(root, ".toolcast", "letta"),
        timeout=timeout,
        as_json=format_ == "json",
    )


def _select_toolset(root: str, name: str | None) -> tuple[Workspace, Toolset]:
    """The toolset of a name, or the only one that has a `letta`, with its workspace.

    Ends the program with the findings of the specs where they have errors.
    """
    from toolcast.extension_api import (
        check_workspace,
        did_you_mean,
        has_errors,
        load_workspace,
        sort_findings,
    )

    from ..specs import has_settings

    loaded = load_workspace(root)
    findings = loaded.findings
    if loaded.workspace is not None and not has_errors(findings):
        findings = [*findings, *check_workspace(loaded.workspace)]
    if loaded.workspace is None or has_errors(findings):
        print_findings(sort_findings(findings), "text", with_notes=False)
        sys.exit(USAGE if loaded.workspace is None else FINDINGS)
    toolsets = {one.name: one for one in loaded.workspace.toolsets if has_settings(one)}
    if not toolsets:
        fail("no toolset has a `letta`: it names the server's entry and the agents")
    if name is None and len(toolsets) > 1:
        fail(
            f"several toolsets have a `letta`: add --toolset, one of {', '.join(toolsets)}"
        )
    name = name or next(iter(toolsets))
    if name not in toolsets:
        fail(
            f"no toolset `{name}` has a `letta`\n  help: "
            + (did_you_mean(name, list(toolsets)) or f"there is {', '.join(toolsets)}")
        )
    return loaded.workspace, toolsets[name]
