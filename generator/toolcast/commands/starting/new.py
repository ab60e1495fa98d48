"""`toolcast new`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import click

from ...findings import Severity
from ...reports.escaping import printable
from ..completion import complete_toolsets
from ..exit_codes import FINDINGS, USAGE, fail, print_findings, project_root
from ..options import project_option

if TYPE_CHECKING:
    from ...model.model import Workspace

__all__ = ["command"]


@click.command(name="new")
@click.argument("name", required=False)
@click.option(
    "--kind",
    type=click.Choice(["tool", "handler", "toolset", "resource", "prompt"]),
    default="tool",
    show_default=True,
    help="What it is; a resource and a prompt are MCP's, a handler is the stub of a tool.",
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
@click.option(
    "--from-function",
    "functions",
    metavar="MODULE:FUNCTION",
    multiple=True,
    help="A tool that calls a function which is there already; may be repeated.",
)
@project_option
def command(
    name: str | None,
    kind: str,
    toolset: str | None,
    section: str | None,
    functions: tuple[str, ...],
    project: str | None,
) -> None:
    """Write a tool spec and a typed handler stub, or the spec of a resource or MCP prompt.

    --kind handler writes the stub of a tool whose spec was written first, --kind toolset a
    further toolset, which toolcast.yaml then lists.

    --from-function reads a function's signature and docstring, and imports nothing: the spec
    says what they say, and what they leave open is a TODO. The function is the handler where
    it can be; else an adapter that calls it is written.

    What the project asks of every tool and only its author can decide is told as a step.
    A file that is in the way is named, and then nothing is written.
    """
    from ...edits.project_edit import Refusal
    from ...findings import has_errors, in_order
    from ...model.loading import load_workspace
    from .function_draft import draft_functions
    from .scaffold import write_new
    from .spec_drafts import draft_mcp_spec, draft_tool

    if functions and (kind != "tool" or (name is not None and len(functions) > 1)):
        fail("`--from-function` makes tools, and a NAME is for one")
    if not functions and name is None:
        fail(
            "say a NAME, or `--from-function module:function`"
            if kind == "tool"
            else f"say the NAME of the {kind}"
        )
    root = project_root(project)
    loaded = load_workspace(root)
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(in_order(loaded.findings), "text")
        click.echo("nothing was written", err=True)
        sys.exit(USAGE if loaded.workspace is None else FINDINGS)
    if kind in ("handler", "toolset") and name is not None:
        if section is not None:
            fail(f"a {kind} has no section")
        _edit(loaded.workspace, kind, name, toolset)
        return
    try:
        if functions or name is None:
            draft = draft_functions(loaded.workspace, functions, name, toolset, section)
        elif kind == "tool":
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
    if draft.notes:
        click.echo("\nNot known from the text:")
    for note in draft.notes:
        click.echo(printable(f"  {note}"))
    click.echo("\nNext:")
    steps = [*draft.steps[:-1], *_decisions(root, draft.files)]
    for number, step in enumerate([*steps, draft.steps[-1]], 1):
        click.echo(f"  {number}. {step}")


def _edit(workspace: Workspace, kind: str, name: str, toolset: str | None) -> None:
    """Adds a stub or a toolset, which changes a spec that is there."""
    from ...edits.project_edit import Refusal, tool_of
    from ...edits.spec_text import CannotEdit
    from ...edits.writing import write
    from .spec_drafts import draft_toolset
    from .stub_draft import draft_stub

    try:
        if kind == "handler":
            edit = draft_stub(workspace, tool_of(workspace, name, toolset))
        elif toolset is not None:
            fail("a toolset is in no toolset: NAME is what it is called")
        else:
            edit = draft_toolset(workspace, name)
        write(workspace.root, edit)
    except Refusal as error:
        fail(f"{error}")
    except CannotEdit as error:
        fail(f"{error}\n  help: make this change by hand; nothing was written")
    for path, data in edit.before.items():
        click.echo(printable(f"{'wrote' if data is None else 'changed'} {path}"))
    click.echo("\nNext:")
    for number, step in enumerate(edit.steps, 1):
        click.echo(printable(f"  {number}. {step}"))


def _decisions(root: str, specs: Collection[str]) -> Iterator[str]:
    """What `check` finds wrong in new specs, rules of extensions included."""
    from ...model.loading import load_workspace
    from ...rules.running import check_workspace

    workspace, findings = load_workspace(root)
    if workspace is not None:
        findings = [*findings, *check_workspace(workspace)]
    for finding in findings:
        if finding.place.file in specs and finding.severity is Severity.ERROR:
            help_ = f": {finding.help}" if finding.help else ""
            spec = finding.place.file
            yield printable(f"decide in {spec}: {finding.message}{help_}")
