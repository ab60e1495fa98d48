"""Load a workspace: find, read and check its files, and convert them to the model."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from typing import NamedTuple

from ..extensions import format_install_command, list_missing, load_fields
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
from .resources_and_prompts import read_mcp_prompts, read_mcp_resources, resolve_clients
from .spec_files import (
    DEFINITIONS_FILE,
    TOOLSET_FILE,
    check_unlisted_toolsets,
    find_misnamed_toolset_file,
    find_nested_specs,
    list_specs,
)
from .toolset_parts import Definitions

# Other spellings of the name of the definitions file, compared without case. Such a file is an
# error, since it would be read as a tool.
_DEFINITIONS_VARIANTS = (DEFINITIONS_FILE, "definitions.yml")

KnownTools = MutableMapping[
    tuple[str, bytes, tuple[str, ...]], tuple[ToolSpec | None, list[Finding]]
]
"""Tools and findings of earlier loads, by file, content of the file, and extensions."""


class LoadedWorkspace(NamedTuple):
    """The result of loading a workspace.

    Attributes:
        workspace: the workspace, or None if `toolcast.yaml` has errors.
        findings: the problems found while loading.
    """

    workspace: Workspace | None
    findings: list[Finding]


def load_workspace(
    root: str,
    step: Callable[[], object] = bool,
    *,
    files: ProjectFiles | None = None,
    known: KnownTools | None = None,
) -> LoadedWorkspace:
    """Load the project in a folder, with its toolsets and tools.

    Invalid files become findings. If `toolcast.yaml` is valid, all files are read, and the
    workspace contains the toolsets without errors.

    Args:
        root: the folder of toolcast.yaml.
        step: called after each tool, to report progress.
        files: the files of the project; by default those on disk in `root`.
        known: a cache of tools from earlier loads, which this function extends. A file with
            unchanged content is not parsed again.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    files = DiskFiles(root) if files is None else files
    workspace, findings = read_workspace(root, files)
    if workspace is None:
        return LoadedWorkspace(None, findings)
    if files.is_there(DEFINITIONS_FILE):
        definitions, problems = _read_definitions(files, DEFINITIONS_FILE)
        workspace = replace(workspace, definitions=definitions)
        findings += problems
    loader = _Loader(workspace, files, {} if known is None else known, step)
    toolsets = []
    for index, folder in enumerate(workspace.toolset_folders):
        toolset, problems = loader.load_toolset(folder, index)
        findings += problems
        if toolset is not None:
            toolsets.append(toolset)
    findings += check_unlisted_toolsets(workspace, files)
    findings += _check_toolset_names(toolsets)
    findings += _check_handler_packages(workspace, toolsets)
    return LoadedWorkspace(replace(workspace, toolsets=tuple(toolsets)), findings)


def read_workspace(root: str, files: ProjectFiles | None = None) -> LoadedWorkspace:
    """Read `toolcast.yaml` without its toolsets.

    The workspace is None if the file has errors or a listed extension is not installed.
    """
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
    findings += _check_folders(workspace, files)
    findings += _check_extensions(document, workspace)
    return LoadedWorkspace(None if has_errors(findings) else workspace, findings)


def _check_extensions(document: Document, workspace: Workspace) -> Iterator[Finding]:
    """Yield a finding for each listed extension that is not installed."""
    for name in list_missing(workspace.extensions):
        yield document.source.error(
            "spec/missing-extension",
            ("extensions", workspace.extensions.index(name)),
            f"the extension `{name}` is not installed",
            f"{format_install_command(name)}, or remove it from `extensions`",
        )


def _check_folders(workspace: Workspace, files: ProjectFiles) -> Iterator[Finding]:
    """Yield findings for folders outside of the project.

    Folders of toolsets and templates must also be outside of the output folder.
    """
    settings = {
        "toolsets": workspace.toolset_folders,
        "sources": workspace.sources,
        "scan": workspace.scan,
    }
    entries: list[tuple[Path, str]] = [
        ((key, index), folder)
        for key, folders in settings.items()
        for index, folder in enumerate(folders)
    ]
    if workspace.templates is not None:
        entries.append((("templates",), workspace.templates))
    for path, folder in entries:
        if files.is_outside(folder):
            yield workspace.source.error(
                "spec/outside-project",
                path,
                f"`{folder}` is outside of the project",
                "use a folder below the one that contains toolcast.yaml",
            )
        if path[0] in ("toolsets", "templates") and _is_in_output(workspace, folder):
            yield _make_overlap_finding(workspace, workspace.source, path, folder)


