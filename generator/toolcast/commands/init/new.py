"""`toolcast new`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import click

from ...findings import Severity
from ...reports.escaping import printable
from ..exit_codes import fail, print_steps, to_edit_or_end
from ..options import project_option, toolset_option


@click.command(name="new")
@click.argument("name", required=False)
@click.option(
    "--kind",
    type=click.Choice(["tool", "handler", "toolset", "resource", "prompt"]),
    default="tool",
    show_default=True,
    help="What it is; a resource and a prompt are MCP's, a handler is the stub of a tool.",
)
@toolset_option("The toolset; needed where there are several.")
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
    from ...refactoring.project_edit import EditRefusedError, tool_of
    from ...refactoring.spec_text import UneditableValueError
    from ...refactoring.writing import write
    from .function_draft import draft_functions
    from .scaffold import in_the_way, refuse
    from .stubs import draft_mcp_spec, draft_stub, draft_tool, draft_toolset

    if functions and (kind != "tool" or (name is not None and len(functions) > 1)):
        fail("`--from-function` makes tools, and a NAME is for one")
    if not functions and name is None:
        fail(
            "say a NAME, or `--from-function module:function`"
            if kind == "tool"
            else f"say the NAME of the {kind}"
        )
    workspace = to_edit_or_end(project)
    if kind != "tool" and section is not None:
        fail(f"a {kind} has no section")
    if kind == "toolset" and toolset is not None:
        fail("a toolset is in no toolset: NAME is what it is called")
    try:
        if functions or name is None:
            edit = draft_functions(workspace, functions, name, toolset, section)
        elif kind == "tool":
            edit = draft_tool(workspace, name, toolset, section)
        elif kind == "handler":
            edit = draft_stub(workspace, tool_of(workspace, name, toolset))
        elif kind == "toolset":
            edit = draft_toolset(workspace, name)
        else:
            edit = draft_mcp_spec(workspace, kind, name, toolset)
        new = [path for path, data in edit.before.items() if data is None]
        refuse(in_the_way(workspace.root, new))
        write(workspace.root, edit)
    except EditRefusedError as error:
        fail(str(error))
    except UneditableValueError as error:
        fail(f"{error}\n  help: make this change by hand; nothing was written")
    for path in edit.before:
        click.echo(printable(f"{'wrote' if path in new else 'changed'} {path}"))
    if edit.notes:
        click.echo("\nNot known from the text:")
    for note in edit.notes:
        click.echo(printable(f"  {note}"))
    decisions = _decisions(workspace.root, new)
    print_steps([*edit.steps[:-1], *decisions, edit.steps[-1]])


def _decisions(root: str, specs: Collection[str]) -> Iterator[str]:
    """What `check` finds wrong in new specs, rules of extensions included."""
    from ...model.loading import load_workspace
    from ...rules.runner import check_workspace

    workspace, findings = load_workspace(root)
    if workspace is not None:
        findings = [*findings, *check_workspace(workspace)]
    for finding in findings:
        if finding.location.file in specs and finding.severity is Severity.ERROR:
            help_ = f": {finding.help}" if finding.help else ""
            spec = finding.location.file
            yield printable(f"decide in {spec}: {finding.message}{help_}")
