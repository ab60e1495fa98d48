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
    help="What to create: `resource` and `prompt` are MCP's, `handler` is a stub for an existing spec.",
)
@toolset_option("Toolset; required if there are several.")
@click.option(
    "--section", metavar="NAME", help="Section; required if there are several."
)
@click.option(
    "--from-function",
    "functions",
    metavar="MODULE:FUNCTION",
    multiple=True,
    help="Existing function to call; may be repeated.",
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
    """Create a tool spec with a typed handler stub, a resource, a prompt or a toolset.

    --from-function reads the signature and docstring of a function without importing it.
    Missing texts become TODOs. If the function cannot be a handler, an adapter is written.

    Prints the fields that the project requires and that you have to fill in. If a file to
    write already exists, the command names it and writes nothing.
    """
    from ...refactoring.project_edit import EditRefusedError, get_tool
    from ...refactoring.spec_text import UneditableValueError
    from ...refactoring.writing import write_edit
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
            edit = draft_stub(workspace, get_tool(workspace, name, toolset))
        elif kind == "toolset":
            edit = draft_toolset(workspace, name)
        else:
            edit = draft_mcp_spec(workspace, kind, name, toolset)
        new = [path for path, data in edit.before.items() if data is None]
        refuse(in_the_way(workspace.root, new))
        write_edit(workspace.root, edit)
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
