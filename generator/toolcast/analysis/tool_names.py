"""Which names of tools texts of a toolset may say: present ones, former ones, and those of none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ..model.model import Toolset, Workspace
from .texts import collect_strings
from .tool_search import get_server_tool_names

NOT_LISTED_REASON = "The server does not list it any more."
"""Why an import reserves a name; it is free again where the server lists it again."""
_BEFORE, _BEHIND = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"
# As clients call a server's tool: `mcp__notes__find_note`.
_OF_SERVER = r"mcp__[A-Za-z0-9_-]+?__"
# `memory` is a word of the language, and a tool's name where somebody is told to call it.
_WORD = re.compile(r"[A-Za-z][a-z]*")
_ORDERS = r"\b(?:[Cc]all|[Ii]nvoke|[Pp]refer|[Rr]un)(?:s|ed|ing)?\s+"
_CODE_BEFORE = frozenset("/\\=@$<")
_CODE_BEHIND = re.compile(r"[/\\=]|\.\w")


class Mention(NamedTuple):
    """One place of a text that says a name.

    Attributes:
        name: the name.
        start: where it begins in the text.
        is_code: it is part of a path, an address or an expression, and may be something
            else's.
    """

    name: str
    start: int
    is_code: bool


def compile_mention_pattern(
    names: Iterable[str], *, in_code: bool = False
) -> re.Pattern[str] | None:
    """What finds the names in a text; None without names.

    A name that is a plain word counts in backticks, behind `call`, `invoke`, `prefer` and
    `run`, and behind a server's name as clients write it. The name is the one group that matched.

    Args:
        in_code: such a word counts as a literal of its own, too: `"memory"`.
    """
    ordered = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(n) for n in ordered if is_plain_word(n))
    others = "|".join(re.escape(n) for n in ordered if not is_plain_word(n))
    parts = [rf"{_BEFORE}(?:{_OF_SERVER})?({others}){_BEHIND}"] if others else []
    if words:
        if in_code:
            parts.append(rf"(?<=[\"'])({words})(?=[\"'])")
        parts += [rf"`({words})`", rf"{_ORDERS}({words}){_BEHIND}"]
        parts.append(rf"{_BEFORE}{_OF_SERVER}({words}){_BEHIND}")
    return re.compile("|".join(parts)) if parts else None


def is_plain_word(name: str) -> bool:
    """Whether a name may be a word of the language as well: `memory`."""
    return _WORD.fullmatch(name) is not None


def find_mentions(text: str, pattern: re.Pattern[str] | None) -> Iterator[Mention]:
    """The mentions of a text, in its order."""
    for match in () if pattern is None else pattern.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        before = text[start - 1 : start]
        is_code = before in _CODE_BEFORE if before else False
        is_code = is_code or _CODE_BEHIND.match(text, end) is not None
        yield Mention(match[group], start, is_code)


def find_names_in_lines(
    lines: Iterable[str], pattern: re.Pattern[str]
) -> Iterator[tuple[str, int, int]]:
    """The names that lines say, each with its line and column, which count from 1."""
    for number, line in enumerate(lines, 1):
        for match in pattern.finditer(line):
            group = match.lastindex or 0
            yield match[group], number, match.start(group) + 1


# A name of several words; what has a dot, slash or bracket beside it is a file or code.
_NAME = r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"
_MENTION = re.compile(
    rf"(?<![\w./$@:\\<-])(?:`({_NAME})`|([a-z][a-z0-9]*(?:_[a-z0-9]+)+))"
    r"(?![\w/\\=>(-]|\.\w|[\"']?:)"
)
_PARTS = re.compile(r"[_.-]|(?<=[a-z0-9])(?=[A-Z])")
_MAX_NEIGHBORS = 40
"""Tools with the same first, or the same last, name part that are compared with a word."""
_MAX_UNKNOWN_WORDS = 2_000
"""Words without a tool of that name that are compared; texts with more are not prose."""
_MAX_NAME_CHARACTERS = 128
"""Length of a word that can be a tool name."""


@lru_cache(maxsize=8)
def get_tool_names(toolset: Toolset, workspace: Workspace) -> ToolNames:
    """The names that a toolset's texts may say."""
    return ToolNames(toolset, workspace)


