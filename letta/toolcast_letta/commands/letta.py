"""The command line interface `toolcast letta`."""

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
    click.option(
        "--toolset",
        metavar="NAME",
        help="The toolset. Required if several toolsets use Letta.",
    ),
    click.option(
        "--agent",
        "agents",
        metavar="NAME",
        multiple=True,
        help="Only this agent of the toolset. Can be repeated. Default: all.",
    ),
    click.option(
        "--backend",
        "kind",
        type=click.Choice(BACKENDS),
        help="The kind of Letta. Default: the toolset's `backend`.",
    ),
    click.option(
        "--base-url",
        metavar="URL",
        envvar="LETTA_BASE_URL",
        help="URL of the Letta server. Default: LETTA_BASE_URL.",
    ),
    click.option(
        "--server-url",
        metavar="URL",
        help="URL at which Letta reaches the MCP server. Default: the toolset's.",
    ),
    click.option(
        "--settings",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Settings file, for --backend code. Default: ~/.letta/settings.json.",
    ),
    click.option(
        "--state",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        envvar="TOOLCAST_LETTA_STATE",
        help="Folder of baselines and the lock, shared with the server. Default:"
        " TOOLCAST_LETTA_STATE, else .toolcast/letta.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=60.0,
        help="Timeout of a request in seconds. Default: 60.",
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json"]),
        default="text",
        help="Output format. Default: text.",
    ),
)
_OVERRIDES = (
    click.option(
        "--allow-delete",
        metavar="TOOL",
        multiple=True,
        help="Allow deleting this tool although other agents have it.",
    ),
    click.option(
        "--allow-capture",
        metavar="TOOL",
        multiple=True,
        help="Allow taking over this tool or server entry from another owner.",
    ),
    click.option(
        "--drop-stale",
        metavar="TOOL",
        multiple=True,
        help="Remove the rules of this tool, which is not attached.",
    ),
    click.option(
        "--accept-loss",
        metavar="TOOL",
        multiple=True,
        help="Accept that an agent lost this tool of another owner, or its rules.",
    ),
)


def _add_options(*options: Any) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        # Decorators are applied from the last to the first, so `--help` keeps the
        # declared order.
        for option in reversed(options):
            function = option(function)
        return function

    return add


@click.group(name="letta")
def command() -> None:
    """Plan, apply, verify and roll back the tools of Letta agents.

    The specs declare which tools an agent gets, and with which rules. Set LETTA_API_KEY
    to the server's key or password.
    """


@command.command()
@_add_options(*_SHARED, *_OVERRIDES)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save the plan to this file, for apply.",
)
@click.option(
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with 0 if there are no changes, 2 if there are, 1 on errors or if"
    " something is missing.",
)
def plan(
    out: Path | None,
    detailed_exitcode: bool,
    allow_delete: Names,
    allow_capture: Names,
    drop_stale: Names,
    accept_loss: Names,
    **shared: Any,
) -> None:
    """Show what apply would change; change nothing.

    `+` adds, `~` changes in place, `-` removes, `-/+` removes and adds. `plan`
    refuses a plan that would delete or take over tools of other owners, unless an option
    allows the change. The exit code is 1 if the plan is refused, or if agents need a
    tool that `apply` cannot provide (`missing:`).
    """
    # Imported here so that `--help` loads no libraries.
    from ..plan.plan import Overrides
    from . import operations

    overrides = Overrides(allow_delete, allow_capture, drop_stale, accept_loss)
    try:
        request = _build_request(**shared)
        code = operations.plan(
            request, overrides, out, detailed_exitcode=detailed_exitcode
        )
    except SystemExit as exit_error:
        # With --detailed-exitcode, exit code 2 is reserved for a plan with changes, so
        # a usage error exits with 1.
        is_usage_error = detailed_exitcode and exit_error.code == USAGE
        sys.exit(FINDINGS if is_usage_error else exit_error.code)
    sys.exit(code)


@command.command(short_help="Apply a saved plan.")
@_add_options(*_SHARED, *_OVERRIDES)
@click.argument("plan_file", metavar="[PLAN]", required=False, type=click.Path())
@click.option(
    "--yes", "automatic", is_flag=True, help="Make a plan and apply it without review."
)
def apply(
    plan_file: str | None,
    automatic: bool,
    allow_delete: Names,
    allow_capture: Names,
    drop_stale: Names,
    accept_loss: Names,
    **shared: Any,
) -> None:
    """Apply a saved plan; stop if Letta has changed since the plan was made.

    `apply` first saves the previous state, for rollback. If `apply` is interrupted, run
    the command again. The exit code is 1 while a tool is missing, such as a tool of
    another owner that an agent lost.
    """
    from ..plan.plan import Overrides
    from . import operations

    if plan_file is None and not automatic:
        fail(
            "PLAN is missing\n"
            "  help: pass a plan saved by `toolcast letta plan --out FILE`, or --yes to"
            " apply without review"
        )
    names = {
        "--allow-delete": allow_delete,
        "--allow-capture": allow_capture,
        "--drop-stale": drop_stale,
    }
    options = ", ".join(option for option, tools in names.items() if tools)
    if plan_file is not None and options:
        fail(
            f"{options} cannot change a saved plan\n"
            "  help: make a plan with `toolcast letta plan --out FILE` and the same options"
        )
    overrides = Overrides(allow_delete, allow_capture, drop_stale, accept_loss)
    file = Path(plan_file) if plan_file else None
    sys.exit(operations.apply(_build_request(**shared), overrides, file))


