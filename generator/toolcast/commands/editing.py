"""The commands `toolcast rename` and `toolcast remove`, which edit specs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from ..reports.escaping import printable
from .exit_codes import (
    FINDINGS,
    fail,
    format_count,
    load_editable_workspace_or_exit,
    print_error,
    print_findings,
    print_steps,
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
"""Maximum number of unchanged mentions that are printed; further ones are only counted."""

_toolset_option = toolset_option("Toolset of the tool; required if several have it.")


def _run_edit(
    project: str | None,
    name: str,
    toolset: str | None,
    build_edit: Callable[[Workspace, OwnedTool], ProjectEdit],
    *,
    dry_run: bool,
    allow_loss: bool = True,
) -> None:
    """Build an edit of the specs for a tool, and write it, or print it as a diff.

    If the edit is refused, writes nothing and ends the program: with exit code 2 for invalid
    arguments, else 1.

    Args:
        name: the name of the tool.
        build_edit: returns the edit, or raises EditRefusedError.
        dry_run: whether to print the edit as a diff instead of writing it.
        allow_loss: whether the edit may remove a file that git cannot restore.
    """
    from ..refactoring.project_edit import (
        EditRefusedError,
        format_unified_diff,
        get_tool,
    )
    from ..refactoring.spec_text import UneditableValueError
    from ..refactoring.writing import validate_removals, write_edit

    workspace = load_editable_workspace_or_exit(project)
    root = workspace.root
    try:
        owned = get_tool(workspace, name, toolset)
        edit = build_edit(workspace, owned)
        if not allow_loss:
            validate_removals(root, owned.toolset.folder, edit)
        if not dry_run:
            write_edit(root, edit)
    except EditRefusedError as refusal:
        _exit_refused(refusal)
    except UneditableValueError as error:
        print_error(f"{error}; nothing was written\n  help: make this change by hand")
        sys.exit(FINDINGS)
    if dry_run:
        for line in format_unified_diff(edit):
            click.echo(printable(line))
        return
    click.echo(printable(f"{edit.summary}: {_summarize_files(edit)}"))
    _print_mentions(edit.remaining_mentions)
    print_steps(edit.steps)


def _exit_refused(refusal: EditRefusedError) -> NoReturn:
    """Print the reason for a refused edit; exit with 2 for invalid arguments, else 1."""
    if refusal.is_usage:
        fail(str(refusal))
    if refusal.findings:
        print_findings(refusal.findings, "text")
    print_error(f"{refusal}\nnothing was written")
    sys.exit(FINDINGS)


def _summarize_files(edit: ProjectEdit) -> str:
    # A moved file has two entries in `after`; the entry of its old path is None.
    written = sum(data is not None for data in edit.after.values())
    if not written:
        return "1 file removed"
    return f"{format_count(written, 'file')} changed"


def _print_mentions(mentions: Sequence[RemainingMention]) -> None:
    if not mentions:
        return
    click.echo("\nNot changed, for you to review:")
    # Several searches can report the same line, which the user reviews once. The reversed
    # loop keeps the first mention of each line.
    by_line: dict[tuple[str, int], RemainingMention] = {}
    for mention in reversed(mentions):
        by_line[mention.file, mention.line] = mention
    distinct = list(by_line.values())[::-1]
    for mention in distinct[:_MAX_MENTIONS_SHOWN]:
        location = mention.file
        if mention.line:
            location = f"{mention.file}:{mention.line}:{mention.column}"
        click.echo(printable(f"  {location}: {mention.text}"))
    if len(distinct) > _MAX_MENTIONS_SHOWN:
        click.echo(f"  and {len(distinct) - _MAX_MENTIONS_SHOWN} more")


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
    Ambiguous mentions are listed and not changed. Exit codes: 1 if the tool cannot be
    renamed, 2 if the arguments or toolcast.yaml are invalid.
    """

    def build_edit(workspace: Workspace, owned: OwnedTool) -> ProjectEdit:
        from ..refactoring.rename import rename_tool

        return rename_tool(workspace, owned, new, with_handler=handler)

    _run_edit(project, old, toolset, build_edit, dry_run=dry_run)


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
    and removes nothing. Draft tools need no announced date. Exit codes: 1 if the tool cannot
    be removed, 2 if the arguments or toolcast.yaml are invalid.
    """

    def build_edit(workspace: Workspace, owned: OwnedTool) -> ProjectEdit:
        from ..refactoring.remove import remove_tool

        return remove_tool(
            workspace,
            owned,
            without_notice=without_notice,
            ignore_mentions=ignore_mentions,
            reason=reason,
        )

    allow_loss = force or dry_run
    _run_edit(
        project, tool, toolset, build_edit, dry_run=dry_run, allow_loss=allow_loss
    )