class ToolNames:
    """The names that texts of a toolset may say, and those of its tools.

    Attributes:
        retired: its former and reserved names, each with what to do where it stands.
    """

    def __init__(self, toolset: Toolset, workspace: Workspace) -> None:
        # Case is folded once for each word: most come again in many tools.
        self._known = frozenset(map(str.casefold, _known(toolset, workspace)))
        self._by_end: dict[tuple[str, bool], list[tuple[str, list[str]]]] = {}
        external = (
            n for server in toolset.listed_servers for n in server.declared_names
        )
        for name in (*(tool.name for tool in toolset.tools), *external):
            parts = _parts(name)
            for key in ((parts[0], True), (parts[-1], False)):
                self._by_end.setdefault(key, []).append((name, parts))
        self._helps: dict[str, str] = {}
        self.retired = _removed(toolset)
        self._removed_pattern = compile_mention_pattern(self.retired)

    def find_retired_names(self, text: str) -> Iterator[tuple[str, str]]:
        """The former and reserved names that a text says, with a help."""
        for name in dict.fromkeys(
            m.name for m in find_mentions(text, self._removed_pattern)
        ):
            yield name, self.retired[name]

    def find_unknown_names(self, text: str) -> Iterator[tuple[str, str]]:
        """The words of a text that look like a tool's name and are none, with a help."""
        if "_" not in text and "`" not in text:
            return
        found = (match[1] or match[2] for match in _MENTION.finditer(text))
        for word in dict.fromkeys(found):
            if len(word) <= _MAX_NAME_CHARACTERS and word.casefold() not in self._known:
                help_ = self._helps.get(word)
                if help_ is None and len(self._helps) >= _MAX_UNKNOWN_WORDS:
                    return
                if help_ is None:
                    help_ = self._helps[word] = self._help(word)
                if help_:
                    yield word, help_

    def _help(self, word: str) -> str:
        """What to write instead; empty where the word resembles no tool's name."""
        parts = _parts(word)
        near = [
            *self._by_end.get((parts[0], True), ())[:_MAX_NEIGHBORS],
            *self._by_end.get((parts[-1], False), ())[:_MAX_NEIGHBORS],
        ]
        name, likeness = max(
            ((name, _likeness(parts, other)) for name, other in near),
            key=lambda pair: pair[1],
            default=("", 0.0),
        )
        if likeness < 0.5:
            return ""
        return (
            f"did you mean `{name}`? A tool that is gone belongs into `reserved_names`,"
            " the old name of one into its `renamed_from`"
        )


def _removed(toolset: Toolset) -> dict[str, str]:
    removed = {
        name: f"remove it; it is reserved: {reason}"
        for name, reason in toolset.reserved_names.items()
    }
    owners: dict[str, str] = {}
    for tool in toolset.tools:
        for former in tool.renamed_from:
            owners.setdefault(former, tool.name)
    for former, name in owners.items():
        removed[former] = f"write `{name}`, its name now"
    for tool in toolset.tools:
        removed.pop(tool.name, None)
    return removed


def collect_other_names(toolset: Toolset) -> set[str]:
    """What a toolset's words mean beside tools: parameters, values, sections and the like."""
    values: list[Any] = [
        [section.name for section in toolset.sections],
        [client.name for client in toolset.clients],
        dict(toolset.permissions),
        {name: list(tables) for name, tables in toolset.pools.items()},
    ]
    for tool in toolset.tools:
        values += [tool.parameters, tool.returns, tool.meta, tool.mcp_extra]
        values += [tool.service, tool.data]
        values += [example.arguments for example in tool.examples]
        values += [example.result for example in tool.examples]
        if tool.actions is not None:
            values.append([action.name for action in tool.actions.values])
    for spec in toolset.mcp_specs:
        values.append(spec.name)
    for resource in toolset.mcp_resources:
        values.append({**resource.variables})
    for prompt in toolset.mcp_prompts:
        values += [[one.name, *one.enum] for one in prompt.arguments]
    return {toolset.name, *_short(values)}


def _known(toolset: Toolset, workspace: Workspace) -> set[str]:
    """All words that are something else than an unknown tool."""
    known = collect_other_names(toolset).union(
        toolset.reserved_names, get_server_tool_names(toolset)
    )
    for other in workspace.toolsets:
        for tool in other.tools:
            known.update((tool.name, *tool.renamed_from))
    for server in toolset.listed_servers:
        known.update(server.declared_names, server.allow or (), server.tools)
    fields = [toolset.extensions, *(tool.extensions for tool in toolset.tools)]
    return known | _short([dict(extended) for extended in fields])


def _short(value: Any) -> set[str]:
    """The strings of a value that can be a name, keys among them."""
    found: list[str] = []
    collect_strings(value, found)
    return {text for text in found if " " not in text}


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.split(name) if part] or [name.lower()]


def _likeness(first: list[str], second: list[str]) -> float:
    """The part of two names, 0 to 1, that is the same from their beginnings and ends."""
    shorter, longer = sorted((len(first), len(second)))
    begins = _same(zip(first, second, strict=False))
    ends = _same(zip(reversed(first), reversed(second), strict=False))
    return min(begins + ends, shorter) / longer


def _same(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count
