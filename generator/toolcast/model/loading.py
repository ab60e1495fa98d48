"""Finds, reads, checks and binds the files of a workspace."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from toolcast_runtime.files.regular_file import NoRegularFile, read_regular

from ..extensions import fields_of, install_command, missing
from ..findings import MOST_SHOWN, Finding, Place, Severity, has_errors
from ..project import WORKSPACE_FILE
from ..reading.tree import Document, Path, Source
from ..reading.yaml_reader import MAX_BYTES, read_yaml
from ..wording import quoted_list
from .binding import bind_tool, bind_toolset
from .console_commands import console_commands
from .folders import TOOLSET_FILE, misnamed, not_read, specs_in, unlisted
from .model import Toolset, ToolSpec, Workspace
from .spec_schema import check_schema, reserved_names

__all__ = ["LoadedWorkspace", "load_workspace", "read_workspace"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
DEFAULT_TARGETS = ("mcp", "registry", "langchain", "cli", "prompts", "snapshots")


class LoadedWorkspace(NamedTuple):
    """A workspace, or None when it could not be read, and the findings of reading it."""

    workspace: Workspace | None
    findings: list[Finding]


def load_workspace(
    root: str,
    step: Callable[[], object] = bool,
) -> LoadedWorkspace:
    """Loads the workspace at `root` with its toolsets and tools.

    All problems of reading are found before it gives up; with an error among them the
    toolsets are those that could be bound. `step` is called after each tool.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    workspace, findings = read_workspace(root)
    if workspace is None:
        return LoadedWorkspace(None, findings)
    toolsets = []
    for index, folder in enumerate(workspace.toolset_folders):
        toolset, more = _load_toolset(workspace, folder, workspace.source, index, step)
        findings += more
        if toolset is not None:
            toolsets.append(toolset)
    findings += unlisted(workspace)
    findings += _same_names(toolsets)
    findings += _handlers_in_output(workspace, toolsets)
    return LoadedWorkspace(replace(workspace, toolsets=tuple(toolsets)), findings)


def read_workspace(root: str) -> LoadedWorkspace:
    """Loads toolcast.yaml alone, without its toolsets."""
    document, findings = _read(root, WORKSPACE_FILE, "workspace")
    if document is None or has_errors(findings):
        return LoadedWorkspace(None, findings)
    value = document.value
    workspace = Workspace(
        root,
        tuple(folder.strip("/") for folder in value["toolsets"]),
        tuple(value.get("targets", DEFAULT_TARGETS)),
        value.get("output", "generated"),
        tuple(value.get("sources", (".",))),
        value.get("templates"),
        tuple(value.get("extensions", ())),
        commands=console_commands(root),
        source=document.source,
    )
    findings += _outside(document, workspace)
    findings += _missing_extensions(document, workspace)
    return LoadedWorkspace(None if has_errors(findings) else workspace, findings)


def _missing_extensions(document: Document, workspace: Workspace) -> Iterator[Finding]:
    for name in missing(workspace.extensions):
        yield document.source.finding(
            "spec/missing-extension",
            Severity.ERROR,
            ("extensions", workspace.extensions.index(name)),
            f"the extension `{name}` is not installed",
            f"{install_command(name)}, or take it from `extensions`",
        )


def _outside(document: Document, workspace: Workspace) -> Iterator[Finding]:
    """Findings about paths of toolcast.yaml that lead out of the project."""
    entries: list[tuple[Path, str]] = [
        (("toolsets", i), f) for i, f in enumerate(workspace.toolset_folders)
    ]
    entries += [(("sources", i), f) for i, f in enumerate(workspace.sources)]
    if workspace.templates is not None:
        entries.append((("templates",), workspace.templates))
    for path, folder in entries:
        if not _is_below(workspace.root, os.path.join(workspace.root, folder)):
            yield document.source.finding(
                "spec/outside-project",
                Severity.ERROR,
                path,
                f"`{folder}` is outside of the project",
                "name a folder below the one of toolcast.yaml",
            )


def _read(
    root: str, file: str, kind: str, extensions: tuple[str, ...] = ()
) -> tuple[Document | None, list[Finding]]:
    try:
        data = _bytes(root, file)
    except _NotASpec as problem:
        return None, [problem.finding]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"the file cannot be read: {reason}"
        return None, [Finding("spec/unreadable", Severity.ERROR, Place(file), message)]
    document, findings = read_yaml(file, data)
    if document is not None:
        findings += islice(check_schema(document, kind, extensions), MOST_SHOWN + 1)
        if not has_errors(findings):
            findings += reserved_names(document, kind)
    return document, findings


class _NotASpec(Exception):
    def __init__(self, rule: str, file: str, message: str, help_: str) -> None:
        super().__init__(message)
        self.finding = Finding(rule, Severity.ERROR, Place(file), message, help_)


