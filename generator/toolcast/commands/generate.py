"""`toolcast generate`."""

from __future__ import annotations

import click

from .exit_codes import project_root
from .generating import cast
from .options import format_option, project_option

__all__ = ["command"]


@click.command(name="generate")
@project_option
@click.option("--force", is_flag=True, help="Overwrite what was edited by hand.")
@format_option
def command(project: str | None, force: bool, format_: str) -> None:
    """Cast the specs into their outputs.

    With an error in a spec nothing is written. Files that were edited by hand, and files in
    the output folder that are not the generator's, are named and left alone; --force
    overwrites the edited ones and those in the way, and leaves other files where they are.
    """
    cast(project_root(project), force=force, format_=format_)
