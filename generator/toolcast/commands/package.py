"""The command `toolcast package`."""

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
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import click

from toolcast_runtime.core.safe_folder import Folder

from ..findings import has_errors, sort_findings
from ..git.index import GitIndex, read_index
from ..model.model import Toolset, Workspace
from ..model.python_project import PythonProject
from ..model.spec_schema import is_windows_device
from ..output.disk_differences import TOOL_FILES, compare_with_disk
from ..output.output_folder import diagnose
from ..pipeline import generate
from ..reports.escaping import printable
from .exit_codes import (
    USAGE,
    fail,
    format_count,
    print_findings,
    project_root,
    write_output_or_exit,
)
from .options import complete_toolsets, project_option

_MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
"""Maximum size of all files of an archive together."""
_MANIFEST = "package/manifest.json"
_MARK = b'"generated": "by Toolcast from '
"""Bytes of the manifest, near the start of an archive, that identify a file as an archive.

An existing file without these bytes is not overwritten.
"""
_DOCUMENT_NAME = re.compile(
    r"(?:README|LICEN[CS]E|COPYING|NOTICE)(?:[.-][\w.-]+)?", re.I
)
_SECRET_NAME = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:env|pem|key|p8|p12|pfx|ppk|jks|gpg|asc|ovpn"
    r"|keystore|keytab|kdbx|tfstate)(?:\.\w+)?|(?:env|netrc|pgpass|htpasswd|kubeconfig)\b.*",
    re.IGNORECASE,
)
_SECRET_WORDS = frozenset("""
    secret credential cred token password passwd passphrase passcode pwd key apikey accesskey
    secretkey privatekey accesstoken authtoken serviceaccount
    """.split())
_WORDS_OF_SECRET_MODULES = _SECRET_WORDS | {"api", "client", "access", "private", "my"}
"""Words that the name of a Python module with secrets consists of, such as `my_api_key.py`."""
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Characters that names of files cannot contain on Windows, and surrogates, which UTF-8 cannot
# encode. Windows also allows no dot or space at the end.
_UNPORTABLE_NAME = re.compile(r'[\x00-\x1f"*:<>?\\|\ud800-\udfff]|[. ]$')


@click.command(name="package")
@click.argument("toolset", required=False, shell_complete=complete_toolsets)
@project_option
@click.option(
    "--output", metavar="FILE", help="Output file. Default: dist/NAME-VERSION.mcpb."
)
@click.option(
    "--list", "lists", is_flag=True, help="Print the archive's files; write nothing."
)
@click.option(
    "--include-untracked",
    is_flag=True,
    help="Also package files that are not in git's index, and print them.",
)
@click.option(
    "--allow-modified",
    is_flag=True,
    help="Package files that differ from git's index.",
)
@click.option(
    "--allow-name",
    "allowed_names",
    metavar="PATH",
    multiple=True,
    help="File or folder that is not a secret despite its name; may be repeated.",
)
def command(
    toolset: str | None,
    project: str | None,
    output: str | None,
    lists: bool,
    include_untracked: bool,
    allow_modified: bool,
    allowed_names: tuple[str, ...],
) -> None:
    """Build an installable archive of a toolset (.mcpb).

    Contains the generated files, README, license, manifest, and the files of the handlers
    package in git's index. The client that opens it installs the dependencies. The same files
    produce the same bytes. Fails if specs have errors, outputs are stale, a file differs from
    the index, is a link, or has the name of a secret. Hidden files are skipped. Exit codes: 1
    for errors and stale outputs, 2 if the archive cannot be written.
    """
    root = project_root(project)
    try:
        workspace, files = _generate_or_exit(root)
        selected = _select_toolset(workspace, toolset, files)
        index = read_index(root, "")
        if index is None and not include_untracked:
            fail(
                "git's index cannot be read, so the files of the archive are unknown\n"
                "  help: add the files to a git repository, or pass `--include-untracked`"
            )
        selection = _Selection(
            index,
            workspace.output,
            frozenset(map(posixpath.normpath, allowed_names)),
            includes_untracked=include_untracked,
            allows_modified=allow_modified,
        )
        contents = _collect_files(workspace, selected, files, selection)
        if lists:
            for path, data in sorted(contents.items()):
                click.echo(printable(f"{len(data):>10,}  {path}"))
            return
        if output is None:
            manifest = json.loads(contents["manifest.json"])
            name = "{name}-{version}.mcpb".format_map(manifest)
            with (
                Folder.open_path(root) as project_folder,
                project_folder.open_subfolder("dist", create=True) as folder,
            ):
                output = os.path.relpath(os.path.join(folder.path, name))
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}")
    data = _build_archive(contents)
    write_output_or_exit(
        workspace, output, data, _MARK, "package archive", "tools.mcpb"
    )
    size = f"{len(data) / 1024:,.0f} KiB"
    click.echo(f"{format_count(len(contents), 'file')} -> {output} ({size})")
    click.echo(f"sha256 {hashlib.sha256(data).hexdigest()}")


