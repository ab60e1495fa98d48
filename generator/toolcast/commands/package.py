"""`toolcast package`."""

from __future__ import annotations

import hashlib
import io
import json
import os
import posixpath
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping

import click

from toolcast_runtime.core.safe_folder import Folder

from ..findings import has_errors, sort_findings
from ..model.model import Toolset, Workspace
from ..model.python_project import PythonProject
from ..model.spec_schema import is_windows_device
from ..output.disk_differences import TOOL_FILES, compare_with_disk
from ..output.output_folder import diagnose
from ..pipeline import generate
from ..reports.escaping import printable
from .exit_codes import USAGE, counted, fail, print_findings, project_root, write_or_end
from .options import complete_toolsets, project_option

_MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
"""Size of all files of an archive together."""
_MANIFEST = "package/manifest.json"
_MARK = b'"generated": "by Toolcast from '
_TEXTS = re.compile(r"(?:README|LICEN[CS]E|COPYING|NOTICE)(?:[.-][\w.-]+)?", re.I)
_SECRET = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519).*|(?:credential|secret|token)s?(?:\.(?!pyi?$).*)?"
    r"|client_secret.*\.json|.*\.(?:env|pem|key|p12|pfx|jks|keystore|kdbx)",
    re.IGNORECASE,
)
_NOT_EVERYWHERE = re.compile(r'[\x00-\x1f"*:<>?\\|\ud800-\udfff]|[. ]$')


@click.command(name="package")
@click.argument("toolset", required=False, shell_complete=complete_toolsets)
@project_option
@click.option(
    "--output", metavar="FILE", help="Output file. Default: dist/NAME-VERSION.mcpb."
)
def command(toolset: str | None, project: str | None, output: str | None) -> None:
    """Build an installable archive of a toolset (.mcpb).

    Contains the generated files, the handlers package, README, license and manifest. The
    client that opens it installs the dependencies. The same files produce the same bytes.
    Fails if specs have errors, outputs are stale, or a file is a link or has a name of a
    secret. Hidden files are skipped.
    """
    root = project_root(project)
    try:
        workspace, files = _generated(root)
        held = _held(workspace, _chosen(workspace, toolset, files), files)
        if output is None:
            name = "{name}-{version}.mcpb".format_map(json.loads(held["manifest.json"]))
            with (
                Folder.open_path(root) as own,
                own.open_subfolder("dist", create=True) as folder,
            ):
                output = os.path.relpath(os.path.join(folder.path, name))
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}")
    data = _zipped(held)
    write_or_end(workspace, output, data, _MARK, "archive of tools", "tools.mcpb")
    size = f"{len(data) / 1024:,.0f} KiB"
    click.echo(f"{counted(len(held), 'file')} -> {output} ({size})")
    click.echo(f"sha256 {hashlib.sha256(data).hexdigest()}")


def _generated(root: str) -> tuple[Workspace, Mapping[str, bytes]]:
    """The project and its outputs; ends the program unless `check` finds no error."""
    workspace, files, findings, _ = generate(root)
    if workspace is not None and not has_errors(findings):
        difference = compare_with_disk(root, workspace.output, files)
        findings += diagnose(root, workspace.output, files, difference)
    code = print_findings(sort_findings(findings), "text", with_notes=False)
    if workspace is None or code:
        click.echo("nothing was written", err=True)
        sys.exit(USAGE if workspace is None else code)
    return workspace, files


def _chosen(
    workspace: Workspace, name: str | None, files: Mapping[str, bytes]
) -> Toolset:
    there = [t for t in workspace.toolsets if f"{t.name}/{_MANIFEST}" in files]
    chosen = [toolset for toolset in there if name in (None, toolset.name)]
    if len(chosen) != 1:
        names = ", ".join(toolset.name for toolset in there) or "there is none yet"
        fail(f"name a toolset that has the target `package`\n  help: {names}")
    return chosen[0]


def _held(
    workspace: Workspace, toolset: Toolset, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Everything in the archive by its path; the manifest is first, by which it is known."""
    own, package = f"{toolset.name}/", workspace.package.replace(".", "/")
    held = {
        "manifest.json": files[own + _MANIFEST],
        "pyproject.toml": _requirements(workspace.project or PythonProject(None)),
    }
    for path, data in files.items():
        is_left = path.startswith((f"{own}package/", f"{own}test_"))
        if path == "__init__.py" or (path.startswith(own) and not is_left):
            held[posixpath.join(package, path)] = data
    wanted = [(".", _TEXTS)]
    if toolset.handlers:
        top = re.compile(toolset.handlers.partition(".")[0] + r"(?:\.py)?")
        wanted += [(posixpath.normpath(source), top) for source in workspace.sources]
    room, names = _MAX_ARCHIVE_BYTES, {path.casefold(): path for path in held}
    with Folder.open_path(workspace.root) as root:
        for source, first in wanted:
            for path, data in _below(root, source, first, workspace.output):
                if (other := names.setdefault(path.casefold(), path)) != path:
                    fail(f"{other} and {path} differ in case alone: rename one")
                held.setdefault(path, data)
                room -= len(data)
                if room < 0:
                    fail(
                        f"more than {_MAX_ARCHIVE_BYTES >> 20} MiB would be in the archive"
                    )
    return held


def _requirements(project: PythonProject) -> bytes:
    """What is installed. The project's own file would have more built than is there."""
    texts = {k: project.get_text(k) for k in ("name", "version", "requires-python")}
    said = {"dependencies": project.get_texts("dependencies"), **texts}
    # What JSON escapes in a text TOML escapes in the same way.
    lines = [f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in said.items() if v]
    return "\n".join(["[project]", *lines, "\n[tool.uv]", "package = false\n"]).encode()


def _below(
    root: Folder, source: str, first: re.Pattern[str], output: str
) -> Iterator[tuple[str, bytes]]:
    """The files below a folder whose first step is called so, but for what is generated."""
    waiting = [source]
    for here in waiting:
        with root.open_subfolder(here) as folder:
            for entry in folder.list_entries():
                name, path = entry.name, posixpath.normpath(f"{here}/{entry.name}")
                is_other = here == source and not first.fullmatch(name)
                if is_other or path == output or TOOL_FILES.fullmatch(name):
                    continue
                if name.startswith("."):
                    click.echo(printable(f"left out: {path}"), err=True)
                elif is_windows_device(name) or _NOT_EVERYWHERE.search(name):
                    fail(f"{path!a} cannot be called so on every system: rename it")
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                elif _SECRET.fullmatch(name):
                    help_ = "take it out of the package of handlers, or rename it"
                    fail(f"{path} is called like a secret\n  help: {help_}")
                else:
                    path = posixpath.relpath(path, source)
                    yield path, folder.read(name, _MAX_ARCHIVE_BYTES + 1)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip archive, whose bytes tell of no time, user, system or compressor."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files, key=lambda path: (path != "manifest.json", path)):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[path])
    return buffer.getvalue()
