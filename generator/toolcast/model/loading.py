"""Finds, reads, checks and binds the files of a workspace."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from typing import NamedTuple

from ..extensions import install_command, list_missing, load_fields
from ..findings import Finding, Location, Severity, has_errors
from ..parsing.project_files import DiskFiles, ProjectFiles
from ..parsing.tree import Document, Path, Source
from ..project import WORKSPACE_FILE
from ..suggestions import format_quoted_list
from .binding import (
    add_shared_definitions,
    bind,
    bind_toolset,
    check_copied_definitions,
    read_document,
    read_spec_bytes,
    read_tool,
)
from .mcp_servers import check_unused_locks, load_locks
from .model import Toolset, ToolSpec, Workspace
from .python_project import read_python_project
from .resources_and_prompts import read_mcp_prompts, read_mcp_resources
from .spec_files import (
    DEFINITIONS_FILE,
    TOOLSET_FILE,
    check_unlisted_toolsets,
    find_misnamed_toolset_file,
    find_nested_specs,
    list_specs,
)
from .toolset_parts import Definitions

_MISNAMED = (DEFINITIONS_FILE, "definitions.yml")


KnownTools = MutableMapping[
    tuple[str, bytes, tuple[str, ...]], tuple[ToolSpec | None, list[Finding]]
]
"""Tools that were loaded before, by their file, its bytes, and the listed extensions."""


class LoadedWorkspace(NamedTuple):
    """A workspace, or None when it could not be read, and the findings of reading it."""

    workspace: Workspace | None
    findings: list[Finding]


def load_workspace(
    root: str,
    step: Callable[[], object] = bool,
    *,
    files: ProjectFiles | None = None,
    known: KnownTools | None = None,
) -> LoadedWorkspace:
    """Loads the workspace at `root` with its toolsets and tools.

    All problems of reading are found before it gives up; with an error among them the
    toolsets are those that could be bound.

    Args:
        root: the folder of toolcast.yaml.
        step: is called after each tool.
        files: what it is read from; default: what is on disk at `root`.
        known: what other loads have read; a file that has the same bytes again is not
            read a second time, and gives the same tool.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    files = DiskFiles(root) if files is None else files
    workspace, findings = read_workspace(root, files)
    if workspace is None:
        return LoadedWorkspace(None, findings)
    if files.is_there(DEFINITIONS_FILE):
        definitions, more = _definitions(files, DEFINITIONS_FILE)
        workspace = replace(workspace, definitions=definitions)
        findings += more
    loader = _Loader(workspace, files, {} if known is None else known, step)
    toolsets = []
    for index, folder in enumerate(workspace.toolset_folders):
        toolset, more = loader.toolset(folder, index)
        findings += more
        if toolset is not None:
            toolsets.append(toolset)
    findings += check_unlisted_toolsets(workspace, files)
    findings += _same_names(toolsets)
    findings += _handlers_in_output(workspace, toolsets)
    return LoadedWorkspace(replace(workspace, toolsets=tuple(toolsets)), findings)


def read_workspace(root: str, files: ProjectFiles | None = None) -> LoadedWorkspace:
    """Loads toolcast.yaml alone, without its toolsets."""
    files = DiskFiles(root) if files is None else files
    document, findings = read_document(files, WORKSPACE_FILE, "workspace")
    if document is None or has_errors(findings):
        return LoadedWorkspace(None, findings)
    value = document.value
    workspace = bind(
        Workspace,
        value,
        root=root,
        toolset_folders=tuple(folder.strip("/") for folder in value["toolsets"]),
        toolsets=(),
        project=read_python_project(files),
        scan=tuple(folder.strip("/") for folder in value.get("scan", ())),
        source=document.source,
    )
    findings += _wrong_folders(workspace, files)
    findings += _missing_extensions(document, workspace)
    return LoadedWorkspace(None if has_errors(findings) else workspace, findings)


def _missing_extensions(document: Document, workspace: Workspace) -> Iterator[Finding]:
    for name in list_missing(workspace.extensions):
        yield document.source.error(
            "spec/missing-extension",
            ("extensions", workspace.extensions.index(name)),
            f"the extension `{name}` is not installed",
            f"{install_command(name)}, or take it from `extensions`",
        )


def _wrong_folders(workspace: Workspace, files: ProjectFiles) -> Iterator[Finding]:
    """Findings about folders that lead out of the project, or are in the output folder."""
    given = {
        "toolsets": workspace.toolset_folders,
        "sources": workspace.sources,
        "scan": workspace.scan,
    }
    entries: list[tuple[Path, str]] = [
        ((key, index), folder)
        for key, folders in given.items()
        for index, folder in enumerate(folders)
    ]
    if workspace.templates is not None:
        entries.append((("templates",), workspace.templates))
    for path, folder in entries:
        if files.leads_out(folder):
            yield workspace.source.error(
                "spec/outside-project",
                path,
                f"`{folder}` is outside of the project",
                "name a folder below the one of toolcast.yaml",
            )
        if path[0] in ("toolsets", "templates") and _is_in_output(workspace, folder):
            yield _over_input(workspace, workspace.source, path, folder)


def _is_in_output(workspace: Workspace, folder: str) -> bool:
    """Whether a folder is in the output folder, also where case does not count."""
    owned = f"{workspace.output}/".casefold()
    return f"{posixpath.normpath(folder)}/".casefold().startswith(owned)


def _over_input(workspace: Workspace, source: Source, path: Path, what: str) -> Finding:
    message = f"`{what}` is in the output folder `{workspace.output}`"
    help_ = "give the generator a folder of its own"
    return source.error("spec/output-overlaps-input", path, message, help_)


