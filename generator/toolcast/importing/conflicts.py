"""Where several sources say different things of a tool, and which of them counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ..model.language_fields import mcp_members
from ..parsing.exact_json import encode_exact
from ..suggestions import format_first
from .formats import Source

Path = tuple[str | int, ...]

_MAX_VALUE_CHARACTERS = 70
"""Characters of a value in a message."""
_MAX_NAMES_SHOWN = 8
"""Tool names in a message."""
_MAPS = frozenset(["properties", "$defs", "definitions", "patternProperties"])
_WHOLE = frozenset(["default", "const", "examples", "example"])
# The order of these says nothing.
_SETS = frozenset(["required", "enum", "type"])
_NONE_IS: Mapping[str | int, Any] = {"required": [], "properties": {}}


_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One thing that several sources say of a tool, and not alike.

    Attributes:
        tool: its name.
        path: where in the tool, by the fields of a spec; empty where the tool itself is
            not in every source.
        kind: `tool`, `description`, `parameter`, `enum`, `required`, `default`, ...
        shown: what each source says that can say it, by the source's name, as it is shown.
        values: the same as it stands there, of those where it does.
    """

    tool: str
    path: Path
    kind: str
    shown: tuple[tuple[str, str], ...]
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def location(self) -> str:
        """The path with dots; `tool` for the tool itself."""
        return escape_excerpt(".".join(map(str, self.path)), 200) or "tool"


def disagreements(sources: Sequence[Source]) -> list[Disagreement]:
    """Every contradiction, in the order of the tools, and of what is said of them.

    A member that the form of a list has no place for contradicts nothing; see `unsaid`.
    """
    names = dict.fromkeys(t["name"] for one in sources for t in one.listing.tools)
    return [found for name in names for found in _of_tool(name, sources)]


def unsaid(sources: Sequence[Source]) -> Iterator[str]:
    """What some lists say of tools and others have no place for, a line for each."""
    for source in sources:
        lost: dict[str, list[str]] = {}
        for tool in source.listing.tools:
            for member, spec_field in mcp_members().items():
                if not source.can_say(tool["name"], member) and any(
                    member in (other.tool(tool["name"]) or {}) for other in sources
                ):
                    lost.setdefault(spec_field, []).append(tool["name"])
        for spec_field, tools in lost.items():
            named = format_first(
                [escape_excerpt(name, 60) for name in tools], _MAX_NAMES_SHOWN
            )
            forms = " and ".join(source.forms)
            yield (
                f"{source.name} is in {forms}, which has no `{spec_field}`: that of"
                f" {named} comes from another source"
            )


def _of_tool(name: str, sources: Sequence[Source]) -> Iterator[Disagreement]:
    having = {one.name: tool for one in sources if (tool := one.tool(name)) is not None}
    if len(having) < len(sources):
        shown = [(s.name, "present" if s.name in having else "absent") for s in sources]
        yield Disagreement(name, (), "tool", tuple(shown), having)
    for member, spec_field in mcp_members().items():
        values = {
            one.name: having[one.name].get(member, _ABSENT)
            for one in sources
            if one.name in having and one.can_say(name, member)
        }
        yield from _of_value(name, (spec_field,), values)
    fields = {one.name: one.fields.get(name, {}) for one in sources}
    for spec_field in dict.fromkeys(key for one in fields.values() for key in one):
        # Who has none of them may be in a form that has no such fields.
        given = {
            source: each.get(spec_field, _ABSENT)
            for source, each in fields.items()
            if each and source in having
        }
        yield from _of_value(name, (spec_field,), given)


