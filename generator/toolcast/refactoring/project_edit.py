"""Planned edits of a project: collected, checked and displayed before they are written."""

from __future__ import annotations

import datetime
import difflib
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..findings import Finding, Severity, has_errors, sort_findings
from ..model.loading import KnownTools, load_workspace
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.project_files import DiskFiles, EditedFiles
from ..parsing.tree import Path, Source
from ..rules.runner import apply_suppressions, check_workspace
from ..suggestions import did_you_mean, format_quoted_list
from .spec_text import SpecText


class EditRefusedError(Exception):
    """Refusal of a requested edit; the message has the reason and a help line.

    Attributes:
        findings: the errors that the specs would have after the edit.
        is_usage: whether the command line is wrong, instead of the project.
    """

    def __init__(
        self,
        message: str,
        help_: str = "",
        *,
        findings: tuple[Finding, ...] = (),
        is_usage: bool = False,
    ) -> None:
        super().__init__(f"{message}\n  help: {help_}" if help_ else message)
        self.findings = findings
        self.is_usage = is_usage


class RemainingMention(NamedTuple):
    """Mention of a name that the edit does not change and that the user must check.

    Attributes:
        file: the path relative to the project's root.
        line: the 1-based line; 0 for the file as a whole.
        column: the 1-based column; 0 for the file as a whole.
        text: the text at the location, or the reason why it needs a check.
    """

    file: str
    line: int
    column: int
    text: str


def build_mention(source: Source, path: Path, text: str) -> RemainingMention:
    """Return a mention at the location of a value in a YAML file."""
    span = source.span(path)
    return RemainingMention(source.file, span.line, span.column, text)


@dataclass(frozen=True)
class ProjectEdit:
    """Planned edit of files.

    Attributes:
        summary: one sentence on the result.
        before: the bytes of each changed file as they were read; None for a new file.
        after: the new bytes of each file; None for a removed file.
        remaining_mentions: mentions that the user must check.
        steps: commands to run next.
        notes: notes for the user, each with file and line.
    """

    summary: str
    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes | None]
    remaining_mentions: tuple[RemainingMention, ...] = ()
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class OwnedTool(NamedTuple):
    """A tool with its toolset."""

    toolset: Toolset
    tool: ToolSpec


class EditSession:
    """Collection of edits of a workspace's files; nothing is written.

    Attributes:
        remaining_mentions: mentions that could not be edited.
    """

    def __init__(self) -> None:
        self.remaining_mentions: list[RemainingMention] = []
        self._texts: dict[str, SpecText] = {}
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self._new_paths: dict[str, str | None] = {}
        self._existing_copies: dict[str, ToolSpec] = {}

    def get_text(self, source: Source) -> SpecText:
        """Return a YAML file's editable text; the same object on each call."""
        return self._texts.setdefault(source.file, SpecText(source))

    def set_bytes(self, file: str, before: bytes, after: bytes) -> None:
        """Plan new bytes for a file that is not a spec."""
        self._before[file], self._after[file] = before, after

    def move(self, file: str, new: str, existing: ToolSpec | None = None) -> None:
        """Plan a new path for the file of a spec.

        Args:
            file: the path of the spec.
            new: the new path.
            existing: the tool that already is at the new path after an interrupted run
                of the same edit.
        """
        self._new_paths[file] = new
        if existing is not None:
            self._existing_copies[new] = existing

    def remove(self, file: str) -> None:
        """Plan the removal of a spec's file.

        The session must have the file's text; see `get_text`.
        """
        self._new_paths[file] = None

    def collect_files(self) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
        """Return the changed files' bytes before and after the edits, each by path.

        The bytes before are None for a new file, those after for a removed file.

        Raises:
            UneditableValueError: an edited text does not parse to the intended value.
            EditRefusedError: another tool has the new path of a spec.
        """
        before: dict[str, bytes | None] = {}
        after: dict[str, bytes | None] = {}
        for file, text in self._texts.items():
            new_path = self._new_paths.get(file, file)
            is_moved = new_path != file
            if is_moved:
                before[file], after[file] = text.source.data, None
            if new_path is not None and (text.is_edited or is_moved):
                data = text.encode()
                after[new_path] = data
                existing_data = self._get_existing_copy(new_path, data)
                before[new_path] = existing_data if is_moved else text.source.data
        return before | self._before, after | self._after

    def _get_existing_copy(self, path: str, data: bytes) -> bytes | None:
        """Return the bytes that an interrupted run wrote to a path; None without one.

        Args:
            path: the new path of a spec.
            data: the bytes that this edit will write to the path.

        Raises:
            EditRefusedError: the file at the path has other bytes.
        """
        existing = self._existing_copies.get(path)
        if existing is None:
            return None
        if existing.source.data != data:
            raise EditRefusedError(
                f"the tool `{existing.name}` exists already, in {path}"
            )
        return data


def get_tool(workspace: Workspace, name: str, toolset_name: str | None) -> OwnedTool:
    """Return the tool with a name, and its toolset.

    Args:
        workspace: the project.
        name: the tool's name, or `toolset/tool` as in reports.
        toolset_name: the toolset, if several toolsets have such a tool.

    Raises:
        EditRefusedError: there is no such tool or toolset, or several toolsets have the
            tool.
    """
    # Reports name a tool as `toolset/tool`.
    if toolset_name is None and "/" in name:
        toolset_name, _, name = name.partition("/")
    toolsets = [t for t in workspace.toolsets if toolset_name in (None, t.name)]
    if not toolsets:
        names = [toolset.name for toolset in workspace.toolsets]
        suggestion = did_you_mean(toolset_name or "", names)
        help_ = suggestion or f"the toolsets are {format_quoted_list(names)}"
        message = f"there is no toolset `{toolset_name}`"
        raise EditRefusedError(message, help_, is_usage=True)
    matches = [
        OwnedTool(toolset, tool)
        for toolset in toolsets
        for tool in toolset.tools
        if tool.name == name
    ]
    if len(matches) > 1:
        choices = format_quoted_list([owned.toolset.name for owned in matches])
        message = f"several toolsets have a tool `{name}`"
        raise EditRefusedError(
            message, f"add `--toolset` with one of {choices}", is_usage=True
        )
    if not matches:
        message = f"there is no tool `{name}`"
        raise EditRefusedError(message, _suggest_tool(toolsets, name), is_usage=True)
    return matches[0]


