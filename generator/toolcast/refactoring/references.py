"""References to a tool in specs: fields that contain its name, and texts that mention it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..analysis.texts import list_prose, list_text_owners
from ..analysis.tool_names import (
    collect_other_names,
    compile_mention_pattern,
    find_mentions,
    is_ambiguous_name,
)
from ..model.model import Toolset, Workspace
from ..model.toolset_parts import ResourceSpec
from ..parsing.tree import Path, Source
from ..spec_language.name_fields import TOOL_NAME_KINDS, find_names
from .project_edit import EditSession, OwnedTool, RemainingMention, build_mention

Pattern = tuple[str, ...]

_WORD_PREFIXES = ("", " ", "\n", "*", "(")
_WORD_SUFFIXES = ("", *" \n.,;:!?*)'’")
_CONTEXT_CHARACTERS = 20
"""The number of characters before a name that are checked to recognize a mention."""
_CONTENT_PATH: Path = ("file",)
"""The path that stands for the content of a resource's file."""

# The search for `reason` texts skips these fields: in data a key `reason` can have any
# meaning, and `list_prose` already returns the texts of the others.
_FIELDS_WITHOUT_REASONS = frozenset(
    "parameters returns examples meta mcp annotations skill deprecated".split()
)


def list_reference_paths(
    name: str, tree: Any, file: str, extensions: tuple[str, ...] = ()
) -> list[Path]:
    """Return the paths of the fields that refer to a tool.

    Args:
        name: the tool's name.
        tree: the parsed file.
        file: the kind of file: `tool`, `toolset`, ...
        extensions: extensions whose fields are searched, too.
    """
    places = find_names(tree, file, TOOL_NAME_KINDS, extensions)
    return [place.path for place in places if place.name == name and not place.is_key]


def list_matching_paths(value: Any, pattern: Pattern, name: str) -> Iterator[Path]:
    """Yield the paths that match a pattern and have a name as their value.

    Args:
        value: the parsed file.
        pattern: the keys of the path; `*` matches every key or index.
        name: the value to find.
    """
    matches: list[tuple[Path, Any]] = [((), value)]
    for step in pattern:
        matches = [
            ((*path, key), child)
            for path, parent in matches
            for key, child in _list_entries(parent)
            if step in ("*", key)
        ]
    for path, match in matches:
        if match == name:
            yield path


