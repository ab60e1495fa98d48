"""`toolcast generate`."""

from __future__ import annotations

import os
import sys

import click

from .manners import CLEAN, FINDINGS, USAGE, counted, fail, print_findings, project_root

__all__ = ["command"]


@click.command(name="generate")
@click.option("--project", metavar="FOLDER", help="The folder of toolcast.yaml.")
@click.option("--force", is_flag=True, help="Overwrite what was edited by hand.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="How findings are printed.",
)
def command(project: str | None, force: bool, format_: str) -> None:
    """Cast the specs into their outputs.

    With an error in a spec nothing is written. Files that were edited by hand, and files in
    the output folder that are not the generator's, are named and left alone; --force
    overwrites the edited ones and those in the way, and leaves other files where they are.
    """
    from ..pipeline import generate

    root = project_root(project)
    generated = generate(root)
    code = print_findings(generated.findings, format_, with_notes=False)
    if generated.workspace is None:
        sys.exit(USAGE)
    if code != CLEAN:
        click.echo("nothing was written", err=True)
        sys.exit(code)
    from ..output.plan import make_plan
    from ..output.writer import AnotherRun, exclusive, write

    workspace = generated.workspace
    folder = os.path.join(root, workspace.output)
    try:
        with exclusive(root):
            plan = make_plan(folder, generated.files, root)
            refused = list(plan.refusals(workspace.output, force=force))
            if refused:
                print_findings(refused, format_)
                click.echo("nothing was written", err=True)
                sys.exit(FINDINGS)
            written = write(folder, generated.files, plan)
    except AnotherRun as error:
        fail(str(error))
    except OSError as error:
        name = os.path.relpath(str(error.filename or folder), root)
        fail(f"{name}: {error.strerror or error}")
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    if format_ == "text":
        click.echo(
            f"{counted(tools, 'tool')} in {counted(len(workspace.toolsets), 'toolset')}"
            f" -> {counted(len(generated.files), 'file')} in {workspace.output}/"
            f" ({written.written} written, {written.unchanged} unchanged,"
            f" {written.removed} removed)"
        )
