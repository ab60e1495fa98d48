"""The command `toolcast schema`."""

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
from .options import list_extensions, project_option

_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Maximum size of an existing schema file."""
_MAX_HEADER_BYTES = 2000
"""Number of bytes at the start of a spec that are searched for its schema reference."""


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
    that specs name; `toolcast check` reports outdated ones. Exit codes: 1 if such a file is
    not a schema of Toolcast, 2 if toolcast.yaml cannot be read.
    """
    has_kind = kind is not None
    if writes == has_kind:
        help_ = f"pass one of {', '.join(SCHEMAS)}, or --write"
        fail(f"expected either KIND or --write\n  help: {help_}")
    if writes:
        sys.exit(_write_schemas(project_root(project)))
    root = project_root(project) if project else find_root(os.getcwd())
    click.echo(render_schema(str(kind), list_extensions(root)), nl=False)


def _write_schemas(root: str) -> int:
    """Write the schema files that specs name, and return the exit code.

    A file that is not a schema of Toolcast is not changed; the exit code is then `FINDINGS`.
    Ends the program with exit code 2 if a file cannot be written.
    """
    from ..model.loading import read_workspace
    from ..model.spec_schema import collect_declared_schemas, is_toolcast_schema

    loaded = read_workspace(root)
    if loaded.workspace is None:
        print_findings(loaded.findings, "text")
        return USAGE
    code = CLEAN
    schemas = collect_declared_schemas(
        _list_specs(root, loaded.workspace.toolset_folders)
    )
    with Folder.open_path(root) as project:
        for path, kind in sorted(schemas.items()):
            text = render_schema(kind, loaded.workspace.extensions)
            try:
                existing = _read_text(project, path)
                if existing == text:
                    click.echo(printable(f"unchanged {path}"))
                elif existing is not None and not is_toolcast_schema(existing, kind):
                    message = "the file is not a schema of Toolcast and was not changed"
                    click.echo(f"error: {printable(path)}: {message}", err=True)
                    code = FINDINGS
                else:
                    parent, _, name = path.rpartition("/")
                    with project.open_subfolder(parent, create=True) as folder:
                        folder.write(name, text.encode("utf-8"))
                    click.echo(printable(f"wrote {path}"))
            except OSError as error:
                fail(f"{path}: {error.strerror or error}")
    if not schemas:
        click.echo("no spec names a schema file in the project")
    return code


def _list_specs(root: str, folders: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, path and first lines of each spec file, also of invalid files."""
    for kind, file in (
        ("workspace", WORKSPACE_FILE),
        ("accept", ACCEPT_FILE),
        ("definitions", DEFINITIONS_FILE),
    ):
        yield kind, file, _read_header(root, file)
    for folder in folders:
        for parent, subfolders, names in os.walk(os.path.join(root, folder)):
            subfolders[:] = sorted(
                subfolder for subfolder in subfolders if not subfolder.startswith(".")
            )
            parent_path = os.path.relpath(parent, root).replace(os.sep, "/")
            folder_kind = KINDS_BY_FOLDER.get(posixpath.basename(parent_path))
            for name in sorted(names):
                if name.endswith((".yaml", ".yml")):
                    path = f"{parent_path}/{name}"
                    kind = folder_kind or get_file_kind(name)
                    yield kind, path, _read_header(root, path)


def _read_header(root: str, path: str) -> str:
    try:
        data = read_regular_file(os.path.join(root, path), _MAX_HEADER_BYTES)
    except OSError:
        return ""  # `toolcast check` reports an unreadable spec.
    return data.decode("utf-8", "replace")


def _read_text(project: Folder, path: str) -> str | None:
    """Return the text of a file; None if it does not exist, "" if it is not UTF-8."""
    parent, _, name = path.rpartition("/")
    try:
        with project.open_subfolder(parent) as folder:
            return folder.read(name, _MAX_FILE_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
