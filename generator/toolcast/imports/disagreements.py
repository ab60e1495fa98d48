"""Where several lists of tools contradict each other, by tool and path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcast_runtime.calls.untrusted_text import escaped

from ..reading.exact_json import exact_text
from .source import MEMBERS, Source

__all__ = ["Disagreement", "disagreements", "unsaid"]

Path = tuple[str | int, ...]

_LONGEST = 70
_MAPS = frozenset(["properties", "$defs", "definitions", "patternProperties"])
_WHOLE = frozenset(["default", "const", "examples", "example"])
# The order of these says nothing.
_SETS = frozenset(["required", "enum", "type"])
_NONE_IS: Mapping[str | int, Any] = {"required": [], "properties": {}}


class _Absent:
    def __repr__(self) -> str:
        return "absent"


_ABSENT = _Absent()


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
    def place(self) -> str:
        """The path with dots; `tool` for the tool itself."""
        return escaped(".".join(map(str, self.path)), 200) or "tool"


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
            for member, spec_field in MEMBERS.items():
                if not source.can_say(tool["name"], member) and any(
                    member in (other.tool(tool["name"]) or {}) for other in sources
                ):
                    lost.setdefault(spec_field, []).append(tool["name"])
        for spec_field, tools in lost.items():
            named = ", ".join(escaped(name, 60) for name in tools[:8])
            more = f" and {len(tools) - 8} more" if len(tools) > 8 else ""
            forms = " and ".join(source.forms)
            yield (
                f"{source.name} is in {forms}, which has no `{spec_field}`: that of"
                f" {named}{more} comes from another source"
            )


def _of_tool(name: str, sources: Sequence[Source]) -> Iterator[Disagreement]:
    having = {one.name: tool for one in sources if (tool := one.tool(name)) is not None}
    if len(having) < len(sources):
        shown = [(s.name, "present" if s.name in having else "absent") for s in sources]
        yield Disagreement(name, (), "tool", tuple(shown), having)
    for member, spec_field in MEMBERS.items():
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
    return exact_text(value)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return f"present ({escaped(value['type'], 40)})"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return escaped(", ".join(one or '""' for one in value), 400) or "none"
    return escaped(exact_text(value) if not isinstance(value, str) else value, _LONGEST)
