"""Conflicts between several sources that list the same tool, and how they are resolved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ..model.language_fields import get_mcp_members
from ..parsing.exact_json import encode_exact
from ..suggestions import format_first
from .formats import ToolSource, quote_name

Path = tuple[str | int, ...]

_MAX_VALUE_CHARACTERS = 70
"""Characters of a value in a message."""
_MAX_NAMES_SHOWN = 8
"""Tool names in a message."""
_NAME_MAPS = frozenset(["properties", "$defs", "definitions", "patternProperties"])
"""Keywords whose members are names, so that a member `required` is not a keyword."""
_DATA_KEYWORDS = frozenset(["default", "const", "examples", "example"])
"""Keywords whose value is compared as a whole, also if it is an object."""
_UNORDERED_KEYWORDS = frozenset(["required", "enum", "type"])
"""Keywords whose array is compared without its order."""
_ABSENT_MEANS: Mapping[str | int, Any] = {"required": [], "properties": {}}
"""Keywords whose absence means the same as an empty value."""

_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A value of a tool that differs between sources.

    Attributes:
        tool: the tool's name.
        path: the path of the value, beginning with a spec field; empty if some sources do not
            list the tool.
        kind: `tool`, `description`, `parameter`, `enum`, `required`, `default`, ...
        excerpts: pairs of a source's name and its value as messages show it, for each source
            whose format can express the value.
        values: the value in each source that has one, by the source's name.
    """

    tool: str
    path: Path
    kind: str
    excerpts: tuple[tuple[str, str], ...]
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def location(self) -> str:
        """The path joined with dots, or `tool` for the tool itself."""
        return escape_excerpt(".".join(map(str, self.path)), 200) or "tool"


def list_conflicts(sources: Sequence[ToolSource]) -> list[Conflict]:
    """Return the conflicts between sources, in the order of the tools and their members.

    A member that a source's format cannot express does not conflict with other sources; see
    `format_unsupported_fields`.
    """
    return [
        conflict
        for name in _tool_names(sources)
        for conflict in _compare_tool(name, sources)
    ]


def format_unsupported_fields(sources: Sequence[ToolSource]) -> Iterator[str]:
    """Yield a note for each field that only some of the sources' formats can express."""
    for source in sources:
        tools_by_field: dict[str, list[str]] = {}
        for tool in source.listing.tools:
            name = tool["name"]
            for member, spec_field in get_mcp_members().items():
                if source.can_express(name, member):
                    continue
                if any(member in (other.find_tool(name) or {}) for other in sources):
                    tools_by_field.setdefault(spec_field, []).append(name)
        for spec_field, tools in tools_by_field.items():
            names = [escape_excerpt(name, 60) for name in tools]
            yield (
                f"{source.name}: the {' and the '.join(source.formats)} cannot express"
                f" `{spec_field}`; another source provides it for"
                f" {format_first(names, _MAX_NAMES_SHOWN)}"
            )


def _tool_names(sources: Sequence[ToolSource]) -> list[str]:
    names = [tool["name"] for source in sources for tool in source.listing.tools]
    return list(dict.fromkeys(names))


def _compare_tool(name: str, sources: Sequence[ToolSource]) -> Iterator[Conflict]:
    tools: dict[str, Mapping[str, Any]] = {}
    for source in sources:
        tool = source.find_tool(name)
        if tool is not None:
            tools[source.name] = tool
    if len(tools) < len(sources):
        excerpts = tuple(
            (source.name, "present" if source.name in tools else "absent")
            for source in sources
        )
        yield Conflict(name, (), "tool", excerpts, tools)
    for member, spec_field in get_mcp_members().items():
        values = {
            source.name: tools[source.name].get(member, _ABSENT)
            for source in sources
            if source.name in tools and source.can_express(name, member)
        }
        yield from _compare_values(name, (spec_field,), values)
    # A source without any spec field for this tool may have a format without spec fields.
    fields = {
        source.name: source.fields[name]
        for source in sources
        if source.name in tools and source.fields.get(name)
    }
    all_fields = [
        spec_field for source in sources for spec_field in source.fields.get(name, {})
    ]
    for spec_field in dict.fromkeys(all_fields):
        values = {
            source: spec_fields.get(spec_field, _ABSENT)
            for source, spec_fields in fields.items()
        }
        yield from _compare_values(name, (spec_field,), values)