def _list_entries(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def list_referring_toolsets(workspace: Workspace, owned: OwnedTool) -> list[Toolset]:
    """Return the toolsets in which the tool's name certainly refers to this tool.

    If several toolsets have a tool with the name, the result is only the tool's own
    toolset.
    """
    name = owned.tool.name
    toolsets_with_tool = [
        toolset
        for toolset in workspace.toolsets
        if any(tool.name == name for tool in toolset.tools)
    ]
    if len(toolsets_with_tool) == 1:
        return list_possible_toolsets(workspace, owned)
    return [owned.toolset]


def list_possible_toolsets(workspace: Workspace, owned: OwnedTool) -> list[Toolset]:
    """Return the toolsets in which the tool's name may refer to this tool.

    These are its own toolset, and those that do not use the name for a tool of their
    own, a previous or reserved name, or a tool of an external server.
    """
    name = owned.tool.name
    return [
        toolset
        for toolset in workspace.toolsets
        if toolset is owned.toolset or not _uses_name(toolset, name)
    ]


def _uses_name(toolset: Toolset, name: str) -> bool:
    if name in toolset.reserved_names:
        return True
    if any(name in (tool.name, *tool.renamed_from) for tool in toolset.tools):
        return True
    return any(server.declares_tool(name) for server in toolset.mcp_servers)


def rename_references(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, new: str
) -> None:
    """Rename a tool in every field of specs that refers to it.

    Toolsets that use the name for something else are skipped.
    """
    name = owned.tool.name
    for toolset in list_referring_toolsets(workspace, owned):
        # In another toolset, a field of an extension may refer to a different tool.
        if toolset is owned.toolset:
            tree = toolset.source.tree
            extensions = workspace.extensions
            for path in list_reference_paths(name, tree, "toolset", extensions):
                editing.get_text(toolset.source).set_name(path, new)
        for tool in toolset.tools:
            for path in list_reference_paths(name, tool.source.tree, "tool"):
                editing.get_text(tool.source).set_name(path, new)


def rename_mentions(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, new: str
) -> None:
    """Rename a tool in the texts of specs and in text files of resources.

    Toolsets in which the name also has another meaning are skipped.
    """
    name = owned.tool.name
    pattern = compile_mention_pattern([name])
    for toolset in list_referring_toolsets(workspace, owned):
        # The word also names something else here, such as a parameter: a mention is
        # ambiguous.
        if name in collect_other_names(toolset):
            continue
        for source, path in _list_mentioning_texts(toolset, pattern):
            if path != _CONTENT_PATH:
                editing.get_text(source).rewrite_text(
                    path, lambda text: rename_in_text(text, pattern, new)
                )
        for spec in toolset.mcp_resources:
            _rename_in_resource_file(editing, toolset, spec, pattern, new)


def _rename_in_resource_file(
    editing: EditSession,
    toolset: Toolset,
    spec: ResourceSpec,
    pattern: re.Pattern[str] | None,
    new: str,
) -> None:
    """Rename a tool in the file of a resource, if the file is UTF-8 text."""
    before = spec.content or b""
    try:
        after = rename_in_text(before.decode("utf-8"), pattern, new).encode("utf-8")
    except UnicodeDecodeError:
        return
    if after != before:
        editing.set_bytes(f"{toolset.folder}/{spec.file}", before, after)


def rename_in_text(text: str, pattern: re.Pattern[str] | None, new: str) -> str:
    """Return a text in which mentions of a tool have a new name.

    Mentions in code, such as paths and addresses, stay. A new name that is an ordinary
    word gets backticks where readers would not recognize it as a name.

    Args:
        text: the text.
        pattern: finds the old name; None finds nothing.
        new: the new name.
    """
    new_pattern = compile_mention_pattern([new])
    for mention in reversed(list(find_mentions(text, pattern))):
        if mention.is_code:
            continue
        head, tail = text[: mention.start], text[mention.start + len(mention.name) :]
        text = head + new + tail
        # A name that is an ordinary word needs backticks if it would not be recognized
        # otherwise.
        if is_ambiguous_name(new) and _is_prose_mention(head, tail):
            context = head[-_CONTEXT_CHARACTERS:]
            excerpt = context + new + tail[:1]
            starts = [m.start for m in find_mentions(excerpt, new_pattern)]
            if len(context) not in starts:
                text = f"{head}`{new}`{tail}"
    return text


def _is_prose_mention(head: str, tail: str) -> bool:
    """Return whether a name between two texts is a separate word, not in code."""
    is_word = head[-1:] in _WORD_PREFIXES and tail[:1] in _WORD_SUFFIXES
    return is_word and head.count("`") % 2 == 0


def list_mentions(workspace: Workspace, owned: OwnedTool) -> Iterator[RemainingMention]:
    """Yield the texts of specs that mention a tool.

    The tool's own spec, and the reasons of its exclusions, are skipped.
    """
    pattern = compile_mention_pattern([owned.tool.name])
    for toolset in list_referring_toolsets(workspace, owned):
        for source, path in _list_mentioning_texts(toolset, pattern):
            is_own = source is owned.tool.source
            if not is_own and not _is_in_own_exclusion(source, path, owned):
                text = f"the text mentions `{owned.tool.name}`"
                yield build_mention(source, path, text)


def _is_in_own_exclusion(source: Source, path: Path, owned: OwnedTool) -> bool:
    if source is not owned.toolset.source or path[0] != "exclusions":
        return False
    return bool(source.tree["exclusions"][path[1]]["tool"] == owned.tool.name)


def _list_mentioning_texts(
    toolset: Toolset, pattern: re.Pattern[str] | None
) -> Iterator[tuple[Source, Path]]:
    """Yield the file and path of each text of a toolset in which a pattern finds a mention."""
    prose = [
        owner.source.home(path)
        for owner in list_text_owners(toolset)
        for path, text in list_prose(owner)
        if any(find_mentions(text, pattern))
    ]
    # Several tools can use the text of a shared definition: yield it once.
    yield from dict.fromkeys(prose)
    for source in toolset.sources:
        for path, text in _list_reasons(source.tree, ()):
            if any(find_mentions(text, pattern)):
                yield source, path


def _list_reasons(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield each `reason` text of a spec with its path, in document order.

    Fields with data or prose at the top level are skipped.
    """
    for key, child in _list_entries(value):
        if key == "reason" and isinstance(child, str):
            yield (*path, key), child
        elif path or key not in _FIELDS_WITHOUT_REASONS:
            yield from _list_reasons(child, (*path, key))
