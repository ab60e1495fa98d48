"""`toolcast catalogue`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from .exit_codes import counted, fail, project_root, sides_or_end, workspace_or_end
from .options import project_option

if TYPE_CHECKING:
    from ..model.model import Workspace

__all__ = ["command"]

_LARGEST = 64 * 1024


@click.command(name="catalogue")
@project_option
@click.option("--output", metavar="FILE", required=True, help="The HTML file to write.")
@click.option(
    "--against",
    metavar="REF|DIR",
    help="Show what has changed since a git reference, or against another folder with a"
    " toolcast.yaml.",
)
def command(project: str | None, output: str, against: str | None) -> None:
    """Write one HTML file in which people look up the tools.

    It has search, filters, schemas, who gets which tool and why not, and token costs. It
    loads nothing, so it can be mailed or put on any server. It is not for git: it says
    again what the specs say, and `toolcast check` does not look at it.
    """
    from ..catalogue_page.catalogue_page import NOTHING, catalogue_data, catalogue_page
    from ..changes.comparison import compare

    if against is None:
        after, comparison, name = workspace_or_end(project), NOTHING, ""
    else:
        sides = sides_or_end(project_root(project), against)
        after, name = sides.after, sides.against
        comparison = NOTHING if sides.before is None else compare(sides.before, after)
    page = catalogue_page(catalogue_data(after, comparison, name))
    _write(after, output, page)
    tools = sum(len(toolset.tools) for toolset in after.toolsets)
    click.echo(f"{counted(tools, 'tool')} -> {output} ({len(page) / 1024:,.0f} KiB)")


def _write(workspace: Workspace, output: str, page: bytes) -> None:
    """Writes the page, but not below the output folder and over nothing else than a catalogue."""
    from toolcast_runtime.files.folder import Folder
    from toolcast_runtime.files.regular_file import NoRegularFile

    from ..catalogue_page.catalogue_page import MARK

    folder, name = os.path.split(os.path.abspath(output))
    if not name or os.path.isdir(os.path.join(folder, name)):
        fail(
            f"{output or '.'} is a folder\n  help: name a file, such as catalogue.html"
        )
    own = os.path.join(
        os.path.realpath(os.path.join(workspace.root, workspace.output)), ""
    )
    if os.path.join(os.path.realpath(folder), "").startswith(own):
        fail(
            f"{output} is in {workspace.output}/, which holds what `toolcast generate` writes\n"
            "  help: name a file outside of it"
        )
    try:
        with Folder.at(folder) as opened:
            try:
                there = opened.read(name, _LARGEST)
            except FileNotFoundError:
                there = MARK
            if MARK not in there:
                fail(
                    f"{output} is there and is no catalogue\n  help: name another file"
                )
            opened.write(name, page)
    except NoRegularFile:
        fail(f"{output} is there and is no regular file\n  help: name another file")
    except OSError as error:
        fail(f"{output}: {error.strerror or error}")
