"""`toolcast templates`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ...reports.escaping import printable
from ..exit_codes import counted, fail, workspace_or_end
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
    overwritten.
    """
    from ...targets.project_templates import (
        build_copy,
        list_originals,
        list_project_templates,
    )

    if copies and name is None:
        fail("--copy needs the NAME of a template or target")
    workspace = workspace_or_end(project)
    known = list_originals(workspace)
    if name is None:
        _list(known, list_project_templates(workspace, known))
        return
    chosen = {
        one: build_copy(one, original)
        for one, original in known.items()
        if one == name or name in original.targets
    }
    if not chosen:
        _unknown(name, known)
    if copies:
        _copy(workspace, chosen)
    elif len(chosen) > 1:
        fail(f"the target `{name}` has several: {', '.join(chosen)}")
    else:
        (data,) = chosen.values()
        click.echo(data.decode("utf-8"), nl=False)


def _list(known: Mapping[str, Original], own: list[ProjectTemplate]) -> None:
    remarks = {name: "" if one.is_used else "not used" for name, one in known.items()}
    for one in own:
        if one.original is None:
            remarks[one.name] = "yours, " + ("included" if one.is_used else "not used")
        elif one.is_old:
            remarks[one.name] = "yours, a copy of another version's"
        else:
            remarks[one.name] = "yours" if one.is_used else "yours, not used"
    width = max(map(len, remarks))
    for name, words in sorted(remarks.items()):
        click.echo(printable(f"{name:<{width}}  {words}".rstrip()))
    replaced = sum(one.original is not None for one in own)
    click.echo(f"{counted(len(known), 'template')}, {replaced} of them replaced here")


def _unknown(name: str, known: Mapping[str, Original]) -> None:
    from ...suggestions import did_you_mean

    names = [*known, *(target for one in known.values() for target in one.targets)]
    near = did_you_mean(name, names) or "`toolcast templates` lists them"
    fail(f"no target has a template `{name}`\n  help: {near}")


def _copy(workspace: Workspace, chosen: Mapping[str, bytes]) -> None:
    from ...refactoring.project_edit import EditRefusedError
    from ...refactoring.spec_text import UneditableValueError
    from ...refactoring.writing import write_edit

    try:
        edit = _edit(workspace, chosen)
        write_edit(workspace.root, edit)
    except EditRefusedError as error:
        fail(f"{error}; nothing was written")
    except UneditableValueError as error:
        help_ = f"add `templates: {_FOLDER}` by hand; nothing was written"
        fail(f"{error}\n  help: {help_}")
    for path, before in edit.before.items():
        click.echo(printable(f"{'wrote' if before is None else 'changed'} {path}"))


def _edit(workspace: Workspace, chosen: Mapping[str, bytes]) -> ProjectEdit:
    """The copies, and `templates` of toolcast.yaml where it is missing."""
    from ...refactoring.project_edit import EditSession, ProjectEdit

    editing = EditSession()
    if workspace.templates is None:
        editing.get_text(workspace.source).set_field(_FOLDER, _FOLDER, "toolsets")
    before, after = editing.collect_files()
    for name, data in chosen.items():
        path = f"{workspace.templates or _FOLDER}/{name}"
        before[path], after[path] = None, data
    return ProjectEdit("copied templates", before, after)