def _compare_values(
    tool: str, path: Path, values: Mapping[str, Any]
) -> Iterator[Conflict]:
    """Yield the conflicts at a path and below it.

    Args:
        values: the value of each source by its name; `_ABSENT` if a source has none.
    """
    last = path[-1]
    is_name = _is_name(path)
    if not is_name and last in _ABSENT_MEANS:
        values = {
            source: _ABSENT_MEANS[last] if value is _ABSENT else value
            for source, value in values.items()
        }
    if len({_comparison_key(path, value) for value in values.values()}) < 2:
        return
    all_values = list(values.values())
    if all(isinstance(value, dict) for value in all_values) and (
        is_name or last not in _DATA_KEYWORDS
    ):
        for key in dict.fromkeys(key for value in all_values for key in value):
            members = {
                source: value.get(key, _ABSENT) for source, value in values.items()
            }
            yield from _compare_values(tool, (*path, key), members)
        return
    have_same_length = (
        all(isinstance(value, list) for value in all_values)
        and len({len(value) for value in all_values}) == 1
    )
    if (
        have_same_length
        and last not in _UNORDERED_KEYWORDS
        and any(isinstance(item, dict) for item in all_values[0])
    ):
        for index in range(len(all_values[0])):
            items = {source: value[index] for source, value in values.items()}
            yield from _compare_values(tool, (*path, index), items)
        return
    excerpts = tuple((source, _format_value(value)) for source, value in values.items())
    present = {
        source: value for source, value in values.items() if value is not _ABSENT
    }
    yield Conflict(tool, path, _classify_conflict(path), excerpts, present)


def _is_name(path: Path) -> bool:
    return len(path) > 1 and path[-2] in _NAME_MAPS


def _classify_conflict(path: Path) -> str:
    if len(path) > 1 and path[-2] in ("properties", "patternProperties"):
        return "parameter" if path[0] == "parameters" else "result"
    last = str(path[-1])
    if last in ("description", "enum", "required", "default", "title", "type"):
        return last
    is_in_schema = path[0] in ("parameters", "returns") and len(path) > 1
    return "schema" if is_in_schema else str(path[0])


def _comparison_key(path: Path, value: Any) -> str:
    """Return a string that is equal for values with the same meaning at this path."""
    if value is _ABSENT:
        return ""
    if isinstance(value, dict):
        members = [
            (key, _comparison_key((*path, key), member))
            for key, member in value.items()
        ]
        return repr(sorted(members))
    if isinstance(value, list):
        items = [
            _comparison_key((*path, index), item) for index, item in enumerate(value)
        ]
        is_unordered = path[-1] in _UNORDERED_KEYWORDS and not _is_name(path)
        return repr(sorted(items) if is_unordered else items)
    return encode_exact(value)