def _of_value(
    tool: str, path: Path, values: Mapping[str, Any]
) -> Iterator[Disagreement]:
    last = path[-1]
    is_name = len(path) > 1 and path[-2] in _MAPS
    if not is_name and last in _NONE_IS:
        values = {k: _NONE_IS[last] if v is _ABSENT else v for k, v in values.items()}
    if len({_compared(path, value) for value in values.values()}) < 2:
        return
    if all(isinstance(one, dict) for one in values.values()) and (
        is_name or last not in _WHOLE
    ):
        for key in dict.fromkeys(key for one in values.values() for key in one):
            inner = {k: one.get(key, _ABSENT) for k, one in values.items()}
            yield from _of_value(tool, (*path, key), inner)
        return
    if last == "items" or all(isinstance(one, list) for one in values.values()):
        lists = list(values.values())
        same = all(isinstance(o, list) for o in lists) and len(set(map(len, lists))) < 2
        if same and last not in _SETS and any(isinstance(i, dict) for i in lists[0]):
            for index in range(len(lists[0])):
                inner = {k: one[index] for k, one in values.items()}
                yield from _of_value(tool, (*path, index), inner)
            return
    shown = tuple((source, _shown(one)) for source, one in values.items())
    there = {source: one for source, one in values.items() if one is not _ABSENT}
    yield Disagreement(tool, path, _kind(path, values), shown, there)


def _kind(path: Path, values: Mapping[str, Any]) -> str:
    if len(path) > 1 and path[-2] in ("properties", "patternProperties"):
        return "parameter" if path[0] == "parameters" else "result"
    last = str(path[-1])
    known = ("description", "enum", "required", "default", "title", "type")
    if last in known:
        return last
    is_inner = path[0] in ("parameters", "returns") and len(path) > 1
    return "schema" if is_inner else str(path[0])


def _compared(path: Path, value: Any) -> str:
    """A text that is the same for values that mean the same."""
    if value is _ABSENT:
        return ""
    is_name = len(path) > 1 and path[-2] in _MAPS
    if isinstance(value, dict):
        inner = sorted(
            (key, _compared((*path, key), one)) for key, one in value.items()
        )
        return repr(inner)
    if isinstance(value, list):
        items = [_compared((*path, index), one) for index, one in enumerate(value)]
        return repr(sorted(items) if path[-1] in _SETS and not is_name else items)
    return encode_exact(value)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return f"present ({escape_excerpt(value['type'], 40)})"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return escape_excerpt(", ".join(one or '""' for one in value), 400) or "none"
    return escape_excerpt(
        encode_exact(value) if not isinstance(value, str) else value,
        _MAX_VALUE_CHARACTERS,
    )


def lines_of_disagreements(found: Sequence[Disagreement]) -> Iterator[str]:
    """A block for each tool: where the sources say what, those together that agree."""
    for tool, several in groupby(found, lambda one: one.tool):
        yield escape_excerpt(tool, 128)
        for one in several:
            by_word: dict[str, list[str]] = {}
            for source, shown in one.shown:
                by_word.setdefault(shown, []).append(source)
            yield f"  {one.location}{_kind_of_value(one)}"
            for shown, sources in by_word.items():
                yield f"    {', '.join(sources)}: {shown}"


def json_of_disagreements(
    found: Sequence[Disagreement], left: Sequence[Disagreement]
) -> list[dict[str, Any]]:
    """An object for each: the values as they stand there, and where there is none.

    Args:
        found: all of them.
        left: those for which nobody chose a source.
    """
    return [
        {
            "tool": one.tool,
            "path": list(one.path),
            "kind": one.kind,
            "values": dict(one.values),
            "absent": [name for name, _ in one.shown if name not in one.values],
            "is_undecided": one in left,
        }
        for one in found
    ]


def _kind_of_value(one: Disagreement) -> str:
    """The kind, where the place does not end with it."""
    return "" if one.location.rpartition(".")[2] == one.kind else f" ({one.kind})"


class InvalidPreferenceError(ValueError):
    """Value of `--prefer` that does not name a source or a tool."""


