"""The commands that edit specs, `toolcast rename` and `toolcast remove`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import click

from ..reports.escaping import printable
from .exit_codes import (
    FINDINGS,
    counted,
    fail,
    print_findings,
    print_steps,
    tell_error,
    to_edit_or_end,
)
from .options import complete_tools, dry_run_option, project_option, toolset_option

if TYPE_CHECKING:
    from ..model.model import Workspace
    from ..refactoring.project_edit import (
        EditRefusedError,
        OwnedTool,
        ProjectEdit,
        RemainingMention,
    )

_MAX_MENTIONS_SHOWN = 100
"""Remaining mentions that are printed; of the others, only their number."""

_toolset_option = toolset_option("Toolset of the tool, if several have such a tool.")


def _run_edit(
    project: str | None,
    name: str,
    toolset: str | None,
    make: Callable[[Workspace, OwnedTool], ProjectEdit],
    *,
    dry_run: bool,
    may_lose: bool = True,
) -> None:
    """Makes an edit of the tool of a name, and shows or writes it.

    Ends the program with exit code 1 when it cannot be made, 2 when the command is not
    right; then nothing is written.

    Args:
        may_lose: files may be removed that git could not give back.
    """
    from ..refactoring.project_edit import (
        EditRefusedError,
        format_unified_diff,
        get_tool,
    )
    from ..refactoring.spec_text import UneditableValueError
    from ..refactoring.writing import validate_removals, write_edit

    workspace = to_edit_or_end(project)
    root = workspace.root
    try:
        owned = get_tool(workspace, name, toolset)
        edit = make(workspace, owned)
        if not may_lose:
            validate_removals(root, owned.toolset.folder, edit)
        if not dry_run:
            write_edit(root, edit)
    except EditRefusedError as refusal:
        _refuse(refusal)
    except UneditableValueError as error:
        tell_error(f"{error}\n  help: make this change by hand; nothing was written")
        sys.exit(FINDINGS)
    if dry_run:
        for row in format_unified_diff(edit):
            click.echo(printable(row))
        return
    click.echo(printable(f"{edit.summary}: {_extent(edit)}"))
    _tell_left(edit.remaining_mentions)
    print_steps(edit.steps)


def _refuse(refusal: EditRefusedError) -> NoReturn:
    if refusal.is_usage:
        fail(str(refusal))
    if refusal.findings:
        print_findings(refusal.findings, "text")
    tell_error(f"{refusal}\nnothing was written")
    sys.exit(FINDINGS)


def _extent(edit: ProjectEdit) -> str:
    """How many files it touches; one that got another path is one."""
    written = sum(data is not None for data in edit.after.values())
    if not written:
        return "1 file removed"
    return f"{counted(written, 'file')} changed"


def _tell_left(left: tuple[RemainingMention, ...]) -> None:
    if not left:
        return
    click.echo("\nLeft for you to decide:")
    # A line is found in several ways, and is one decision.
    left = tuple({(one.file, one.line): one for one in reversed(left)}.values())[::-1]
    for one in left[:_MAX_MENTIONS_SHOWN]:
        where = f"{one.file}:{one.line}:{one.column}" if one.line else one.file
        click.echo(printable(f"  {where}: {one.text}"))
    if len(left) > _MAX_MENTIONS_SHOWN:
        click.echo(f"  and {len(left) - _MAX_MENTIONS_SHOWN} more")


@click.command(name="rename")
@click.argument("old", shell_complete=complete_tools)
@click.argument("new")
@_toolset_option
@click.option("--handler", is_flag=True, help="Also rename the handler function.")
@dry_run_option
@project_option
def rename(
    old: str,
    new: str,
    toolset: str | None,
    handler: bool,
    dry_run: bool,
    project: str | None,
) -> None:
    """Rename a tool; calls to the old name keep working.

    Changes the spec, its file name and all references (texts, client lists, exclusions,
    replacements), and adds the old name to `renamed_from`. Comments and layout are kept.
    Ambiguous mentions are listed and not changed.
    """

    def make(workspace: Workspace, owned: OwnedTool) -> ProjectEdit:
        from ..refactoring.rename import rename_tool as edited

        return edited(workspace, owned, new, with_handler=handler)

    _run_edit(project, old, toolset, make, dry_run=dry_run)


@click.command(name="remove")
@click.argument("tool", shell_complete=complete_tools)
@_toolset_option
@click.option("--reason", metavar="TEXT", help="Reason, stored with the reserved name.")
@click.option(
    "--without-notice",
    is_flag=True,
    help="Remove before the announced date, or without one.",
)
@click.option(
    "--ignore-mentions",
    is_flag=True,
    help="Remove although other specs mention the tool.",
)
@click.option(
    "--force", is_flag=True, help="Remove although git cannot restore the spec."
)
@dry_run_option
@project_option
def remove(
    tool: str,
    toolset: str | None,
    reason: str | None,
    without_notice: bool,
    ignore_mentions: bool,
    force: bool,
    dry_run: bool,
    project: str | None,
) -> None:
    """Remove a tool after its announced date, and reserve its names.

    Removes the tool from client lists and exclusions. If other specs mention it, lists them
    and removes nothing. Draft tools need no announced date.
    """

    def make(workspace: Workspace, owned: OwnedTool) -> ProjectEdit:
        from ..refactoring.remove import remove_tool as edited

        return edited(
            workspace,
            owned,
            without_notice=without_notice,
            ignore_mentions=ignore_mentions,
            reason=reason,
        )

    _run_edit(project, tool, toolset, make, dry_run=dry_run, may_lose=force or dry_run)