def _suggest_tool(toolsets: list[Toolset], name: str) -> str:
    for toolset in toolsets:
        for spec in toolset.mcp_specs:
            if spec.name == name:
                return f"edit the {spec.kind} by hand: {spec.source.file}"
        for tool in toolset.tools:
            if name in tool.renamed_from:
                return f"use the tool's current name `{tool.name}`"
        if name in toolset.reserved_names:
            reason = toolset.reserved_names[name]
            return f"the toolset {toolset.name} reserves this name: {reason}"
    tool_names = [tool.name for toolset in toolsets for tool in toolset.tools]
    return did_you_mean(name, tool_names)


def load_edited_workspace(
    workspace: Workspace,
    after: Mapping[str, bytes | None],
    *,
    renamed: tuple[str, str] = ("", ""),
    tolerated_rules: Iterable[str] = (),
) -> Workspace:
    """Return the workspace as it will be after an edit, after checking it.

    Errors that the specs already have are tolerated.

    Args:
        workspace: the workspace before the edit.
        after: the new bytes of the changed files; None for a removed file.
        renamed: the old and new name of a renamed tool. Existing errors that mention
            the old name do not count as new ones.
        tolerated_rules: rules whose errors the edit may add.

    Raises:
        EditRefusedError: the specs cannot be loaded, or the edit adds an error.
    """
    files = EditedFiles(DiskFiles(workspace.root), after)
    loaded = load_workspace(
        workspace.root, files=files, known=_build_known_tools(workspace)
    )
    if loaded.workspace is None or has_errors(loaded.findings):
        message = "the specs cannot be loaded after this change"
        errors = tuple(_select_errors(loaded.findings))
        raise EditRefusedError(message, findings=errors)
    new_errors = [
        error
        for error in _list_errors(loaded.workspace)
        if error.rule not in tolerated_rules
    ]
    # Errors that the specs already have do not refuse the edit.
    if new_errors:
        old_keys = {
            _build_finding_key(error, renamed) for error in _list_errors(workspace)
        }
        new_errors = [
            e for e in new_errors if _build_finding_key(e, renamed) not in old_keys
        ]
    if new_errors:
        message = "the specs would have the errors above after this change"
        raise EditRefusedError(message, findings=tuple(new_errors))
    return loaded.workspace


def _build_known_tools(workspace: Workspace) -> KnownTools:
    """Return the loaded tools, so that unchanged files are not parsed again."""
    return {
        (tool.source.file, tool.source.data, workspace.extensions): (tool, [])
        for toolset in workspace.toolsets
        for tool in toolset.tools
    }


def _build_finding_key(
    finding: Finding, renamed: tuple[str, str]
) -> tuple[str, str, str]:
    """Return a key that is the same for a finding before and after an edit.

    A rename moves files, so that its keys contain no file.
    """
    old, new = renamed
    if old:
        return "", finding.rule, finding.message.replace(old, new)
    return finding.location.file, finding.rule, finding.message


def _list_errors(workspace: Workspace) -> list[Finding]:
    today = datetime.date.today()
    findings = check_workspace(workspace, today, {Severity.ERROR})
    return _select_errors(apply_suppressions(workspace, findings, today))


def _select_errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in sort_findings(findings) if has_errors([finding])]


def format_unified_diff(edit: ProjectEdit) -> Iterator[str]:
    """Yield the lines of a diff that `git apply` accepts.

    If one file is removed and one is new, they are shown as a renamed file.
    """
    moved = _find_moved_file(edit)
    for path in sorted(edit.after):
        if path in moved.values():
            continue
        new_path = moved.get(path, path)
        old_lines = _split_lines(edit.before[path])
        new_lines = _split_lines(edit.after[new_path])
        if path != new_path:
            yield f"diff --git a/{path} b/{new_path}"
            yield f"rename from {path}"
            yield f"rename to {new_path}"
        old_name = "/dev/null" if edit.before[path] is None else f"a/{path}"
        new_name = "/dev/null" if edit.after[new_path] is None else f"b/{new_path}"
        for row in difflib.unified_diff(
            old_lines, new_lines, old_name, new_name, lineterm="\n"
        ):
            yield row.removesuffix("\n")
            # `git apply` needs this line after a last line without a line end.
            if not row.endswith("\n"):
                yield "\\ No newline at end of file"


def _find_moved_file(edit: ProjectEdit) -> dict[str, str]:
    """Return the old path and the new path of a moved file; empty if none is moved.

    A file is moved if the edit removes exactly one file and adds exactly one.
    """
    removed = [path for path, data in edit.after.items() if data is None]
    new = [path for path, data in edit.before.items() if data is None]
    return {removed[0]: new[0]} if len(removed) == len(new) == 1 else {}


def _split_lines(data: bytes | None) -> list[str]:
    """Return the lines with their ends; only a line feed ends a line."""
    return list(io.StringIO((data or b"").decode("utf-8"), newline="\n"))
