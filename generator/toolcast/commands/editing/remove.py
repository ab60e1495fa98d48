"""`toolcast remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..completion import complete_tools
from ..options import project_option
from .spec_edits import dry_run_option, run_edit, toolset_option

if TYPE_CHECKING:
    from ...edits.project_edit import Owned, ProjectEdit
    from ...model.model import Workspace

__all__ = ["command"]


@click.command(name="remove")
@click.argument("tool", shell_complete=complete_tools)
@toolset_option
@click.option("--reason", metavar="TEXT", help="Why; kept beside the reserved name.")
@click.option("--now", is_flag=True, help="Without an announced day, or before it.")
@click.option("--anyway", is_flag=True, help="Although other texts say its name.")
@click.option(
    "--force", is_flag=True, help="Although git could not give the spec back."
)
@dry_run_option
@project_option
def command(
    tool: str,
    toolset: str | None,
    reason: str | None,
    now: bool,
    anyway: bool,
    force: bool,
    dry_run: bool,
    project: str | None,
) -> None:
    """Remove a tool whose announced day has come, and reserve its names.

    Clients' lists and exclusions lose it. Its name and its former ones go to
    `reserved_names`, so that no other tool answers calls that were meant for it. What
    else refers to it is named, and nothing is removed. A draft needs no announced day.
    """

    def make(workspace: Workspace, owned: Owned) -> ProjectEdit:
        from ...edits.remove import remove

        return remove(workspace, owned, now=now, anyway=anyway, reason=reason)

    run_edit(project, tool, toolset, make, dry_run=dry_run, may_lose=force or dry_run)