def _generate_or_exit(root: str) -> tuple[Workspace, Mapping[str, bytes]]:
    """Return the project and its outputs by path, without writing them.

    Ends the program with exit code 1 if specs have errors or outputs on disk are not up to
    date, and with 2 if toolcast.yaml cannot be read.
    """
    workspace, files, findings, _ = generate(root)
    if workspace is not None and not has_errors(findings):
        difference = compare_with_disk(root, workspace.output, files)
        findings += diagnose(root, workspace.output, files, difference)
    code = print_findings(sort_findings(findings), "text", with_notes=False)
    if workspace is None or code:
        click.echo("nothing was written", err=True)
        sys.exit(USAGE if workspace is None else code)
    return workspace, files


def _select_toolset(
    workspace: Workspace, name: str | None, files: Mapping[str, bytes]
) -> Toolset:
    """Return the named toolset, or the only one with the target `package`.

    Ends the program with exit code 2 if the toolset does not have this target, or none is
    named and several have it.
    """
    candidates = [
        toolset
        for toolset in workspace.toolsets
        if f"{toolset.name}/{_MANIFEST}" in files
    ]
    selected = [toolset for toolset in candidates if name in (None, toolset.name)]
    if len(selected) == 1:
        return selected[0]
    help_ = "add `package: {}` to `targets` of a toolset.yaml"
    if candidates:
        names = ", ".join(toolset.name for toolset in candidates)
        help_ = f"use one of {names}"
    return fail(f"expected one TOOLSET with the target `package`\n  help: {help_}")


@dataclass(frozen=True)
class _Selection:
    """The rules that decide which files of the source folders are packaged.

    Attributes:
        index: the index entries of the project; None outside of a git repository.
        output: the output folder of `toolcast generate`.
        allowed_names: paths that are packaged although their names look like secrets.
        includes_untracked: whether files that are not in the index are packaged.
        allows_modified: whether files that differ from the index are packaged.
        modified: paths of files that differ from the index; filled by `_walk_files`.
    """

    index: GitIndex | None
    output: str
    allowed_names: frozenset[str]
    includes_untracked: bool
    allows_modified: bool
    modified: list[str] = field(default_factory=list)

    @cached_property
    def tracked_paths(self) -> frozenset[str]:
        """The paths of the files in git's index, and of the folders that contain them."""
        paths: set[str] = set()
        if self.index is not None:
            for path in (*self.index.objects, *self.index.unmerged):
                while path and path not in paths:
                    paths.add(path)
                    path = posixpath.dirname(path)
        return frozenset(paths)

    def has_secret_name(self, path: str, *, is_folder: bool) -> bool:
        """Return whether a file or folder has the name of a secret.

        A word such as `password`, `key` or `token` in the name is sufficient:
        `db_password.txt`, `apiKeys.json`, `tokens/`. A Python module is usually code, so its
        name must consist only of such words, as in `secrets.py` and `my_api_key.py`. Paths in
        `allowed_names` never have the name of a secret.
        """
        if path in self.allowed_names:
            return False
        name = posixpath.basename(path)
        stem, _, suffix = name.rpartition(".")
        is_module = not is_folder and suffix in ("py", "pyi")
        parts = [
            part.lower() for part in _NAME_WORD.findall(stem if is_module else name)
        ]
        words = {part.removesuffix("s") for part in parts}
        if is_module:
            has_secret_word = not _SECRET_WORDS.isdisjoint(words)
            return has_secret_word and _WORDS_OF_SECRET_MODULES.issuperset(words)
        # Also terms whose parts are separated: `passWord.txt`, `service-account.json`.
        words.update("".join(pair).removesuffix("s") for pair in pairwise(parts))
        return bool(_SECRET_NAME.fullmatch(name)) or not _SECRET_WORDS.isdisjoint(words)


