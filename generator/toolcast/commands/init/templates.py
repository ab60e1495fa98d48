"""The command `toolcast templates`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ...reports.escaping import printable
from ..exit_codes import fail, format_count, load_workspace_or_exit
from ..options import project_option

if TYPE_CHECKING:
    from ...model.model import Workspace
    from ...refactoring.project_edit import ProjectEdit
    from ...targets.project_templates import Original, ProjectTemplate

_FOLDER = "templates"


@click.command(name="templates")
@click.argument("name", required=False)
@project_option
@click.option(
    "--copy",
    "copies",
    is_flag=True,
    help="Copy the template into the project's template folder.",
)
def command(name: str | None, project: str | None, copies: bool) -> None:
    """List the templates of the outputs, print one, or copy it.

    NAME is a template, such as `mcp/mcp_server.py.jinja`, or a target for all its templates.
    A template in the project's `templates` folder replaces the built-in one. Its first line
    records the version it was copied from, so that outdated copies are reported. No file is
    overwritten. Exit codes: 2 if the template does not exist or cannot be copied.
    """
    from ...targets.project_templates import (
        build_copy,
        list_originals,
        list_project_templates,
    )

    if copies and name is None:
        fail("--copy requires NAME, the name of a template or target")
    workspace = load_workspace_or_exit(project)
    originals = list_originals(workspace)
    if name is None:
        _print_list(originals, list_project_templates(workspace, originals))
        return
    copied = {
        template: build_copy(template, original)
        for template, original in originals.items()
        if template == name or name in original.targets
    }
    if not copied:
        _fail_unknown(name, originals)
    if copies:
        _write_copies(workspace, copied)
    elif len(copied) > 1:
        fail(
            f"the target `{name}` has several templates\n"
            f"  help: pass the name of one: {', '.join(copied)}"
        )
    else:
        (data,) = copied.values()
        click.echo(data.decode("utf-8"), nl=False)


def _print_list(
    originals: Mapping[str, Original], project_templates: list[ProjectTemplate]
) -> None:
    remarks = {
        name: "" if original.is_used else "not used"
        for name, original in originals.items()
    }
    for template in project_templates:
        if template.original is None:
            use = "included" if template.is_used else "not used"
            remarks[template.name] = f"yours, {use}"
        elif template.is_old:
            remarks[template.name] = "yours, copied from another version"
        else:
            remarks[template.name] = "yours" if template.is_used else "yours, not used"
    width = max(map(len, remarks))
    for name, remark in sorted(remarks.items()):
        click.echo(printable(f"{name:<{width}}  {remark}".rstrip()))
    replaced = sum(template.original is not None for template in project_templates)
    count = format_count(len(originals), "template")
    click.echo(f"{count}, {replaced} replaced by the project")


def _fail_unknown(name: str, originals: Mapping[str, Original]) -> None:
    from ...suggestions import did_you_mean

    targets = [target for original in originals.values() for target in original.targets]
    suggestion = did_you_mean(name, [*originals, *targets])
    help_ = suggestion or "run `toolcast templates` to list all templates"
    fail(f"no target has a template `{name}`\n  help: {help_}")


def _write_copies(workspace: Workspace, copied: Mapping[str, bytes]) -> None:
    from ...refactoring.project_edit import EditRefusedError
    from ...refactoring.spec_text import UneditableValueError
    from ...refactoring.writing import write_edit

    try:
        edit = _build_edit(workspace, copied)
        write_edit(workspace.root, edit)
    except EditRefusedError as error:
        fail(f"{error}; nothing was written")
    except UneditableValueError as error:
        fail(
            f"{error}; nothing was written\n"
            f"  help: add `templates: {_FOLDER}` to toolcast.yaml by hand"
        )
    for path, before in edit.before.items():
        click.echo(printable(f"{'wrote' if before is None else 'changed'} {path}"))


def _build_edit(workspace: Workspace, copied: Mapping[str, bytes]) -> ProjectEdit:
    """Return the edit that creates copies of templates in the project's template folder.

    If the project has no template folder, the edit adds `templates` to toolcast.yaml.
    """
    from ...refactoring.project_edit import EditSession, ProjectEdit

    editing = EditSession()
    if workspace.templates is None:
        editing.get_text(workspace.source).set_field(_FOLDER, _FOLDER, "toolsets")
    before, after = editing.collect_files()
    for name, data in copied.items():
        path = f"{workspace.templates or _FOLDER}/{name}"
        before[path], after[path] = None, data
    return ProjectEdit("copied templates", before, after)
