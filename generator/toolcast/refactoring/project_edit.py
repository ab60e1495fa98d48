"""What a command does to a project's files, as a value: checked and shown, not written."""

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
    """Requested edit that cannot be made; the message has the reason and a help line.

    Attributes:
        findings: what would be wrong with the specs after it.
        is_usage: the command itself has to be another one.
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
    """A place that a person has to decide about.

    Attributes:
        file: relative to the project's root.
        line: 1-based; 0 for the file as a whole.
        column: 1-based; 0 for the file as a whole.
        text: what stands there, and why it was left.
    """

    file: str
    line: int
    column: int
    text: str


def left_at(source: Source, path: Path, text: str) -> RemainingMention:
    """A value of a file that a person has to decide about."""
    span = source.span(path)
    return RemainingMention(source.file, span.line, span.column, text)


@dataclass(frozen=True)
class ProjectEdit:
    """An edit that may be written.

    Attributes:
        done: what it does, one sentence.
        before: the bytes of each file that changes, as they were read; None for a new one.
        after: the bytes that it gets; None for one that is removed.
        left: places that were not changed and may have to be.
        steps: what is to be done next.
        notes: what its author should know, each with file and line.
    """

    done: str
    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes | None]
    left: tuple[RemainingMention, ...] = ()
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class OwnedTool(NamedTuple):
    """A tool with its toolset."""

    toolset: Toolset
    tool: ToolSpec


class EditSession:
    """The files of a workspace while they are edited."""

    def __init__(self) -> None:
        self.left: list[RemainingMention] = []
        self._texts: dict[str, SpecText] = {}
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self._places: dict[str, str | None] = {}
        self._begun: dict[str, ToolSpec] = {}

    def text(self, source: Source) -> SpecText:
        """The text of a spec; all edits of a file go to the same one."""
        return self._texts.setdefault(source.file, SpecText(source))

    def set_bytes(self, file: str, before: bytes, after: bytes) -> None:
        """Gives a file that is no spec other bytes."""
        self._before[file], self._after[file] = before, after

    def move(self, file: str, new: str, begun: ToolSpec | None = None) -> None:
        """Gives a spec's file another path.

        Args:
            begun: the tool that is there already, when a run of the same edit was killed.
        """
        self._places[file] = new
        if begun is not None:
            self._begun[new] = begun

    def remove(self, file: str) -> None:
        """Removes a spec."""
        self._places[file] = None

    def files(self) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
        """Before and after, by path.

        Raises:
            UneditableValueError: a text does not give what it is to give.
            EditRefusedError: another tool's file is where one goes.
        """
        before: dict[str, bytes | None] = {}
        after: dict[str, bytes | None] = {}
        for file, text in self._texts.items():
            place = self._places.get(file, file)
            if place != file:
                before[file], after[file] = text.source.data, None
            if place is not None and (text.is_edited or place != file):
                after[place] = text.result()
                there = self._there(place, after[place])
                before[place] = text.source.data if place == file else there
        return before | self._before, after | self._after

    def _there(self, place: str, data: bytes | None) -> bytes | None:
        """What stands where a spec goes: nothing, or what a killed run has written."""
        begun = self._begun.get(place)
        if begun is None:
            return None
        if begun.source.data != data:
            raise EditRefusedError(
                f"there is a tool `{begun.name}` already, in {place}"
            )
        return data


def tool_of(workspace: Workspace, name: str, toolset_name: str | None) -> OwnedTool:
    """The tool that a command names, by its name or as reports do, by `toolset/tool`.

    Raises:
        EditRefusedError: there is none, or there are several.
    """
    if toolset_name is None and "/" in name:
        toolset_name, _, name = name.partition("/")
    toolsets = [one for one in workspace.toolsets if toolset_name in (None, one.name)]
    if not toolsets:
        names = [toolset.name for toolset in workspace.toolsets]
        near = did_you_mean(toolset_name or "", names)
        help_ = near or f"the toolsets are {format_quoted_list(names)}"
        message = f"there is no toolset `{toolset_name}`"
        raise EditRefusedError(message, help_, is_usage=True)
    found = [
        OwnedTool(one, tool)
        for one in toolsets
        for tool in one.tools
        if tool.name == name
    ]
    if len(found) > 1:
        named = format_quoted_list([one.toolset.name for one in found])
        message = f"several toolsets have a tool `{name}`"
        raise EditRefusedError(
            message, f"add `--toolset` with one of {named}", is_usage=True
        )
    if not found:
        message = f"there is no tool `{name}`"
        raise EditRefusedError(message, _meant(toolsets, name), is_usage=True)
    return found[0]


def _meant(toolsets: list[Toolset], name: str) -> str:
    for toolset in toolsets:
        for spec in toolset.mcp_specs:
            if spec.name == name:
                what = f"it is a {spec.kind}, which is edited by hand"
                return f"{what}: {spec.source.file}"
        for tool in toolset.tools:
            if name in tool.renamed_from:
                return f"it is called `{tool.name}` now"
        if name in toolset.reserved_names:
            reason = toolset.reserved_names[name]
            return f"the toolset {toolset.name} has reserved the name: {reason}"
    return did_you_mean(name, [t.name for one in toolsets for t in one.tools])


def specs_after(
    workspace: Workspace,
    after: Mapping[str, bytes | None],
    *,
    renamed: tuple[str, str] = ("", ""),
    passed: Iterable[str] = (),
) -> Workspace:
    """The workspace after an edit.

    Args:
        workspace: before it.
        after: what files get, None for those that are removed.
        renamed: a name, and the one that takes its place in what is found.
        passed: rules whose errors the edit may bring.

    Raises:
        EditRefusedError: it brings an error that was not there.
    """
    files = EditedFiles(DiskFiles(workspace.root), after)
    loaded = load_workspace(workspace.root, files=files, known=_read_before(workspace))
    if loaded.workspace is None or has_errors(loaded.findings):
        message = "the specs could not be read after it"
        raise EditRefusedError(message, findings=tuple(_of_errors(loaded.findings)))
    brought = [f for f in _errors(loaded.workspace) if f.rule not in passed]
    if brought:
        there = {_said(finding, renamed) for finding in _errors(workspace)}
        brought = [f for f in brought if _said(f, renamed) not in there]
    if brought:
        message = "with this change the specs would have what is found above"
        raise EditRefusedError(message, findings=tuple(brought))
    return loaded.workspace


def _read_before(workspace: Workspace) -> KnownTools:
    """The tools that need not be read again, since they had no error."""
    return {
        (tool.source.file, tool.source.data, workspace.extensions): (tool, [])
        for toolset in workspace.toolsets
        for tool in toolset.tools
    }


def _said(finding: Finding, renamed: tuple[str, str]) -> tuple[str, str]:
    """What a finding says, the same before and after a rename."""
    old, new = renamed
    message = finding.message.replace(old, new) if old else finding.message
    return finding.rule, message


def _errors(workspace: Workspace) -> list[Finding]:
    today = datetime.date.today()
    found = check_workspace(workspace, today, {Severity.ERROR})
    found = apply_suppressions(workspace, found, today)
    return _of_errors(found)


def _of_errors(found: Iterable[Finding]) -> list[Finding]:
    return [one for one in sort_findings(found) if has_errors([one])]


def unified_diff(edit: ProjectEdit) -> Iterator[str]:
    """The lines of a diff, in the form that `git apply` takes; a moved file is one change."""
    moved = _moved(edit)
    for path in sorted(edit.after):
        if path in moved.values():
            continue
        new_path = moved.get(path, path)
        old = _lines(edit.before[path])
        new = _lines(edit.after[new_path])
        if path != new_path:
            yield f"diff --git a/{path} b/{new_path}"
            yield f"rename from {path}"
            yield f"rename to {new_path}"
        from_ = "/dev/null" if edit.before[path] is None else f"a/{path}"
        to = "/dev/null" if edit.after[new_path] is None else f"b/{new_path}"
        for row in difflib.unified_diff(old, new, from_, to, lineterm="\n"):
            yield row.removesuffix("\n")
            if not row.endswith("\n"):
                yield "\\ No newline at end of file"


def _moved(edit: ProjectEdit) -> dict[str, str]:
    """The one file that goes, and the one that comes."""
    removed = [path for path, data in edit.after.items() if data is None]
    new = [path for path, data in edit.before.items() if data is None]
    return {removed[0]: new[0]} if len(removed) == len(new) == 1 else {}


def _lines(data: bytes | None) -> list[str]:
    """The lines with their ends, which are line feeds alone."""
    return list(io.StringIO((data or b"").decode("utf-8"), newline="\n"))
