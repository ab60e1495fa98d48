"""A tool goes, and its names with it: no other tool may take them unnoticed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Set

from ..model.model import Toolset, ToolSpec, Workspace
from ..static_analysis.handler import find_handler_code
from .other_files import marks_of, named_in_other_files, take_from_server
from .project_edit import (
    EditRefusedError,
    EditSession,
    OwnedTool,
    ProjectEdit,
    RemainingMention,
    left_at,
    specs_after,
)
from .references import fields_with, mentions_of, referring_toolsets
from .remaining_mentions import (
    left_imports,
    left_in_files,
    left_in_handlers,
    left_in_specs,
)

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MAY_FOLLOW = ("permissions", "timeout", "handlers", "version", "title", "name")


def remove(
    workspace: Workspace,
    owned: OwnedTool,
    *,
    without_notice: bool = False,
    ignore_mentions: bool = False,
    reason: str | None = None,
) -> ProjectEdit:
    """Removes a tool's spec, and reserves its name and its former ones.

    Args:
        without_notice: remove the tool even if no removal date was announced or it is
            in the future. A draft needs no date.
        ignore_mentions: remove the tool even if texts of other specs mention it; the
            mentions are listed.
        reason: why the names are reserved; default: that the tool was removed, and when.

    Raises:
        EditRefusedError: with what stands against it.
        UneditableValueError: `toolset.yaml` has a layout that is not edited.
    """
    toolset, tool = owned
    if not without_notice and toolset.get_stability(tool) != "draft":
        _refuse_unannounced(tool)
    _refuse_replacement(workspace, owned)
    mentions = [] if ignore_mentions else [*mentions_of(workspace, owned)]
    if mentions:
        message = f"other texts say `{tool.name}`:{_listed(mentions)}"
        raise EditRefusedError(
            message,
            "change them first, or use `--ignore-mentions` and change them afterwards",
        )
    editing = EditSession()
    take_out(editing, owned)
    names = (tool.name, *tool.renamed_from)
    reserve(editing, toolset, dict.fromkeys(names, reason or _reason(tool)))
    before, after = editing.files()
    edited = specs_after(
        workspace, after, passed=("name/retired-name-used", "prompt/other-tools")
    )
    here = next(one for one in edited.toolsets if one.folder == toolset.folder)
    left = [
        *left_in_specs(workspace, owned, edited),
        *named_in_other_files(workspace, owned),
        *marks_of(workspace, owned),
        *left_in_handlers(edited, here, tool.name),
        *left_imports(workspace, owned),
        *left_in_files(edited, tool.name),
        *_handler(workspace, owned),
    ]
    done = f"`{tool.name}` is removed, and its name reserved"
    return ProjectEdit(done, before, after, tuple(left), ("toolcast generate",))


def take_out(editing: EditSession, owned: OwnedTool) -> None:
    """Removes a spec, and takes its tool from what names it as one of several."""
    editing.text(owned.tool.source)
    editing.remove(owned.tool.source.file)
    _take_from_lists(editing, *owned)
    take_from_server(editing, owned)


def _take_from_lists(editing: EditSession, toolset: Toolset, tool: ToolSpec) -> None:
    """Takes a tool from its toolset's lists of clients, its exclusions, and its cases."""
    files = [("toolset", toolset.source)]
    files += [("tool", one.source) for one in toolset.tools if one is not tool]
    for file, source in files:
        paths = fields_with(tool.name, source.tree, file)
        # Who names it as a replacement has to decide anew.
        lists = [path for path in paths if path[0] != "deprecated"]
        items = [path if isinstance(path[-1], int) else path[:-1] for path in lists]
        for item in dict.fromkeys(items):
            # What stands in an entry goes with the entry.
            if not any(item[:length] in items for length in range(1, len(item))):
                editing.text(source).remove_item(item[:-1], int(item[-1]))


def _refuse_unannounced(tool: ToolSpec) -> None:
    removal = (tool.deprecated or {}).get("removal")
    today = datetime.date.today().isoformat()
    announce = f"`deprecated: {{removal: DATE}}` in {tool.source.file} announces it"
    if tool.deprecated is None:
        message = f"`{tool.name}` is not deprecated"
    elif removal is None or not _DAY.fullmatch(removal):
        message = f"`{tool.name}` is deprecated without a day of its removal"
    elif removal > today:
        message = f"`{tool.name}` is to be removed on {removal}, not before"
        announce = "wait for that day"
    else:
        return
    raise EditRefusedError(
        message, f"{announce}; use `--without-notice` to remove it at once"
    )


def _refuse_replacement(workspace: Workspace, owned: OwnedTool) -> None:
    name = owned.tool.name
    users = [
        left_at(tool.source, ("deprecated", "replacement"), "")
        for toolset in referring_toolsets(workspace, owned)
        for tool in toolset.tools
        if tool is not owned.tool and (tool.deprecated or {}).get("replacement") == name
    ]
    if users:
        message = f"`{name}` is to replace other tools:{_listed(users)}"
        raise EditRefusedError(
            message, "name another one in `deprecated` of these specs"
        )


def _listed(places: list[RemainingMention]) -> str:
    return "".join(f"\n  {one.file}:{one.line}:{one.column}" for one in places)


def _reason(tool: ToolSpec) -> str:
    today = datetime.date.today().isoformat()
    replacement = (tool.deprecated or {}).get("replacement")
    instead = f"; {replacement} is used instead" if replacement else ""
    return f"Removed on {today}{instead}."


def reserve(
    editing: EditSession,
    toolset: Toolset,
    reasons: Mapping[str, str],
    free: Set[str] = frozenset(),
) -> None:
    """Reserves names, each with its reason; those that are `free` are not reserved any more."""
    text = editing.text(toolset.source)
    new = {k: v for k, v in reasons.items() if k not in toolset.reserved_names}
    entries = [{"name": name, "reason": reason} for name, reason in new.items()]
    there = toolset.source.tree.get("reserved_names")
    if free:
        kept = [one for one in there if one["name"] not in free] + entries
        if kept:
            text.set_block("reserved_names", kept, "name")
        else:
            text.remove_key(("reserved_names",))
    elif there is not None:
        for entry in entries:
            text.append(("reserved_names",), entry)
    elif entries:
        before = next(key for key in _MAY_FOLLOW if key in toolset.fields)
        text.insert_key((before,), "reserved_names", entries)


def _handler(workspace: Workspace, owned: OwnedTool) -> list[RemainingMention]:
    """The function that is no tool's handler any more."""
    toolset, tool = owned
    used = any(
        other.handler == tool.handler
        for one in workspace.toolsets
        for other in (*one.tools, *one.mcp_specs)
        if other is not tool
    )
    code = find_handler_code(workspace, toolset, tool)
    if used or code is None or not code.location:
        return []
    file, _, line = code.location.rpartition(":")
    text = f"`{tool.handler}` is no tool's handler any more"
    return [RemainingMention(file, int(line), 1, text)]