@command.command(short_help="Compare Letta with the specs, and call tools.")
@_add_options(*_SHARED)
@click.option(
    "--tool",
    "tools",
    metavar="NAME",
    multiple=True,
    help="Call the examples of only this tool. Can be repeated.",
)
@click.option("--no-calls", is_flag=True, help="Call no tools.")
@click.option(
    "--call-changing",
    is_flag=True,
    help="Also call tools that change data or require approval.",
)
@click.option(
    "--turn",
    metavar="TOOL",
    help="Make each agent call this tool in a turn with its own model.",
)
def verify(
    tools: Names,
    no_calls: bool,
    call_changing: bool,
    turn: str | None,
    **shared: Any,
) -> None:
    """Compare Letta with the specs, and call the tools that have an example.

    `verify` compares names, ids, rules and schemas. Letta runs the tools without a
    model. With --call-changing, `verify` also calls tools that change data.
    """
    from ..plan.backend import CallOptions
    from . import operations

    calls = CallOptions(not no_calls, call_changing, tools, turn)
    sys.exit(operations.verify(_build_request(**shared), calls))


@command.command(short_help="Undo what was applied since a baseline.")
@_add_options(*_SHARED)
@click.argument("baseline", metavar="[BASELINE]", required=False, type=click.Path())
@click.option(
    "--dry-run", is_flag=True, help="Show what would be undone; change nothing."
)
@click.option(
    "--restore",
    metavar="TOOL",
    multiple=True,
    help="Attach this tool again, although others detached it; also a lost tool. Can"
    " be repeated.",
)
def rollback(
    baseline: str | None, dry_run: bool, restore: Names, **shared: Any
) -> None:
    """Undo what was applied since the newest baseline, or since BASELINE.

    `rollback` restores tools by name, because a deleted tool loses the id, and the
    specs' part of memory blocks. `rollback` keeps later changes by other users, and
    lists losses that cannot be restored.
    """
    from . import operations

    file = Path(baseline) if baseline else None
    request = _build_request(**shared)
    sys.exit(operations.rollback(request, file, restore, dry_run=dry_run))


@command.command(short_help="Show or write the specs' part of memory blocks.")
@_add_options(*_SHARED)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save the texts to this file, for review and --write.",
)
@click.option(
    "--write",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the texts that --out saved to this file.",
)
def blocks(out: Path | None, write: Path | None, **shared: Any) -> None:
    """Show or write the texts that the specs determine in agents' memory blocks.

    Only the part between the toolset's markers changes; the rest belongs to the agent.
    `blocks --write` stops if a block has changed since --out saved the text.
    """
    from . import operations

    if out is not None and write is not None:
        fail("--out and --write exclude each other\n  help: pass one of them")
    sys.exit(operations.blocks(_build_request(**shared), out, write))


@command.command(short_help="Print the steps to bring a tool to the agents.")
@click.argument("tool", required=False)
@project_option
@click.option(
    "--toolset",
    metavar="NAME",
    help="The toolset. Required if several toolsets use Letta.",
)
def runbook(tool: str | None, project: str | None, toolset: str | None) -> None:
    """Print the steps to bring a tool to the agents; without TOOL, list all tools."""
    from toolcast.extension_api import did_you_mean, printable

    from ..runbook import format_tool_list, render_tool_page

    workspace, selected = _select_toolset(project_root(project), toolset)
    if tool is None:
        text: str | None = format_tool_list(selected)
    else:
        text = render_tool_page(workspace, selected, tool)
    if text is None:
        suggestion = did_you_mean(str(tool), [tool.name for tool in selected.tools])
        help_ = f"\n  help: {suggestion}" if suggestion else ""
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
    """Return the request of the shared options; exit if the toolset is unclear."""
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
    """Return the workspace, and the selected toolset with a `letta` object.

    Without a name, there must be exactly one such toolset. If that is not so, or if the
    specs have errors, print the reason and exit.
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
    toolsets = {
        candidate.name: candidate
        for candidate in loaded.workspace.toolsets
        if has_settings(candidate)
    }
    if not toolsets:
        fail(
            "no toolset has a `letta`\n"
            "  help: add it to `toolset.yaml`, with `server` and `agents`"
        )
    if name is None and len(toolsets) > 1:
        fail(
            f"several toolsets have a `letta`\n"
            f"  help: pass --toolset with one of {', '.join(toolsets)}"
        )
    name = name or next(iter(toolsets))
    if name not in toolsets:
        fail(
            f"no toolset `{name}` has a `letta`\n  help: "
            + (
                did_you_mean(name, list(toolsets))
                or f"use one of {', '.join(toolsets)}"
            )
        )
    return loaded.workspace, toolsets[name]