def _is_in_output(workspace: Workspace, folder: str) -> bool:
    """Return whether a folder is the output folder or below it.

    Case is ignored, since the project may be used on a case-insensitive file system.
    """
    output = f"{workspace.output}/".casefold()
    return f"{posixpath.normpath(folder)}/".casefold().startswith(output)


def _make_overlap_finding(
    workspace: Workspace, source: Source, path: Path, folder: str
) -> Finding:
    message = f"`{folder}` is in the output folder `{workspace.output}`"
    help_ = "set `output` to a folder that contains only generated files"
    return source.error("spec/output-overlaps-input", path, message, help_)


class _Loader(NamedTuple):
    """Loader of the toolsets of a workspace.

    Attributes:
        workspace: the workspace without toolsets.
        files: the files of the project.
        known: the tools of earlier loads.
        step: called after each tool.
    """

    workspace: Workspace
    files: ProjectFiles
    known: KnownTools
    step: Callable[[], object]

    def load_toolset(
        self, folder: str, index: int
    ) -> tuple[Toolset | None, list[Finding]]:
        """Load the toolset in a folder.

        Args:
            folder: the folder.
            index: the index of the folder in `toolsets` of toolcast.yaml.

        Returns:
            The toolset, or None if any of its files has errors, and the findings.
        """
        if not self.files.is_there(f"{folder}/{TOOLSET_FILE}"):
            return None, [self._make_unknown_toolset_finding(folder, index)]
        extensions = self.workspace.extensions
        document, findings = read_document(
            self.files, f"{folder}/{TOOLSET_FILE}", "toolset", extensions
        )
        try:
            file_names, sub_folders = list_specs(self.files, folder)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"the folder cannot be read: {reason}"
            finding = Finding(
                "spec/unreadable",
                Severity.ERROR,
                Location(folder),
                message,
                "make the folder readable",
            )
            return None, [*findings, finding]
        nested_specs, problems = find_nested_specs(
            self.workspace, self.files, folder, sub_folders
        )
        findings += problems
        definitions = self.workspace.definitions
        if DEFINITIONS_FILE in file_names:
            file = f"{folder}/{DEFINITIONS_FILE}"
            definitions, problems = _read_definitions(self.files, file, definitions)
            findings += problems
        tools, problems = self._load_tools(folder, [*file_names, *nested_specs])
        findings += problems
        findings += _check_tool_names(tools)
        if definitions is not None:
            tools = [add_shared_definitions(tool, definitions) for tool in tools]
            findings += check_copied_definitions(tools, definitions)

        resources, problems = read_mcp_resources(self.files, folder)
        findings += problems
        prompts, problems = read_mcp_prompts(self.files, folder)
        findings += problems
        # Return only now, after all files are read, so that one run reports all errors.
        if document is None or has_errors(findings):
            return None, findings
        fields = load_fields(extensions).toolset
        targets = self.workspace.targets
        toolset = bind_toolset(document, tuple(tools), targets, fields)
        clients = toolset.clients
        findings += check_unused_locks(self.files, folder, toolset.mcp_servers)
        return (
            replace(
                toolset,
                definitions=definitions,
                mcp_resources=tuple(resolve_clients(s, clients) for s in resources),
                mcp_prompts=tuple(resolve_clients(s, clients) for s in prompts),
                mcp_servers=load_locks(self.files, folder, toolset.mcp_servers),
            ),
            findings,
        )

    def _load_tools(
        self, folder: str, file_names: list[str]
    ) -> tuple[list[ToolSpec], list[Finding]]:
        """Load the tools of a toolset; `toolset.yaml` and `definitions.yaml` are skipped.

        Args:
            folder: the toolset's folder.
            file_names: the paths of the spec files, relative to the folder.
        """
        tools: list[ToolSpec] = []
        findings: list[Finding] = []
        for name in file_names:
            if name in (TOOLSET_FILE, DEFINITIONS_FILE):
                continue
            if name.casefold() in _DEFINITIONS_VARIANTS:
                finding = Finding(
                    "spec/file-name-mismatch",
                    Severity.ERROR,
                    Location(f"{folder}/{name}"),
                    f"shared definitions must be in {DEFINITIONS_FILE}",
                    f"rename it to {DEFINITIONS_FILE}",
                )
                findings.append(finding)
                continue
            tool, problems = self._load_tool(f"{folder}/{name}")
            findings += problems
            if tool is not None:
                tools.append(tool)
            self.step()
        return tools, findings

    def _make_unknown_toolset_finding(self, folder: str, index: int) -> Finding:
        misnamed_file = find_misnamed_toolset_file(self.files, folder)
        help_ = f"create {folder}/{TOOLSET_FILE}, or remove the folder from `toolsets`"
        if misnamed_file:
            help_ = f"rename {folder}/{misnamed_file} to {TOOLSET_FILE}"
        return self.workspace.source.error(
            "spec/unknown-toolset",
            ("toolsets", index),
            f"`{folder}` has no {TOOLSET_FILE}",
            help_,
        )

    def _load_tool(self, file: str) -> tuple[ToolSpec | None, list[Finding]]:
        """Return the tool of a spec file from the cache, or parse the file."""
        data, findings = read_spec_bytes(self.files, file)
        if data is None:
            return None, findings
        # Extensions add fields to the spec language, so they decide whether a file is valid.
        key = (file, data, self.workspace.extensions)
        if key not in self.known:
            self.known[key] = read_tool(*key)
        return self.known[key]


