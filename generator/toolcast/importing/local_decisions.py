"""What was decided in a project, and holds against a newer list of the same server."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import look_alike_key

from ..analysis.tool_names import (
    NOT_LISTED_REASON,
    collect_other_names,
    compile_mention_pattern,
)
from ..json_schema.graph import JsonSchema
from ..model.model import Toolset
from ..refactoring.project_edit import EditSession, OwnedTool
from ..refactoring.references import renamed_text
from ..refactoring.remove import reserve, take_out
from .formats import Source
from .spec_fields import is_untouched

Tool = Mapping[str, Any]


class LocalSelection(NamedTuple):
    """What of a list counts in a toolset.

    Attributes:
        tools: the listed ones as they are called here, by their names there.
        removed: names of tools that are not listed, and go.
        staying: names of others, and why they stay all the same.
        notes: who is left out, and why; a line each, escaped.
    """

    tools: Mapping[str, Tool]
    removed: tuple[str, ...] = ()
    staying: Mapping[str, str] = {}
    notes: Sequence[str] = ()


def decided(
    editing: EditSession,
    toolset: Toolset,
    source: Source,
    schemas: str | None,
    *,
    keep_missing: bool,
    force: bool,
) -> LocalSelection:
    """Holds a list to what a toolset has decided, and removes what is not listed any more.

    A tool that was renamed here keeps its name, in texts of others, too; one whose name was
    reserved here is left out. A spec that is removed leaves its name reserved.

    Raises:
        UneditableValueError: a file that names it has a layout that is not edited.
    """
    tools, notes = _called_here(toolset, source.listing.tools)
    readings = (source.listing, source.listing.again or source.listing)
    names = {tool["name"] for one in readings for tool in one.tools} | {*source.refused}
    listed = names | {tool["name"] for tool in tools.values()}
    gone = [t for t in toolset.tools if not listed & {t.name, *t.renamed_from}]
    why = ""
    if keep_missing:
        why = "nothing is to be removed"
    elif not source.listing.tools:
        why = "the list is empty"
    elif source.listing.is_partial:
        why = "the list is one page of several"
    elif len(gone) * 2 > len(toolset.tools) and not force:
        why = "more than half of the tools would go"
    staying = {
        tool.name: why or "its spec has what no import wrote"
        for tool in gone
        if why or not (force or is_untouched(toolset, schemas, tool))
    }
    removed = [tool for tool in gone if tool.name not in staying]
    for tool in removed:
        take_out(editing, OwnedTool(toolset, tool))
    # What looks like a listed name would keep that one out.
    keys = set(map(look_alike_key, listed))
    reserved = [name for tool in removed for name in (tool.name, *tool.renamed_from)]
    free = {
        name
        for name, why in toolset.reserved_names.items()
        if why == NOT_LISTED_REASON and look_alike_key(name) in keys
    }
    new = [name for name in reserved if look_alike_key(name) not in keys]
    reserve(editing, toolset, dict.fromkeys(new, NOT_LISTED_REASON), free)
    return LocalSelection(tools, tuple(tool.name for tool in removed), staying, notes)


def _called_here(
    toolset: Toolset, tools: Sequence[Tool]
) -> tuple[dict[str, Tool], list[str]]:
    live = {tool.name for tool in toolset.tools}
    former = {old: tool.name for tool in toolset.tools for old in tool.renamed_from}
    reserved = {
        look_alike_key(name): why
        for name, why in toolset.reserved_names.items()
        if why != NOT_LISTED_REASON
    }
    taken = {tool["name"] for tool in tools}
    found: dict[str, Tool] = {}
    left_out: list[str] = []
    renamed: dict[str, str] = {}
    for tool in tools:
        name: str = tool["name"]
        here = name if name in live else former.get(name, name)
        why = ""
        if name not in live and (key := look_alike_key(name)) in reserved:
            why = f"its name is reserved here: {escape_excerpt(reserved[key])}"
        elif here != name and here in taken:
            why = f"it is a former name of `{here}`, which is listed, too"
        if why:
            left_out.append(f"`{escape_excerpt(name, 80)}` is left out: {why}")
            continue
        taken.add(here)
        found[name] = {**tool, "name": here}
        if here != name:
            renamed[name] = here
    words = collect_other_names(toolset) if renamed else set()
    for old, new in renamed.items():
        if old not in words:
            change = partial(
                renamed_text, pattern=compile_mention_pattern([old]), new=new
            )
            found = {name: _with_texts(tool, change) for name, tool in found.items()}
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
