"""A project's own decisions about imported tools: renames, reserved names, edited specs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import get_similarity_key

from ..analysis.tool_names import (
    NOT_LISTED_REASON,
    collect_other_names,
    compile_mention_pattern,
)
from ..json_schema.graph import JsonSchema
from ..model.model import Toolset, ToolSpec
from ..refactoring.project_edit import EditSession, OwnedTool
from ..refactoring.references import rename_in_text
from ..refactoring.remove import remove_spec, reserve_names
from ..suggestions import format_quoted_list
from .formats import ToolSource, quote_name
from .prohibitions import list_protected_fields
from .spec_fields import is_unmodified_import

Tool = Mapping[str, Any]


class LocalSelection(NamedTuple):
    """The tools of a source after a toolset's own decisions.

    Attributes:
        tools: the listed tools with their names in the toolset, by their listed names.
        removed: names of the toolset's tools that are no longer listed and get removed.
        retained: names of other tools that are no longer listed, with the reason why their
            specs stay.
        notes: an escaped line for each listed tool that is left out.
    """

    tools: Mapping[str, Tool]
    removed: tuple[str, ...] = ()
    retained: Mapping[str, str] = {}
    notes: Sequence[str] = ()


def apply_local_decisions(
    editing: EditSession,
    toolset: Toolset,
    source: ToolSource,
    schemas: str | None,
    *,
    keep_missing: bool,
    force: bool,
) -> LocalSelection:
    """Apply a toolset's renames and reserved names to a source; remove unlisted tools.

    A tool that the toolset renamed keeps its new name, also in texts of other tools. A tool
    whose name is reserved is left out. The name of a removed tool becomes reserved.

    Args:
        editing: collects the edits of the specs.
        toolset: the existing toolset.
        source: the tools that are imported.
        schemas: the path of the project's schemas, see `encode_spec`.
        keep_missing: remove no tool.
        force: also remove edited specs, and more than half of the tools.

    Raises:
        UneditableValueError: a file that mentions a removed tool cannot be edited.
    """
    tools, notes = _apply_local_names(toolset, source.listing.tools)
    readings = [source.listing]
    if source.listing.second_reading is not None:
        readings.append(source.listing.second_reading)
    # A tool that only one of two readings has, or that is rejected, is still listed.
    listed_names = {tool["name"] for reading in readings for tool in reading.tools}
    listed_names |= source.rejected.keys()
    listed_names |= {tool["name"] for tool in tools.values()}
    missing = [
        tool
        for tool in toolset.tools
        if not listed_names & {tool.name, *tool.renamed_from}
    ]
    reason = ""
    if keep_missing:
        reason = "`--keep-missing` is set"
    elif not source.listing.tools:
        reason = "the list is empty"
    elif source.listing.is_partial:
        reason = "the list is one page of several"
    elif len(missing) * 2 > len(toolset.tools) and not force:
        reason = "more than half of the tools would be removed"
    retained: dict[str, str] = {}
    removed: list[ToolSpec] = []
    for tool in missing:
        if reason:
            retained[tool.name] = reason
        elif force or is_unmodified_import(
            toolset, schemas, tool, has_handlers=source.server is not None
        ):
            removed.append(tool)
        else:
            retained[tool.name] = "its spec was edited"
    for tool in removed:
        remove_spec(editing, OwnedTool(toolset, tool), keep_prohibitions=True)
        protected = list_protected_fields(tool)
        if protected:
            fields = format_quoted_list(protected)
            notes.append(f"`{tool.name}` was removed with its {fields}")
    _reserve_removed_names(editing, toolset, removed, listed_names)
    return LocalSelection(tools, tuple(tool.name for tool in removed), retained, notes)


def _reserve_removed_names(
    editing: EditSession,
    toolset: Toolset,
    removed: Sequence[ToolSpec],
    listed_names: set[str],
) -> None:
    """Reserve the names of removed tools, and release names that are listed again."""
    # A reserved name also rejects names that look like it, so compare look-alike keys.
    listed_keys = set(map(get_similarity_key, listed_names))
    released = {
        name
        for name, reason in toolset.reserved_names.items()
        if reason == NOT_LISTED_REASON and get_similarity_key(name) in listed_keys
    }
    removed_names = [
        name for tool in removed for name in (tool.name, *tool.renamed_from)
    ]
    reserved = [
        name for name in removed_names if get_similarity_key(name) not in listed_keys
    ]
    reserve_names(
        editing, toolset, dict.fromkeys(reserved, NOT_LISTED_REASON), released
    )


def _apply_local_names(
    toolset: Toolset, tools: Sequence[Tool]
) -> tuple[dict[str, Tool], list[str]]:
    """Return listed tools under their names in a toolset, and notes on those left out."""
    current_names = {tool.name for tool in toolset.tools}
    renamed_tools = {
        former: tool.name for tool in toolset.tools for former in tool.renamed_from
    }
    reserved_keys = {
        get_similarity_key(name): reason
        for name, reason in toolset.reserved_names.items()
        if reason != NOT_LISTED_REASON
    }
    used_names = {tool["name"] for tool in tools}
    selected: dict[str, Tool] = {}
    notes: list[str] = []
    applied_renames: dict[str, str] = {}
    for tool in tools:
        name: str = tool["name"]
        local_name = name if name in current_names else renamed_tools.get(name, name)
        key = get_similarity_key(name)
        reason = ""
        if name not in current_names and key in reserved_keys:
            reason = (
                f"the toolset reserves its name: {escape_excerpt(reserved_keys[key])}"
            )
        elif local_name != name and local_name in used_names:
            reason = f"it is a previous name of `{local_name}`, which is also listed"
        if reason:
            notes.append(f"{quote_name(name)} is skipped: {reason}")
            continue
        used_names.add(local_name)
        selected[name] = {**tool, "name": local_name}
        if local_name != name:
            applied_renames[name] = local_name
    ambiguous_names = collect_other_names(toolset) if applied_renames else set()
    for former, new in applied_renames.items():
        if former not in ambiguous_names:
            replace_name = partial(
                rename_in_text, pattern=compile_mention_pattern([former]), new=new
            )
            selected = {
                name: _replace_texts(tool, replace_name)
                for name, tool in selected.items()
            }
    return selected, notes


def _replace_texts(tool: Tool, replace_text: Callable[[str], str]) -> Tool:
    """Return a copy of a tool with its titles and descriptions replaced.

    These are the texts of the tool, its annotations, and all subschemas.
    """
    changed = copy.deepcopy(dict(tool))
    schemas = [changed.get(member) for member in ("inputSchema", "outputSchema")]
    subschemas = [
        subschema
        for schema in schemas
        for subschema in JsonSchema(schema).subschemas.values()
    ]
    for part in (changed, changed.get("annotations"), *subschemas):
        for key in ("title", "description"):
            if isinstance(part, dict) and isinstance(part.get(key), str):
                part[key] = replace_text(part[key])
    return changed