class _Loader(NamedTuple):
    """What loading the toolsets of a workspace needs."""

    workspace: Workspace
    files: ProjectFiles
    known: KnownTools
    step: Callable[[], object]

    def toolset(self, folder: str, index: int) -> tuple[Toolset | None, list[Finding]]:
        """The toolset of a folder, which is listed at an index of `toolsets`."""
        if not self.files.is_there(f"{folder}/{TOOLSET_FILE}"):
            return None, [self._unknown(folder, index)]
        extensions = self.workspace.extensions
        document, findings = read_document(
            self.files, f"{folder}/{TOOLSET_FILE}", "toolset", extensions
        )
        tools: list[ToolSpec] = []
        try:
            names, sub_folders = list_specs(self.files, folder)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"the folder cannot be read: {reason}"
            finding = Finding(
                "spec/unreadable", Severity.ERROR, Location(folder), message
            )
            return None, [*findings, finding]
        below, problems = find_nested_specs(
            self.workspace, self.files, folder, sub_folders
        )
        findings += problems
        definitions = self.workspace.definitions
        if DEFINITIONS_FILE in names:
            file, above = f"{folder}/{DEFINITIONS_FILE}", definitions
            definitions, more = _definitions(self.files, file, above)
            findings += more
        for name in (*names, *below):
            if name in (TOOLSET_FILE, DEFINITIONS_FILE):
                continue
            if name.casefold() in _MISNAMED:
                message = f"shared definitions are read from {DEFINITIONS_FILE}"
                place = Location(f"{folder}/{name}")
                help_ = f"rename it to {DEFINITIONS_FILE}"
                how = Severity.ERROR
                findings.append(
                    Finding("spec/file-name-mismatch", how, place, message, help_)
                )
                continue
            tool, more = self._tool(f"{folder}/{name}")
            findings += more
            if tool is not None:
                tools.append(tool)
            self.step()
        findings += _duplicates(tools)
        if definitions is not None:
            tools = [add_shared_definitions(tool, definitions) for tool in tools]
            findings += check_copied_definitions(tools, definitions)

        resources, more = read_mcp_resources(self.files, folder)
        prompts, problems = read_mcp_prompts(self.files, folder)
        findings += [*more, *problems]
        if document is None or has_errors(findings):
            return None, findings
        fields = load_fields(extensions).toolset
        targets = self.workspace.targets
        toolset = bind_toolset(document, tuple(tools), targets, fields)
        findings += check_unused_locks(self.files, folder, toolset.mcp_servers)
        return (
            replace(
                toolset,
                definitions=definitions,
                mcp_resources=tuple(resources),
                mcp_prompts=tuple(prompts),
                mcp_servers=load_locks(self.files, folder, toolset.mcp_servers),
            ),
            findings,
        )

    def _unknown(self, folder: str, index: int) -> Finding:
        wrong = find_misnamed_toolset_file(self.files, folder)
        return self.workspace.source.error(
            "spec/unknown-toolset",
            ("toolsets", index),
            f"`{folder}` has no {TOOLSET_FILE}",
            (
                f"rename {folder}/{wrong} to {TOOLSET_FILE}"
                if wrong
                else f"a toolset is a folder of tool specs with a {TOOLSET_FILE}"
            ),
        )

    def _tool(self, file: str) -> tuple[ToolSpec | None, list[Finding]]:
        data, problem = read_spec_bytes(self.files, file)
        if data is None:
            return None, problem
        key = (file, data, self.workspace.extensions)
        if key not in self.known:
            self.known[key] = read_tool(*key)
        return self.known[key]


def _definitions(
    files: ProjectFiles, file: str, above: Definitions | None = None
) -> tuple[Definitions | None, list[Finding]]:
    """The definitions of a file, and those above that it adds to."""
    document, findings = read_document(files, file, "definitions")
    if document is not None and _is_tool(document):
        message = f"a tool cannot be called `{DEFINITIONS_FILE.partition('.')[0]}`"
        help_ = "give it another name: the file holds shared definitions"
        return None, [
            document.source.error("spec/file-name-mismatch", ("name",), message, help_)
        ]
    if document is None or has_errors(findings):
        return None, findings
    if above is None:
        return Definitions(document.value, document.source), findings
    source = replace(document.source, above=above.source)
    return Definitions({**above.schemas, **document.value}, source), findings


def _is_tool(document: Document) -> bool:
    """Whether what is read as definitions is a tool's spec."""
    value = document.value
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _duplicates(tools: list[ToolSpec]) -> Iterator[Finding]:
    first: dict[str, ToolSpec] = {}
    for tool in tools:
        other = first.setdefault(tool.name, tool)
        if other is not tool:
            yield tool.source.error(
                "spec/duplicate-tool",
                ("name",),
                f"the tool `{tool.name}` is defined twice, first in"
                f" {other.source.file}",
                "rename one of the two",
            )


def _handlers_in_output(
    workspace: Workspace, toolsets: list[Toolset]
) -> Iterator[Finding]:
    """Findings about packages of handlers inside of the output folder."""
    for toolset in toolsets:
        package = (toolset.handlers or "").replace(".", "/")
        for source in workspace.sources if package else ():
            if _is_in_output(workspace, f"{source}/{package}"):
                named = toolset.handlers or ""
                yield _over_input(workspace, toolset.source, ("handlers",), named)


def _same_names(toolsets: list[Toolset]) -> Iterator[Finding]:
    first: dict[str, Toolset] = {}
    for toolset in toolsets:
        other = first.setdefault(toolset.name, toolset)
        if other is not toolset:
            yield toolset.source.error(
                "spec/duplicate-toolset",
                ("name",),
                f"{format_quoted_list([other.folder, toolset.folder])} have the same name"
                f" `{toolset.name}`",
                "rename one of the two",
            )
