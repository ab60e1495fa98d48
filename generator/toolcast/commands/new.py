"""`toolcast new`."""

from __future__ import annotations

import sys

import click

from .exit_codes import FINDINGS, USAGE, fail, print_findings, project_root
from .options import project_option

__all__ = ["command"]


@click.command(name="new")
@click.argument("name")
@click.option("--toolset", metavar="NAME", help="Needed where there are several.")
@click.option("--section", metavar="NAME", help="Needed where there are several.")
@project_option
def command(
    name: str, toolset: str | None, section: str | None, project: str | None
) -> None:
    """Write a tool spec and a typed handler stub.

    Both are valid at once. A file that is in the way is named, and then nothing is
    written.
    """
    from ..findings import has_errors, in_order
    from ..model.loading import load_workspace
    from .scaffold import write_new
    from .tool_draft import Refusal, draft_tool

    root = project_root(project)
    loaded = load_workspace(root)
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(in_order(loaded.findings), "text")
        click.echo("nothing was written", err=True)
        sys.exit(USAGE if loaded.workspace is None else FINDINGS)
    try:
        draft = draft_tool(loaded.workspace, name, toolset, section)
    except Refusal as error:
        fail(str(error))
    write_new(root, draft.files)
    for path in draft.files:
        click.echo(f"wrote {path}")
    click.echo("\nNext:")
    for number, step in enumerate(draft.steps, 1):
        click.echo(f"  {number}. {step}")
