"""The command `toolcast new`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import click

from ...findings import Severity
from ...reports.escaping import printable
from ..exit_codes import fail, load_editable_workspace_or_exit, print_steps
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
    write already exists, the command names it and writes nothing. Exit codes: 1 if the
    project's specs have errors, 2 if nothing can be created.
    """
    from ...refactoring.project_edit import EditRefusedError, get_tool
    from ...refactoring.spec_text import UneditableValueError
    from ...refactoring.writing import write_edit
    from .function_draft import draft_functions
    from .scaffold import exit_on_conflicts, find_conflicts
    from .stubs import draft_mcp_spec, draft_stub, draft_tool, draft_toolset

    if functions and kind != "tool":
        fail(f"`--from-function` cannot be combined with `--kind {kind}`")
    if len(functions) > 1 and name is not None:
        fail(
            "NAME cannot be combined with several `--from-function`\n"
            "  help: run the command once per function"
        )
    if not functions and name is None:
        help_ = f"pass the name of the {kind}"
        if kind == "tool":
            help_ = "pass the name of the tool, or `--from-function module:function`"
        fail(f"missing NAME\n  help: {help_}")
    workspace = load_editable_workspace_or_exit(project)
    if kind != "tool" and section is not None:
        fail(f"`--section` cannot be combined with `--kind {kind}`")
    if kind == "toolset" and toolset is not None:
        fail(
            "`--toolset` cannot be combined with `--kind toolset`\n"
            "  help: pass the name of the new toolset as NAME"
        )
    try:
        # NAME is missing only with `--from-function`, as checked above.
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
        exit_on_conflicts(find_conflicts(workspace.root, new))
        write_edit(workspace.root, edit)
    except EditRefusedError as error:
        fail(str(error))
    except UneditableValueError as error:
        fail(f"{error}; nothing was written\n  help: make this change by hand")
    for path in edit.before:
        click.echo(printable(f"{'wrote' if path in new else 'changed'} {path}"))
    if edit.notes:
        click.echo("\nNotes on the source code:")
    for note in edit.notes:
        click.echo(printable(f"  {note}"))
    # Print the fixes before the last step, `toolcast generate`, which requires valid specs.
    fixes = _list_fixes(workspace.root, new)
    print_steps([*edit.steps[:-1], *fixes, edit.steps[-1]])


def _list_fixes(root: str, specs: Collection[str]) -> Iterator[str]:
    """Yield a step for each error that `toolcast check` reports in the new specs."""
    from ...model.loading import load_workspace
    from ...rules.runner import check_workspace

    workspace, findings = load_workspace(root)
    if workspace is not None:
        findings = [*findings, *check_workspace(workspace)]
    for finding in findings:
        if finding.location.file in specs and finding.severity is Severity.ERROR:
            help_ = f": {finding.help}" if finding.help else ""
            spec = finding.location.file
            yield printable(f"fix {spec}: {finding.message}{help_}")
