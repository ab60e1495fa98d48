"""`toolcast generate`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from .manners import (
    CLEAN,
    FINDINGS,
    USAGE,
    counted,
    fail,
    print_findings,
    project_root,
    report,
)

if TYPE_CHECKING:
    from ..output.writer import Written
    from ..pipeline import Generated

__all__ = ["command"]


@click.command(name="generate")
@click.option("--project", metavar="FOLDER", help="The folder of toolcast.yaml.")
@click.option("--force", is_flag=True, help="Overwrite what was edited by hand.")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep earlier results.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="How findings are printed.",
)
def command(project: str | None, force: bool, no_cache: bool, format_: str) -> None:
    """Cast the specs into their outputs.

    With an error in a spec nothing is written. Files that were edited by hand, and files in
    the output folder that are not the generator's, are named and left alone; --force
    overwrites the edited ones and those in the way, and leaves other files where they are.

    A run without changes looks at the files from outside and ends at once; what helps it
    to is in .toolcast/cache, which may be deleted at any time.
    """
    import time

    from ..pipeline import generate

    started = time.time_ns()
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
            if not no_cache:
                _remember(generated, started)
    except AnotherRun as error:
        fail(str(error))
    except OSError as error:
        name = os.path.relpath(str(error.filename or folder), root)
        fail(f"{name}: {error.strerror or error}")
    if format_ == "text":
        click.echo(_result(generated, written))


def _result(generated: Generated, written: Written) -> str:
    workspace = generated.workspace
    if workspace is None:
        raise ValueError("there is no result without a workspace")
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    return (
        f"{counted(tools, 'tool')} in {counted(len(workspace.toolsets), 'toolset')}"
        f" -> {counted(len(generated.files), 'file')} in {workspace.output}/"
        f" ({written.written} written, {written.unchanged} unchanged,"
        f" {written.removed} removed)"
    )


def _remember(generated: Generated, started: int) -> None:
    """Notes how everything looks now, for the next run."""
    from ..cache.index import Said
    from ..cache.recording import record
    from ..output.writer import Written

    workspace, findings = generated.workspace, generated.findings
    if workspace is None:
        return
    plain, coloured = (
        report(findings, "text", with_notes=False, colour=colour)
        for colour in (False, True)
    )
    result = _result(generated, Written(0, len(generated.files), 0))
    said = Said(plain, coloured, f"{result}\n")
    try:
        record(workspace, started, generated.until, said, "")
    except OSError as error:
        name = os.path.relpath(str(error.filename), workspace.root)
        click.echo(f"the cache is not kept: {name}: {error.strerror}", err=True)
