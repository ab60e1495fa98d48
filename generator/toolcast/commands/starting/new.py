"""`toolcast new`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from ...findings import Severity
from ...reports.escaping import printable
from ..completion import complete_toolsets
from ..exit_codes import FINDINGS, USAGE, fail, print_findings, project_root
from ..options import project_option

__all__ = ["command"]


@click.command(name="new")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(["tool", "resource", "prompt"]),
    default="tool",
    show_default=True,
    help="What it is; a resource and a prompt are MCP's.",
)
@click.option(
    "--toolset",
    metavar="NAME",
    help="The toolset; needed where there are several.",
    shell_complete=complete_toolsets,
)
@click.option(
    "--section", metavar="NAME", help="The section; needed where there are several."
)
@project_option
def command(
    name: str,
    kind: str,
    toolset: str | None,
    section: str | None,
    project: str | None,
) -> None:
    """Write a tool spec and a typed handler stub, or the spec of a resource or MCP prompt.

    What the project asks of every tool and only its author can decide is told as a step.
    A file that is in the way is named, and then nothing is written.
    """
    from ...edits.project_edit import Refusal
    from ...findings import has_errors, in_order
    from ...model.loading import load_workspace
    from .mcp_draft import draft_mcp_spec
    from .scaffold import write_new
    from .tool_draft import draft_tool

    root = project_root(project)
    loaded = load_workspace(root)
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(in_order(loaded.findings), "text")
        click.echo("nothing was written", err=True)
        sys.exit(USAGE if loaded.workspace is None else FINDINGS)
    try:
        if kind == "tool":
            draft = draft_tool(loaded.workspace, name, toolset, section)
        elif section is not None:
            fail(f"a {kind} has no section")
        else:
            draft = draft_mcp_spec(loaded.workspace, kind, name, toolset)
    except Refusal as error:
        fail(str(error))
    write_new(root, draft.files)
    for path in draft.files:
        click.echo(f"wrote {path}")
    click.echo("\nNext:")
    steps = [*draft.steps[:-1], *_decisions(root, next(iter(draft.files)))]
    for number, step in enumerate([*steps, draft.steps[-1]], 1):
        click.echo(f"  {number}. {step}")


def _decisions(root: str, spec: str) -> Iterator[str]:
    """What `check` finds wrong in a new spec, rules of extensions included."""
    from ...model.loading import load_workspace
    from ...rules.running import check_workspace

    workspace, findings = load_workspace(root)
    if workspace is not None:
        findings = [*findings, *check_workspace(workspace)]
    for finding in findings:
        if finding.place.file == spec and finding.severity is Severity.ERROR:
            help_ = f": {finding.help}" if finding.help else ""
            yield printable(f"decide in {spec}: {finding.message}{help_}")
