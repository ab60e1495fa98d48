"""`toolcast deprecate`."""

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


@click.command(name="deprecate")
@click.argument("tool", shell_complete=complete_tools)
@toolset_option
@click.option("--removal", metavar="DATE", help="The day on which it goes, YYYY-MM-DD.")
@click.option(
    "--replacement",
    metavar="TOOL",
    help="The tool to use instead.",
    shell_complete=complete_tools,
)
@click.option("--reason", metavar="TEXT", help="Why, one sentence.")
@click.option(
    "--since", metavar="DATE", help="Since when, a day or a version. Default: today."
)
@click.option(
    "--show/--no-show",
    default=None,
    help="Whether the tool's description says so to models, too.",
)
@dry_run_option
@project_option
def command(
    tool: str,
    toolset: str | None,
    removal: str | None,
    replacement: str | None,
    reason: str | None,
    since: str | None,
    show: bool | None,
    dry_run: bool,
    project: str | None,
) -> None:
    """Announce that a tool goes: by which day, and what to use instead.

    A tool that is deprecated already keeps what is not given anew.
    """

    def make(workspace: Workspace, owned: Owned) -> ProjectEdit:
        from ...edits.deprecate import Announcement, deprecate

        told = Announcement(since, removal, replacement, reason, show)
        return deprecate(workspace, owned, told)

    run_edit(project, tool, toolset, make, dry_run=dry_run)
