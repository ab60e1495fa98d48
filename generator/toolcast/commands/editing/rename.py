"""`toolcast rename`."""

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


@click.command(name="rename")
@click.argument("old", shell_complete=complete_tools)
@click.argument("new")
@toolset_option
@click.option("--handler", is_flag=True, help="Rename the handler's function, too.")
@dry_run_option
@project_option
def command(
    old: str,
    new: str,
    toolset: str | None,
    handler: bool,
    dry_run: bool,
    project: str | None,
) -> None:
    """Give a tool another name; calls by the old one go on.

    Changes its spec and the file's name, what refers to it (texts, clients' lists,
    exclusions, replacements) and adds the old name to `renamed_from`. Comments and layout
    stay. What may mean something else is left and listed: comments, data, your own code.
    """

    def make(workspace: Workspace, owned: Owned) -> ProjectEdit:
        from ...edits.rename import rename

        return rename(workspace, owned, new, with_handler=handler)

    run_edit(project, old, toolset, make, dry_run=dry_run)
