"""Removal of a tool: its spec, references and server entry; its names become reserved."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Set

from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.dates import parse_iso_date
from ..static_analysis.handler import find_handler_code
from .other_files import (
    list_other_file_mentions,
    list_region_mentions,
    remove_from_server,
)
from .project_edit import (
    EditRefusedError,
    EditSession,
    OwnedTool,
    ProjectEdit,
    RemainingMention,
    build_mention,
    load_edited_workspace,
)
from .references import list_mentions, list_reference_paths, list_referring_toolsets
from .remaining_mentions import (
    list_file_mentions,
    list_handler_mentions,
    list_spec_mentions,
    list_type_imports,
)

_PRECEDING_FIELDS = (
    "permissions",
    "timeout",
    "handlers",
    "version",
    "title",
    "name",
)
"""`reserved_names` is inserted after the first of these fields that a toolset has."""


_KEPT_COMMENT = "# Kept by an import: the server did not list the tool."


def remove_tool(
    workspace: Workspace,
    owned: OwnedTool,
    *,
    without_notice: bool = False,
    ignore_mentions: bool = False,
    reason: str | None = None,
) -> ProjectEdit:
    """Plan the removal of a tool's spec; reserve its current and previous names.

    Args:
        workspace: the project.
        owned: the tool.
        without_notice: remove the tool even if no removal date was announced or it is
            in the future. A draft needs no date.
        ignore_mentions: remove the tool even if texts of other specs mention it; the
            mentions are listed.
        reason: why the names are reserved. Default: a sentence with today's date and
            the replacement.

    Raises:
        EditRefusedError: the removal is not announced, other specs need the tool, or
            the specs would have errors.
        UneditableValueError: `toolset.yaml` has a layout that cannot be edited.
    """
    toolset, tool = owned
    if not without_notice and toolset.get_stability(tool) != "draft":
        _refuse_unannounced_removal(tool)
    _refuse_removing_replacement(workspace, owned)
    mentions = [] if ignore_mentions else list(list_mentions(workspace, owned))
    if mentions:
        raise EditRefusedError(
            f"other texts mention `{tool.name}`:{_format_locations(mentions)}",
            "change the texts first, or use `--ignore-mentions` and change them afterwards",
        )
    editing = EditSession()
    remove_spec(editing, owned)
    names = (tool.name, *tool.renamed_from)
    reserve_names(editing, toolset, dict.fromkeys(names, reason or _build_reason(tool)))
    before, after = editing.collect_files()
    edited = load_edited_workspace(
        workspace,
        after,
        tolerated_rules=("name/retired-name-used", "prompt/other-tools"),
    )
    edited_toolset = next(t for t in edited.toolsets if t.folder == toolset.folder)
    remaining_mentions = [
        *list_spec_mentions(workspace, owned, edited),
        *list_other_file_mentions(workspace, owned),
        *list_region_mentions(workspace, owned),
        *list_handler_mentions(edited, edited_toolset, tool.name),
        *list_type_imports(workspace, owned),
        *list_file_mentions(edited, tool.name),
        *_find_unused_handler(workspace, owned),
    ]
    summary = f"`{tool.name}` is removed, and its name reserved"
    return ProjectEdit(
        summary, before, after, tuple(remaining_mentions), ("toolcast generate",)
    )


def remove_spec(
    editing: EditSession, owned: OwnedTool, *, keep_prohibitions: bool = False
) -> None:
    """Remove a spec, and remove the tool from lists and from its server's entry.

    Args:
        editing: collects the edits.
        owned: the tool.
        keep_prohibitions: keep the tool in `deny` and `exclusions`, which then apply if a
            server lists it again.
    """
    # `EditSession.remove` applies only to files whose text the session has.
    editing.get_text(owned.tool.source)
    editing.remove(owned.tool.source.file)
    _remove_from_lists(editing, *owned, keep_prohibitions)
    remove_from_server(editing, owned)


def _remove_from_lists(
    editing: EditSession, toolset: Toolset, tool: ToolSpec, keep_prohibitions: bool
) -> None:
    """Remove a tool from the lists of its toolset's specs that name it.

    These are client lists, exclusions and selection cases. `deprecated.replacement`
    stays.
    """
    files = [("toolset", toolset.source)]
    files += [("tool", other.source) for other in toolset.tools if other is not tool]
    for kind, source in files:
        item_paths: list[tuple[str | int, ...]] = []
        for path in list_reference_paths(tool.name, source.tree, kind):
            if keep_prohibitions and (path[0] == "exclusions" or "deny" in path[2:3]):
                editing.get_text(source).append_comment(path, _KEPT_COMMENT)
            # A deprecated tool needs a new replacement, which only the maintainer can
            # choose.
            elif path[0] != "deprecated":
                # If the name is a field of an object in a list, the whole object is
                # removed.
                item_paths.append(path if isinstance(path[-1], int) else path[:-1])
        for item in dict.fromkeys(item_paths):
            # An item inside another removed item is removed together with it.
            parents = [item[:length] for length in range(1, len(item))]
            if not any(parent in item_paths for parent in parents):
                editing.get_text(source).remove_item(item[:-1], int(item[-1]))


def _refuse_unannounced_removal(tool: ToolSpec) -> None:
    removal_date = parse_iso_date((tool.deprecated or {}).get("removal", ""))
    action = f"announce it with `deprecated: {{removal: DATE}}` in {tool.source.file}"
    if tool.deprecated is None:
        message = f"`{tool.name}` is not deprecated"
    elif removal_date is None:
        message = f"`{tool.name}` is deprecated without a removal date"
    elif removal_date > datetime.date.today():
        message = f"`{tool.name}` must not be removed before {removal_date}"
        action = "wait for that date"
    else:
        return
    raise EditRefusedError(
        message, f"{action}; use `--without-notice` to remove it at once"
    )


def _refuse_removing_replacement(workspace: Workspace, owned: OwnedTool) -> None:
    name = owned.tool.name
    replaced_tools = [
        build_mention(tool.source, ("deprecated", "replacement"), "")
        for toolset in list_referring_toolsets(workspace, owned)
        for tool in toolset.tools
        if tool is not owned.tool and (tool.deprecated or {}).get("replacement") == name
    ]
    if replaced_tools:
        raise EditRefusedError(
            f"`{name}` is the replacement of deprecated tools:"
            f"{_format_locations(replaced_tools)}",
            "set another `replacement` in `deprecated` of these specs",
        )


def _format_locations(mentions: list[RemainingMention]) -> str:
    return "".join(f"\n  {m.file}:{m.line}:{m.column}" for m in mentions)


def _build_reason(tool: ToolSpec) -> str:
    today = datetime.date.today().isoformat()
    replacement = (tool.deprecated or {}).get("replacement")
    instead = f"; {replacement} is used instead" if replacement else ""
    return f"Removed on {today}{instead}."


def reserve_names(
    editing: EditSession,
    toolset: Toolset,
    reasons: Mapping[str, str],
    released: Set[str] = frozenset(),
) -> None:
    """Add names to `reserved_names` of a toolset, and remove released names.

    Args:
        editing: collects the edits.
        toolset: the toolset.
        reasons: the reason for each name to reserve; names that are already reserved
            are skipped.
        released: names that are no longer reserved.
    """
    text = editing.get_text(toolset.source)
    new_entries = [
        {"name": name, "reason": reason}
        for name, reason in reasons.items()
        if name not in toolset.reserved_names
    ]
    existing_entries = toolset.source.tree.get("reserved_names")
    if released:
        entries = [e for e in existing_entries if e["name"] not in released]
        entries += new_entries
        if entries:
            text.set_field("reserved_names", entries, "name")
        else:
            text.remove_key(("reserved_names",))
    elif existing_entries is not None:
        for entry in new_entries:
            text.append_item(("reserved_names",), entry)
    elif new_entries:
        preceding = next(key for key in _PRECEDING_FIELDS if key in toolset.fields)
        text.insert_key((preceding,), "reserved_names", new_entries)


def _find_unused_handler(
    workspace: Workspace, owned: OwnedTool
) -> list[RemainingMention]:
    """Return the location of a removed tool's handler function as a mention.

    Empty if another spec uses the function or it cannot be found.
    """
    toolset, tool = owned
    is_used = any(
        other.handler == tool.handler
        for other_toolset in workspace.toolsets
        for other in (*other_toolset.tools, *other_toolset.mcp_specs)
        if other is not tool
    )
    code = find_handler_code(workspace, toolset, tool)
    if is_used or code is None or not code.location:
        return []
    file, _, line = code.location.rpartition(":")
    text = f"`{tool.handler}` is no longer the handler of a tool"
    return [RemainingMention(file, int(line), 1, text)]
