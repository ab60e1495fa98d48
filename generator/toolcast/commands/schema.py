"""`toolcast schema`."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterator

import click

from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.safe_folder import Folder

from ..diff.review.acceptances import ACCEPT_FILE
from ..model.spec_files import DEFINITIONS_FILE, KINDS_BY_FOLDER, get_file_kind
from ..project import WORKSPACE_FILE, find_root
from ..reports.escaping import printable
from ..spec_language.spec_language import SCHEMAS, render_schema
from .exit_codes import CLEAN, FINDINGS, USAGE, fail, print_findings, project_root
from .options import listed_extensions, project_option

_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Size of a file that is read."""


@click.command(name="schema")
@click.argument("kind", type=click.Choice(SCHEMAS), required=False, metavar="[KIND]")
@project_option
@click.option(
    "--write",
    "writes",
    is_flag=True,
    help="Write the schema files that the project's specs name.",
)
def command(kind: str | None, project: str | None, writes: bool) -> None:
    """Print the JSON Schema of spec files or of JSON reports.

    KIND is `tool`, `toolset`, `definitions`, `workspace` or `accept`; `project` for all of
    them in `$defs`; or `findings` or `diff` for the output of `--format json`. Schemas include
    the fields of the project's extensions.

    A spec names its schema in its first line: `# yaml-language-server:
    $schema=../schemas/toolcast.schema.json#/$defs/tool`. --write creates and updates the files
    that specs name; `toolcast check` reports outdated ones.
    """
    if writes == (kind is not None):
        fail(f"name one of {', '.join(SCHEMAS)}, or say --write")
    if writes:
        sys.exit(_write(project_root(project)))
    root = project_root(project) if project else find_root(os.getcwd())
    click.echo(render_schema(str(kind), listed_extensions(root)), nl=False)


def _write(root: str) -> int:
    from ..model.loading import read_workspace
    from ..model.spec_schema import collect_declared_schemas, is_toolcast_schema

    loaded = read_workspace(root)
    if loaded.workspace is None:
        print_findings(loaded.findings, "text")
        return USAGE
    code = CLEAN
    named = collect_declared_schemas(_files(root, loaded.workspace.toolset_folders))
    with Folder.open_path(root) as project:
        for path, kind in sorted(named.items()):
            text = render_schema(kind, loaded.workspace.extensions)
            try:
                there = _read(project, path)
                if there == text:
                    click.echo(printable(f"unchanged {path}"))
                elif there is not None and not is_toolcast_schema(there, kind):
                    message = "this is no schema of Toolcast, and is left as it is"
                    click.echo(f"error: {printable(path)}: {message}", err=True)
                    code = FINDINGS
                else:
                    above, _, name = path.rpartition("/")
                    with project.open_subfolder(above, create=True) as folder:
                        folder.write(name, text.encode("utf-8"))
                    click.echo(printable(f"wrote {path}"))
            except OSError as error:
                fail(f"{path}: {error.strerror or error}")
    if not named:
        click.echo("no spec names a schema in the project")
    return code


def _files(root: str, folders: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Kind, path and first lines of the project's spec files, valid or not."""
    own = ("workspace", WORKSPACE_FILE), ("accept", ACCEPT_FILE)
    for kind, file in (*own, ("definitions", DEFINITIONS_FILE)):
        yield kind, file, _first_lines(root, file)
    for folder in folders:
        for above, inner, names in os.walk(os.path.join(root, folder)):
            inner[:] = sorted(one for one in inner if not one.startswith("."))
            here = os.path.relpath(above, root).replace(os.sep, "/")
            of_mcp = KINDS_BY_FOLDER.get(posixpath.basename(here))
            for name in sorted(names):
                if name.endswith((".yaml", ".yml")):
                    kind = of_mcp or get_file_kind(name)
                    yield kind, f"{here}/{name}", _first_lines(root, f"{here}/{name}")


def _first_lines(root: str, path: str) -> str:
    try:
        data = read_regular_file(os.path.join(root, path), 2000)
    except OSError:
        return ""  # `toolcast check` says why.
    return data.decode("utf-8", "replace")


def _read(project: Folder, path: str) -> str | None:
    above, _, name = path.rpartition("/")
    try:
        with project.open_subfolder(above) as folder:
            return folder.read(name, _MAX_FILE_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