def _collect_files(
    workspace: Workspace,
    toolset: Toolset,
    files: Mapping[str, bytes],
    selection: _Selection,
) -> dict[str, bytes]:
    """Return the content of each file in the archive by path.

    Ends the program with exit code 2 if two paths differ only in case, the files are too
    large, a file differs from git's index, or `_walk_files` refuses a file.

    Args:
        files: the outputs of the project by path below the output folder.
    """
    prefix, package = f"{toolset.name}/", workspace.package.replace(".", "/")
    contents = {
        "manifest.json": files[prefix + _MANIFEST],
        "pyproject.toml": _build_pyproject(workspace.project or PythonProject(None)),
    }
    for path, data in files.items():
        is_excluded = path.startswith((f"{prefix}package/", f"{prefix}test_"))
        if path == "__init__.py" or (path.startswith(prefix) and not is_excluded):
            contents[posixpath.join(package, path)] = data
    sources = [(".", _DOCUMENT_NAME)]
    if toolset.handlers:
        top_package = toolset.handlers.partition(".")[0]
        pattern = re.compile(top_package + r"(?:\.py)?")
        sources += [
            (posixpath.normpath(source), pattern) for source in workspace.sources
        ]
    remaining_bytes = _MAX_ARCHIVE_BYTES
    # On Windows and macOS, names that differ only in case are the same file.
    names = {path.casefold(): path for path in contents}
    with Folder.open_path(workspace.root) as root:
        for source, pattern in sources:
            for path, data in _walk_files(root, source, pattern, selection):
                if (other := names.setdefault(path.casefold(), path)) != path:
                    fail(
                        f"{other} and {path} differ only in case\n"
                        "  help: rename one of them"
                    )
                contents.setdefault(path, data)
                remaining_bytes -= len(data)
                if remaining_bytes < 0:
                    limit = _MAX_ARCHIVE_BYTES >> 20
                    fail(
                        f"the archive would contain more than {limit} MiB\n"
                        "  help: move large files out of the handlers package"
                    )
    if selection.modified and not selection.allows_modified:
        paths = ", ".join(selection.modified)
        fail(
            f"{paths}: not equal to git's index\n"
            "  help: run `git add` for reviewed changes, or pass `--allow-modified`"
        )
    return contents


def _build_pyproject(project: PythonProject) -> bytes:
    """Return the archive's pyproject.toml: name, version, Python and dependencies.

    The project's own file is not used, because it could declare a build of files that are not
    in the archive.
    """
    fields: dict[str, object] = {"dependencies": project.get_texts("dependencies")}
    for key in ("name", "version", "requires-python"):
        fields[key] = project.get_text(key)
    # A string or an array of strings in JSON is also valid TOML.
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in fields.items()
        if value
    ]
    return "\n".join(["[project]", *lines, "\n[tool.uv]", "package = false\n"]).encode()


def _walk_files(
    root: Folder, source: str, pattern: re.Pattern[str], selection: _Selection
) -> Iterator[tuple[str, bytes]]:
    """Yield the path below a source folder and the content of each file to package.

    Prints each skipped hidden or untracked file. The output folder and caches are skipped
    silently. Ends the program with exit code 2 for a name that is not portable or is the name
    of a secret.

    Args:
        root: the opened project folder.
        source: the path of the source folder.
        pattern: the names of the source folder's direct entries that are packaged.
        selection: the rules; paths of modified files are added to its `modified`.

    Raises:
        OSError: a file cannot be read, or is a symbolic link or no regular file.
    """
    queue = [source]
    for parent in queue:
        with root.open_subfolder(parent) as folder:
            for entry in folder.list_entries():
                name, path = entry.name, posixpath.normpath(f"{parent}/{entry.name}")
                is_unrelated = parent == source and not pattern.fullmatch(name)
                if (
                    is_unrelated
                    or path == selection.output
                    or TOOL_FILES.fullmatch(name)
                ):
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                is_regular = is_folder or entry.is_file(follow_symlinks=False)
                is_tracked = path in selection.tracked_paths
                is_selected = is_tracked or selection.includes_untracked
                if name.startswith("."):
                    click.echo(printable(f"skipped the hidden file {path}"), err=True)
                elif is_windows_device(name) or _UNPORTABLE_NAME.search(name):
                    fail(
                        f"{path!a} is not a valid file name on every system\n"
                        "  help: rename it"
                    )
                # Symbolic links and pipes are not skipped, even if they are untracked: reading
                # them below fails.
                elif is_regular and not is_selected:
                    slash = "/" if is_folder else ""
                    click.echo(
                        printable(f"skipped {path}{slash}: it is not in git's index"),
                        err=True,
                    )
                elif selection.has_secret_name(path, is_folder=is_folder):
                    fail(
                        f"{path} has the name of a secret\n  help: move it out of the"
                        f" handlers package, rename it, or pass `--allow-name {path}`"
                    )
                # A symbolic link to a folder is not a folder here, and reading it fails.
                elif is_folder:
                    queue.append(path)
                else:
                    data = folder.read(name, _MAX_ARCHIVE_BYTES + 1)
                    if not is_tracked:
                        click.echo(printable(f"added the untracked {path}"), err=True)
                    elif selection.index and not selection.index.has(path, data):
                        selection.modified.append(path)
                    yield posixpath.relpath(path, source), data


def _build_archive(files: Mapping[str, bytes]) -> bytes:
    """Return an uncompressed zip archive, whose bytes depend only on the files.

    The archive contains no time, user or operating system. The manifest is the first entry, so
    that `_MARK` is near the start of the archive.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files, key=lambda path: (path != "manifest.json", path)):
            # Use the same date for all entries: the earliest one that the zip format allows.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            # 3 is Unix. By default the value depends on the operating system.
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[path])
    return buffer.getvalue()