def preference(words: Iterable[str], sources: Sequence[Source]) -> dict[str, str]:
    """The source that the words `SOURCE` and `TOOL=SOURCE` choose, by the name of the tool.

    That for every other tool has the name "". A source is named by its path, by its file's
    name, or by its number from 1.

    Raises:
        InvalidPreferenceError: there is no such source or tool, or two words say it of one.
    """
    preferred: dict[str, str] = {}
    known = {tool["name"] for one in sources for tool in one.listing.tools}
    named = _named(sources)
    for word in words:
        whole = named.get(word)
        tool, _, source = ("", "", word) if whole else word.rpartition("=")
        chosen = whole or named.get(source)
        if chosen is None:
            there = ", ".join(f"`{one.name}`" for one in sources)
            raise InvalidPreferenceError(
                f"`{escape_excerpt(source)}` names none of the sources; there are {there}"
            )
        if tool and tool not in known:
            raise InvalidPreferenceError(
                f"no source has a tool `{escape_excerpt(tool)}`"
            )
        if preferred.setdefault(tool, chosen) != chosen:
            about = f" for `{escape_excerpt(tool)}`" if tool else ""
            raise InvalidPreferenceError(f"two sources are preferred{about}")
    return preferred


def _counts(preferred: Mapping[str, str], tool: str) -> str | None:
    """The source that counts for a tool; None where none is chosen."""
    return preferred.get(tool, preferred.get(""))


def _named(sources: Sequence[Source]) -> dict[str, str]:
    bases = [os.path.basename(one.name) for one in sources]
    named = {base: s.name for base, s in zip(bases, sources, strict=True)}
    named = {base: name for base, name in named.items() if bases.count(base) == 1}
    named |= {str(number): one.name for number, one in enumerate(sources, 1)}
    return named | {one.name: one.name for one in sources}


def undecided(
    found: Iterable[Disagreement], preferred: Mapping[str, str]
) -> list[Disagreement]:
    """The contradictions for which nobody chose a source."""
    return [one for one in found if _counts(preferred, one.tool) is None]


def reconciled(sources: Sequence[Source], preferred: Mapping[str, str]) -> Source:
    """The list that holds what the sources agree on, and else what the chosen one says.

    A tool that the chosen source does not have is left out. What its form has no place
    for comes from the first other source that says it.

    Args:
        sources: at least one.
        preferred: who counts; none of their disagreements is undecided.
    """
    names = dict.fromkeys(t["name"] for one in sources for t in one.listing.tools)
    tools: list[Mapping[str, Any]] = []
    fields: dict[str, Mapping[str, Any]] = {}
    left_out: list[str] = []
    for name in names:
        chosen = _counts(preferred, name)
        in_order = sorted(sources, key=lambda one: one.name != chosen)
        if chosen is not None and in_order[0].tool(name) is None:
            left_out.append(
                f"`{escape_excerpt(name, 80)}` is left out: {chosen} does not have it"
            )
            continue
        having = [one for one in in_order if one.tool(name) is not None]
        tools.append(_completed(name, having))
        added = [one.fields[name] for one in having if name in one.fields]
        if added:
            fields[name] = added[0]
    first = next((one for one in sources if one.name == preferred.get("")), sources[0])
    notes = tuple(note for one in sources for note in one.notes)
    listing = replace(
        first.listing,
        source=", ".join(one.name for one in sources),
        tools=tuple(tools),
        notes=tuple(note for one in sources for note in one.listing.notes),
        is_partial=any(one.listing.is_partial for one in sources),
    )
    forms = tuple(dict.fromkeys(form for one in sources for form in one.forms))
    refused = {k: v for s in sources for k, v in s.refused.items() if k not in names}
    notes += tuple(left_out)
    return Source(listing.source, forms, listing, {}, fields, notes, refused)


def _completed(name: str, having: Sequence[Source]) -> Mapping[str, Any]:
    """The tool of the first source, with what only the forms of others can say."""
    first, *others = having
    tool = dict(first.tool(name) or {})
    for member in mcp_members():
        if member in tool or first.can_say(name, member):
            continue
        for other in others:
            their_tool = other.tool(name) or {}
            if member in their_tool:
                tool[member] = their_tool[member]
                break
    return tool
