"""Where specs refer to a tool: fields that hold its name, and texts that say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..analysis.texts import list_prose, list_text_owners
from ..analysis.tool_names import (
    collect_other_names,
    compile_mention_pattern,
    find_mentions,
    is_plain_word,
)
from ..model.model import Toolset, Workspace
from ..model.toolset_parts import ResourceSpec
from ..parsing.tree import Path, Source
from ..spec_language.name_fields import TOOL_NAME_KINDS, find_names
from .project_edit import EditSession, OwnedTool, RemainingMention, left_at

Pattern = tuple[str, ...]

_BEFORE_WORD = ("", " ", "\n", "*", "(")
_BEHIND_WORD = ("", *" \n.,;:!?*)'’")
_NEAR = 20
_CONTENT: Path = ("file",)
"""The text at this path is what a resource's file holds."""

# Data, in which a key `reason` may be anything, and what counts as prose.
_DATA = frozenset(
    "parameters returns examples meta mcp annotations skill deprecated".split()
)


def fields_with(
    name: str, tree: Any, file: str, extensions: tuple[str, ...] = ()
) -> list[Path]:
    """Where the fields of a kind of file name a tool."""
    places = find_names(tree, file, TOOL_NAME_KINDS, extensions)
    return [one.path for one in places if one.name == name and not one.is_key]


def places_of(value: Any, pattern: Pattern, name: str) -> Iterator[Path]:
    """The paths of a value that a pattern allows and that hold a name."""
    found: list[tuple[Path, Any]] = [((), value)]
    for step in pattern:
        found = [
            ((*path, key), inner)
            for path, outer in found
            for key, inner in _entries(outer)
            if step in ("*", key)
        ]
    yield from (path for path, inner in found if inner == name)


def _entries(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def referring_toolsets(workspace: Workspace, owned: OwnedTool) -> list[Toolset]:
    """The toolsets in which the name means the tool for certain.

    Where several toolsets have such a tool, only each own means its own.
    """
    name = owned.tool.name
    owners = [t for t in workspace.toolsets if any(one.name == name for one in t.tools)]
    is_only = len(owners) == 1
    return toolsets_that_may_mean(workspace, owned) if is_only else [owned.toolset]


def toolsets_that_may_mean(workspace: Workspace, owned: OwnedTool) -> list[Toolset]:
    """A tool's toolset, and those that have nothing of the name themselves."""
    name = owned.tool.name
    return [
        toolset
        for toolset in workspace.toolsets
        if toolset is owned.toolset or not _has_another(toolset, name)
    ]


def _has_another(toolset: Toolset, name: str) -> bool:
    names = (each for tool in toolset.tools for each in (tool.name, *tool.renamed_from))
    external = (server.declares_tool(name) for server in toolset.mcp_servers)
    return name in toolset.reserved_names or name in names or any(external)


def rename_references(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, new: str
) -> None:
    """Changes the name in every field that refers to the tool."""
    name = owned.tool.name
    for toolset in referring_toolsets(workspace, owned):
        # A name in an extension's field of another toolset may be somebody else's tool.
        if toolset is owned.toolset:
            tree = toolset.source.tree
            for path in fields_with(name, tree, "toolset", workspace.extensions):
                editing.text(toolset.source).set_name(path, new)
        for tool in toolset.tools:
            for path in fields_with(name, tool.source.tree, "tool"):
                editing.text(tool.source).set_name(path, new)


def rename_mentions(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, new: str
) -> None:
    """Changes the name in the texts that say it, where it can only mean the tool."""
    name = owned.tool.name
    pattern = compile_mention_pattern([name])
    for toolset in referring_toolsets(workspace, owned):
        if name in collect_other_names(toolset):
            continue
        for source, path in _texts_with(toolset, pattern):
            if path != _CONTENT:
                editing.text(source).rewrite(
                    path, lambda text: renamed_text(text, pattern, new)
                )
        for spec in toolset.mcp_resources:
            _rename_in_content(editing, toolset, spec, pattern, new)


def _rename_in_content(
    editing: EditSession,
    toolset: Toolset,
    spec: ResourceSpec,
    pattern: re.Pattern[str] | None,
    new: str,
) -> None:
    """Changes the name in the file that a resource holds, where it is text."""
    before = spec.content or b""
    try:
        after = renamed_text(before.decode("utf-8"), pattern, new).encode("utf-8")
    except UnicodeDecodeError:
        return
    if after != before:
        editing.set_bytes(f"{toolset.folder}/{spec.file}", before, after)


def renamed_text(text: str, pattern: re.Pattern[str] | None, new: str) -> str:
    """A text that says another name where the pattern finds a tool's."""
    as_new = compile_mention_pattern([new])
    for mention in reversed(list(find_mentions(text, pattern))):
        if mention.is_code:
            continue
        head, tail = text[: mention.start], text[mention.start + len(mention.name) :]
        text = head + new + tail
        # Without a mark, nobody would take a word of the language for a name.
        if is_plain_word(new) and _is_prose(head, tail):
            near = head[-_NEAR:] + new + tail[:1]
            starts = [m.start for m in find_mentions(near, as_new)]
            if len(head[-_NEAR:]) not in starts:
                text = f"{head}`{new}`{tail}"
    return text


def _is_prose(head: str, tail: str) -> bool:
    """Whether a name between the two stands as a word, outside of what is marked as code."""
    is_word = head[-1:] in _BEFORE_WORD and tail[:1] in _BEHIND_WORD
    return is_word and head.count("`") % 2 == 0


def mentions_of(workspace: Workspace, owned: OwnedTool) -> Iterator[RemainingMention]:
    """The texts that say a tool's name, but for its own spec and its exclusions."""
    pattern = compile_mention_pattern([owned.tool.name])
    for toolset in referring_toolsets(workspace, owned):
        for source, path in _texts_with(toolset, pattern):
            if source is owned.tool.source or _is_of_exclusion(source, path, owned):
                continue
            yield left_at(source, path, f"a text says `{owned.tool.name}`")


def _is_of_exclusion(source: Source, path: Path, owned: OwnedTool) -> bool:
    if source is not owned.toolset.source or path[0] != "exclusions":
        return False
    return bool(source.tree["exclusions"][path[1]]["tool"] == owned.tool.name)


def _texts_with(
    toolset: Toolset, pattern: re.Pattern[str] | None
) -> Iterator[tuple[Source, Path]]:
    found = [
        owner.source.home(path)
        for owner in list_text_owners(toolset)
        for path, text in list_prose(owner)
        if any(find_mentions(text, pattern))
    ]
    # Many tools have the texts of one definition.
    yield from dict.fromkeys(found)
    for source in toolset.sources:
        for path, text in _reasons(source.tree, ()):
            if any(find_mentions(text, pattern)):
                yield source, path


def _reasons(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The reasons that a spec gives for its decisions, but for what counts as prose."""
    for key, inner in _entries(value):
        if key == "reason" and isinstance(inner, str):
            yield (*path, key), inner
        elif path or key not in _DATA:
            yield from _reasons(inner, (*path, key))