def _bytes(root: str, file: str) -> bytes:
    """The first bytes of a regular file of the project: one more than the reader takes."""
    path = os.path.join(root, file)
    if os.path.islink(path):
        if not _is_below(root, path):
            raise _NotASpec(
                "spec/outside-project",
                file,
                "the file is a link out of the project",
                "put the file itself here",
            )
        path = os.path.realpath(path)
    try:
        return read_regular(path, MAX_BYTES + 1, follow=False)
    except NoRegularFile as error:
        message = str(error.strerror)
        raise _NotASpec("spec/unreadable", file, message, "remove it") from None


def _is_below(root: str, path: str) -> bool:
    real_root = os.path.realpath(root)
    return os.path.commonpath([real_root, os.path.realpath(path)]) == real_root


def _load_toolset(
    workspace: Workspace,
    folder: str,
    listed_in: Source,
    index: int,
    step: Callable[[], object],
) -> tuple[Toolset | None, list[Finding]]:
    absolute = os.path.join(workspace.root, folder)
    if not os.path.lexists(os.path.join(absolute, TOOLSET_FILE)):
        wrong = misnamed(absolute)
        finding = listed_in.finding(
            "spec/unknown-toolset",
            Severity.ERROR,
            ("toolsets", index),
            f"`{folder}` has no {TOOLSET_FILE}",
            (
                f"rename {folder}/{wrong} to {TOOLSET_FILE}"
                if wrong
                else f"a toolset is a folder of tool specs with a {TOOLSET_FILE}"
            ),
        )
        return None, [finding]
    document, findings = _read(
        workspace.root, f"{folder}/{TOOLSET_FILE}", "toolset", workspace.extensions
    )
    tools: list[ToolSpec] = []
    try:
        names, sub_folders = specs_in(absolute)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"the folder cannot be read: {reason}"
        finding = Finding("spec/unreadable", Severity.ERROR, Place(folder), message)
        return None, [*findings, finding]
    findings += not_read(workspace, folder, sub_folders)
    for name in names:
        if name == TOOLSET_FILE:
            continue
        tool, more = _load_tool(workspace, f"{folder}/{name}")
        findings += more
        if tool is not None:
            tools.append(tool)
        step()
    findings += _duplicates(tools)
    if document is None or has_errors(findings):
        return None, findings
    bound = bind_toolset(
        document,
        tuple(tools),
        workspace.targets,
        fields_of(workspace.extensions).toolset,
    )
    return bound, findings


def _load_tool(
    workspace: Workspace, file: str
) -> tuple[ToolSpec | None, list[Finding]]:
    document, findings = _read(workspace.root, file, "tool", workspace.extensions)
    if document is None or has_errors(findings):
        return None, findings
    tool = bind_tool(document, fields_of(workspace.extensions).tool)
    called = os.path.basename(file)
    if called != f"{tool.name}.yaml":
        findings.append(
            document.source.finding(
                "spec/file-stem",
                Severity.ERROR,
                ("name",),
                f"the file of the tool `{tool.name}` is called" f" `{called}`",
                _renaming_help(called, tool.name),
            )
        )
    return tool, findings


def _renaming_help(called: str, name: str) -> str:
    """What a rename needs, for an author who changed only the name or only the file."""
    stem, _, ending = called.rpartition(".")
    if ending != "yaml" or not _NAME.fullmatch(stem):
        return f"name the file `{name}.yaml`"
    return (
        f"if the tool is renamed: name the file `{name}.yaml`, and write `renamed_from:"
        f" [{stem}]`, so that calls by the old name go on; if not: `name: {stem}`"
    )


def _duplicates(tools: list[ToolSpec]) -> Iterator[Finding]:
    first: dict[str, ToolSpec] = {}
    for tool in tools:
        other = first.setdefault(tool.name, tool)
        if other is not tool:
            yield tool.source.finding(
                "spec/duplicate-tool",
                Severity.ERROR,
                ("name",),
                f"the tool `{tool.name}` is defined twice, first in"
                f" {other.source.file}",
                "rename one of the two",
            )


def _handlers_in_output(
    workspace: Workspace, toolsets: list[Toolset]
) -> Iterator[Finding]:
    """Findings about packages of handlers inside of the output folder."""
    owned = f"{workspace.output}/".casefold()
    for toolset in toolsets:
        if toolset.handlers is None:
            continue
        package = toolset.handlers.replace(".", "/")
        for source in workspace.sources:
            folder = os.path.normpath(os.path.join(source, package)).replace(
                os.sep, "/"
            )
            if f"{folder}/".casefold().startswith(owned):
                yield toolset.source.finding(
                    "spec/output-over-input",
                    Severity.ERROR,
                    ("handlers",),
                    f"`{toolset.handlers}` is in the output folder `{workspace.output}`",
                    "give the generator a folder of its own",
                )


def _same_names(toolsets: list[Toolset]) -> Iterator[Finding]:
    first: dict[str, Toolset] = {}
    for toolset in toolsets:
        other = first.setdefault(toolset.name, toolset)
        if other is not toolset:
            yield toolset.source.finding(
                "spec/duplicate-toolset",
                Severity.ERROR,
                ("name",),
                f"{quoted_list([other.folder, toolset.folder])} have the same name"
                f" `{toolset.name}`",
                "rename one of the two",
            )
