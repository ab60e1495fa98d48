"""What was decided in a project, and holds against a newer list of the same server.

A tool that was renamed here keeps its name, in the texts of others, too; one whose name is
reserved does not come back; one that is not listed any more goes, unless its spec has
something that no import wrote.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escaped
from toolcast_runtime.core.definitions.module_names import look_alike_key

from ..edits.project_edit import Editing, Owned, Refusal
from ..edits.references import renamed_text
from ..edits.remove import refuse_replacement, reserve, take_out
from ..edits.spec_text import CannotEdit
from ..facts.tool_names import mention_pattern, other_meanings
from ..json_schema.graph import JsonSchema
from ..model.model import Toolset, ToolSpec, Workspace
from .forms import Source

Tool = Mapping[str, Any]

_NOT_LISTED = "The server does not list it any more."
"""Why a sync reserves a name. What is listed again has it back."""


def called_here(
    toolset: Toolset, tools: Sequence[Tool]
) -> tuple[list[Tool], list[str]]:
    """Listed tools by the names that they have in the toolset, and who is left out and why.

    Where a tool was renamed here, texts of others say its name here, too.
    """
    live = {tool.name for tool in toolset.tools}
    former = {old: tool.name for tool in toolset.tools for old in tool.renamed_from}
    reserved = {
        look_alike_key(name): reason
        for name, reason in toolset.reserved_names.items()
        if reason != _NOT_LISTED
    }
    taken = {tool["name"] for tool in tools}
    found: list[Tool] = []
    left_out: list[str] = []
    renamed: dict[str, str] = {}
    for tool in tools:
        name: str = tool["name"]
        here = name if name in live else former.get(name, name)
        shown = f"`{escaped(name, 80)}` is left out: "
        if name not in live and look_alike_key(name) in reserved:
            reason = escaped(reserved[look_alike_key(name)])
            left_out.append(f"{shown}its name is reserved here: {reason}")
        elif here != name and here in taken:
            left_out.append(
                f"{shown}it is a former name of `{here}`, which is listed, too"
            )
        else:
            taken.add(here)
            found.append({**tool, "name": here})
            if here != name:
                renamed[name] = here
    words = set(other_meanings(toolset)) if renamed else set()
    for old, new in renamed.items():
        if old not in words:
            change = partial(renamed_text, pattern=mention_pattern([old]), new=new)
            found = [_with_texts(tool, change) for tool in found]
    return found, left_out


def _with_texts(tool: Tool, change: Callable[[str], str]) -> Tool:
    """A tool with its texts changed: its own, its annotations' title, and its schemas'."""
    changed = copy.deepcopy(dict(tool))
    schemas = [changed.get(member) for member in ("inputSchema", "outputSchema")]
    parts = [part for one in schemas for part in JsonSchema(one).subschemas.values()]
    for part in (changed, changed.get("annotations"), *parts):
        for key in ("title", "description"):
            if isinstance(part, dict) and isinstance(part.get(key), str):
                part[key] = change(part[key])
    return changed


def names_of(source: Source) -> set[str]:
    """Every name that a source lists, also at its second reading, and of what is refused."""
    readings = (source.listing, source.listing.again or source.listing)
    return {tool["name"] for one in readings for tool in one.tools} | {*source.refused}


def staying(
    toolset: Toolset,
    gone: Sequence[ToolSpec],
    source: Source,
    is_untouched: Callable[[ToolSpec], bool],
    *,
    force: bool,
) -> dict[str, str]:
    """Why tools that a list does not have stay all the same, by their names.

    Args:
        toolset: with its tools.
        gone: those that the list does not have.
        source: the list.
        is_untouched: whether a spec is as an import writes it.
        force: removes more than half of the tools, and what a person has added.
    """
    why = None
    if not source.listing.tools:
        why = "the list is empty"
    elif source.listing.is_partial:
        why = "the list is one page of several"
    elif len(gone) * 2 > len(toolset.tools) and not force:
        why = "more than half of the tools would go"
    if why is not None:
        return {tool.name: why for tool in gone}
    return {
        tool.name: "its spec has what no import wrote"
        for tool in gone
        if not force and not is_untouched(tool)
    }


def remove_gone(
    editing: Editing,
    workspace: Workspace,
    toolset: Toolset,
    gone: Sequence[ToolSpec],
    listed: set[str],
) -> dict[str, str]:
    """Removes specs, and reserves their names; who cannot be removed, and why.

    A name that a sync has reserved is free again where it, or one that looks like it, is
    listed. Where some cannot be removed, the edit is not to be used.

    Args:
        listed: the names of the listed tools.
    """
    cannot: dict[str, str] = {}
    for tool in gone:
        owned = Owned(toolset, tool)
        try:
            refuse_replacement(workspace, owned)
            take_out(editing, owned)
        except (Refusal, CannotEdit) as error:
            cannot[tool.name] = str(error).partition("\n")[0].removesuffix(":")
    keys = set(map(look_alike_key, listed))
    names = [name for tool in gone for name in (tool.name, *tool.renamed_from)]
    new = [name for name in names if look_alike_key(name) not in keys]
    again = {
        name
        for name, reason in toolset.reserved_names.items()
        if reason == _NOT_LISTED and look_alike_key(name) in keys
    }
    reserve(editing, toolset, dict.fromkeys(new, _NOT_LISTED), without=again)
    return cannot