def _format_value(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return f"present ({escape_excerpt(value['type'], 40)})"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return escape_excerpt(", ".join(item or '""' for item in value), 400) or "none"
    text = value if isinstance(value, str) else encode_exact(value)
    return escape_excerpt(text, _MAX_VALUE_CHARACTERS)


def format_conflicts(conflicts: Sequence[Conflict]) -> Iterator[str]:
    """Yield the lines of a report: per tool, the conflicts with the sources of each value."""
    for tool, tool_conflicts in groupby(conflicts, lambda conflict: conflict.tool):
        yield escape_excerpt(tool, 128)
        for conflict in tool_conflicts:
            sources_by_excerpt: dict[str, list[str]] = {}
            for source, excerpt in conflict.excerpts:
                sources_by_excerpt.setdefault(excerpt, []).append(source)
            yield f"  {conflict.location}{_kind_suffix(conflict)}"
            for excerpt, sources in sources_by_excerpt.items():
                yield f"    {', '.join(sources)}: {excerpt}"


def _kind_suffix(conflict: Conflict) -> str:
    """Return the kind in parentheses, or "" if the location already ends in it."""
    is_last_key = conflict.location.rpartition(".")[2] == conflict.kind
    return "" if is_last_key else f" ({conflict.kind})"


def build_conflict_objects(
    conflicts: Sequence[Conflict], unresolved: Sequence[Conflict]
) -> list[dict[str, Any]]:
    """Return a JSON object for each conflict, for the output of `--format json`.

    Args:
        conflicts: all conflicts.
        unresolved: the conflicts for which no source is preferred.
    """
    return [
        {
            "tool": conflict.tool,
            "path": list(conflict.path),
            "kind": conflict.kind,
            "values": dict(conflict.values),
            "absent": [
                source
                for source, _ in conflict.excerpts
                if source not in conflict.values
            ],
            "is_unresolved": conflict in unresolved,
        }
        for conflict in conflicts
    ]


class InvalidPreferenceError(ValueError):
    """Value of `--prefer` that does not name a source or a tool."""


def parse_preferences(
    options: Iterable[str], sources: Sequence[ToolSource]
) -> dict[str, str]:
    """Return the preferred source of each tool from the values of `--prefer`.

    The key "" has the source for all other tools. An option identifies a source by its path,
    by its file name, or by its 1-based number.

    Args:
        options: values in the form `SOURCE` or `TOOL=SOURCE`.
        sources: all sources of the import.

    Raises:
        InvalidPreferenceError: an option has an unknown source or tool, or two options prefer
            different sources for the same tool.
    """
    preferences: dict[str, str] = {}
    tools = set(_tool_names(sources))
    source_names = _index_source_names(sources)
    for option in options:
        # A path that contains `=` is a source, not a tool and a source.
        if option in source_names:
            tool, source = "", option
        else:
            tool, _, source = option.rpartition("=")
        if source not in source_names:
            choices = ", ".join(f"`{source.name}`" for source in sources)
            raise InvalidPreferenceError(
                f"unknown source `{escape_excerpt(source)}`\n  help: use one of {choices}"
            )
        if tool and tool not in tools:
            raise InvalidPreferenceError(
                f"unknown tool `{escape_excerpt(tool)}`\n"
                "  help: name a tool that one of the sources lists"
            )
        name = source_names[source]
        if preferences.setdefault(tool, name) != name:
            subject = f" for `{escape_excerpt(tool)}`" if tool else ""
            raise InvalidPreferenceError(
                f"two sources are preferred{subject}\n  help: prefer one of them"
            )
    return preferences


def _preferred_source(preferences: Mapping[str, str], tool: str) -> str | None:
    return preferences.get(tool, preferences.get(""))


def _index_source_names(sources: Sequence[ToolSource]) -> dict[str, str]:
    """Return the names of sources by each way to identify them: file name, number, name."""
    file_names = [os.path.basename(source.name) for source in sources]
    index: dict[str, str] = {}
    for file_name, source in zip(file_names, sources, strict=True):
        if file_names.count(file_name) == 1:
            index[file_name] = source.name
    # Numbers override file names, and full names override both.
    index |= {str(number): source.name for number, source in enumerate(sources, 1)}
    return index | {source.name: source.name for source in sources}


def list_unresolved_conflicts(
    conflicts: Iterable[Conflict], preferences: Mapping[str, str]
) -> list[Conflict]:
    """Return the conflicts of tools without a preferred source."""
    return [
        conflict
        for conflict in conflicts
        if _preferred_source(preferences, conflict.tool) is None
    ]


def merge_sources(
    sources: Sequence[ToolSource], preferences: Mapping[str, str]
) -> ToolSource:
    """Merge sources into one; where they conflict, use the preferred source of the tool.

    A tool that its preferred source does not list is left out, with a note. A member that the
    preferred source's format cannot express comes from the first other source that has it.

    Args:
        sources: at least one source.
        preferences: the result of `parse_preferences`; resolves all conflicts.
    """
    names = _tool_names(sources)
    tools: list[Mapping[str, Any]] = []
    fields: dict[str, Mapping[str, Any]] = {}
    omission_notes: list[str] = []
    for name in names:
        preferred = _preferred_source(preferences, name)
        by_priority = sorted(sources, key=lambda source: source.name != preferred)
        if preferred is not None and by_priority[0].find_tool(name) is None:
            omission_notes.append(
                f"{quote_name(name)} is skipped: {preferred} does not list it"
            )
            continue
        listing_sources = [s for s in by_priority if s.find_tool(name) is not None]
        tools.append(_merge_tool(name, listing_sources))
        spec_fields = [s.fields[name] for s in listing_sources if name in s.fields]
        if spec_fields:
            fields[name] = spec_fields[0]
    default_source = preferences.get("")
    first = next((s for s in sources if s.name == default_source), sources[0])
    listing = replace(
        first.listing,
        source=", ".join(source.name for source in sources),
        tools=tuple(tools),
        notes=tuple(note for source in sources for note in source.listing.notes),
        is_partial=any(source.listing.is_partial for source in sources),
    )
    formats = [format_ for source in sources for format_ in source.formats]
    source_notes = [note for source in sources for note in source.notes]
    rejected = {
        name: reason
        for source in sources
        for name, reason in source.rejected.items()
        if name not in names
    }
    return ToolSource(
        listing.source,
        tuple(dict.fromkeys(formats)),
        listing,
        fields=fields,
        notes=(*source_notes, *omission_notes),
        rejected=rejected,
    )


def _merge_tool(name: str, sources: Sequence[ToolSource]) -> Mapping[str, Any]:
    """Return the tool of the first source, completed by members its format cannot express."""
    first, *others = sources
    tool = dict(first.find_tool(name) or {})
    for member in get_mcp_members():
        if member in tool or first.can_express(name, member):
            continue
        for other in others:
            other_tool = other.find_tool(name) or {}
            if member in other_tool:
                tool[member] = other_tool[member]
                break
    return tool
