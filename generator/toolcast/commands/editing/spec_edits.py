"""What the commands that edit specs share: reading, showing, writing, telling what is left."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import click

from ...reports.escaping import printable
from ..completion import complete_toolsets
from ..exit_codes import FINDINGS, USAGE, counted, fail, print_findings, project_root

if TYPE_CHECKING:
    from ...edits.project_edit import Left, Owned, ProjectEdit, Refusal
    from ...model.model import Workspace

__all__ = ["dry_run_option", "run_edit", "toolset_option"]

_MOST_LEFT = 100

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print the change as a diff, and write nothing."
)
toolset_option = click.option(
    "--toolset",
    metavar="NAME",
    help="The tool's toolset, where several have such a tool.",
    shell_complete=complete_toolsets,
)


def run_edit(
    project: str | None,
    name: str,
    toolset: str | None,
    make: Callable[[Workspace, Owned], ProjectEdit],
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
    from ...edits.project_edit import Refusal, tool_of, unified_diff
    from ...edits.spec_text import CannotEdit
    from ...edits.writing import refuse_loss, write
    from ...findings import has_errors, in_order
    from ...model.loading import load_workspace

    root = project_root(project)
    loaded = load_workspace(root)
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(in_order(loaded.findings), "text")
        click.echo("nothing was written", err=True)
        sys.exit(USAGE if loaded.workspace is None else FINDINGS)
    try:
        owned = tool_of(loaded.workspace, name, toolset)
        edit = make(loaded.workspace, owned)
        if not may_lose:
            refuse_loss(root, owned.toolset.folder, edit)
        if not dry_run:
            write(root, edit)
    except Refusal as refusal:
        _refuse(refusal)
    except CannotEdit as error:
        _say_error(f"{error}\n  help: make this change by hand; nothing was written")
        sys.exit(FINDINGS)
    if dry_run:
        for row in unified_diff(edit):
            click.echo(printable(row))
        return
    click.echo(printable(f"{edit.done}: {_extent(edit)}"))
    _tell_left(edit.left)
    click.echo("\nNext:")
    for number, step in enumerate(edit.steps, 1):
        click.echo(printable(f"  {number}. {step}"))


def _refuse(refusal: Refusal) -> NoReturn:
    if refusal.is_usage:
        fail(str(refusal))
    if refusal.findings:
        print_findings(refusal.findings, "text")
    _say_error(f"{refusal}\nnothing was written")
    sys.exit(FINDINGS)


def _say_error(message: str) -> None:
    lines = "\n".join(printable(line) for line in message.split("\n"))
    click.echo(f"error: {lines}", err=True)


def _extent(edit: ProjectEdit) -> str:
    """How many files it touches; one that got another path is one."""
    written = sum(data is not None for data in edit.after.values())
    if not written:
        return "1 file removed"
    return f"{counted(written, 'file')} changed"


def _tell_left(left: tuple[Left, ...]) -> None:
    if not left:
        return
    click.echo("\nLeft for you to decide:")
    # A line is found in several ways, and is one decision.
    left = tuple({(one.file, one.line): one for one in reversed(left)}.values())[::-1]
    for one in left[:_MOST_LEFT]:
        where = f"{one.file}:{one.line}:{one.column}" if one.line else one.file
        click.echo(printable(f"  {where}: {one.text}"))
    if len(left) > _MOST_LEFT:
        click.echo(f"  and {len(left) - _MOST_LEFT} more")
