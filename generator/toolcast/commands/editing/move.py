"""`toolcast move`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..completion import complete_tools, complete_toolsets
from ..options import project_option
from .spec_edits import dry_run_option, run_edit

if TYPE_CHECKING:
    from ...edits.project_edit import Owned, ProjectEdit
    from ...model.model import Workspace

__all__ = ["command"]


@click.command(name="move")
@click.argument("tool", shell_complete=complete_tools)
@click.argument("toolset", shell_complete=complete_toolsets)
@click.option(
    "--from",
    "from_",
    metavar="NAME",
    help="The tool's toolset, where several have such a tool.",
)
@click.option("--section", metavar="NAME", help="Its section there.")
@click.option("--handler", metavar="MODULE:FUNCTION", help="Its handler there.")
@dry_run_option
@project_option
def command(
    tool: str,
    toolset: str,
    from_: str | None,
    section: str | None,
    handler: str | None,
    dry_run: bool,
    project: str | None,
) -> None:
    """Move a tool to another toolset.

    Its exclusions go with it; clients' lists of its toolset lose it. It has to fit there
    as it is: its section, clients, permission, pool and handler are held to the rules
    before anything is written. The server that it leaves does not answer calls of it.
    """

    def make(workspace: Workspace, owned: Owned) -> ProjectEdit:
        from ...edits.move import move

        return move(workspace, owned, toolset, section=section, handler=handler)

    run_edit(project, tool, from_, make, dry_run=dry_run, option="--from")