def _read_definitions(
    files: ProjectFiles, file: str, workspace_definitions: Definitions | None = None
) -> tuple[Definitions | None, list[Finding]]:
    """Read the shared definitions in a file, and add the workspace's definitions.

    Args:
        files: the files of the project.
        file: the path of the file.
        workspace_definitions: the definitions of the workspace; a definition of the file
            replaces the definition with the same name. None to read the workspace's own file.

    Returns:
        The definitions, or None if the file has errors, and the findings.
    """
    document, findings = read_document(files, file, "definitions")
    if document is not None and _is_tool(document):
        message = f"a tool cannot be called `{DEFINITIONS_FILE.partition('.')[0]}`"
        help_ = f"rename the tool: {DEFINITIONS_FILE} is the file of shared definitions"
        return None, [
            document.source.error("spec/file-name-mismatch", ("name",), message, help_)
        ]
    if document is None or has_errors(findings):
        return None, findings
    if workspace_definitions is None:
        return Definitions(document.value, document.source), findings
    source = replace(document.source, parent=workspace_definitions.source)
    schemas = {**workspace_definitions.schemas, **document.value}
    return Definitions(schemas, source), findings


def _is_tool(document: Document) -> bool:
    """Return whether a file of definitions is probably the spec of a tool.

    A definition is a schema, so `name` with a string as its value can only be a tool's name.
    """
    value = document.value
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _check_tool_names(tools: list[ToolSpec]) -> Iterator[Finding]:
    """Yield a finding for each tool with the name of an earlier tool."""
    first_tools: dict[str, ToolSpec] = {}
    for tool in tools:
        other = first_tools.setdefault(tool.name, tool)
        if other is not tool:
            yield tool.source.error(
                "spec/duplicate-tool",
                ("name",),
                f"the tool `{tool.name}` is defined twice, first in"
                f" {other.source.file}",
                "rename one of them",
            )


def _check_handler_packages(
    workspace: Workspace, toolsets: list[Toolset]
) -> Iterator[Finding]:
    """Yield a finding for each `handlers` package that is in the output folder."""
    for toolset in toolsets:
        if not toolset.handlers:
            continue
        package_path = toolset.handlers.replace(".", "/")
        for source in workspace.sources:
            if _is_in_output(workspace, f"{source}/{package_path}"):
                yield _make_overlap_finding(
                    workspace, toolset.source, ("handlers",), toolset.handlers
                )


def _check_toolset_names(toolsets: list[Toolset]) -> Iterator[Finding]:
    """Yield a finding for each toolset with the name of an earlier toolset."""
    first_toolsets: dict[str, Toolset] = {}
    for toolset in toolsets:
        other = first_toolsets.setdefault(toolset.name, toolset)
        if other is not toolset:
            yield toolset.source.error(
                "spec/duplicate-toolset",
                ("name",),
                f"the toolsets in {format_quoted_list([other.folder, toolset.folder])} have"
                f" the same name `{toolset.name}`",
                "rename one of them",
            )
