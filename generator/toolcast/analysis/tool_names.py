"""Tool names in the texts of a toolset: mentions, retired names, and probable mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from ..model.model import Toolset, Workspace
from .texts import collect_strings
from .tool_search import get_server_tool_names

NOT_LISTED_REASON = "The server no longer lists it."
"""Reason of a name that an import reserves, and releases when the server lists it again."""
_NAME_START, _NAME_END = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"
# Clients prefix the tools of a server: `mcp__notes__find_note`.
_SERVER_PREFIX = r"mcp__[A-Za-z0-9_-]+?__"
# A plain word such as `memory` is a tool's name only in backticks or after such a verb.
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]*")
_CALL_VERBS = r"\b(?:[Cc]all|[Ii]nvoke|[Pp]refer|[Rr]un)(?:s|ed|ing)?\s+"
_CODE_BEFORE = tuple("/\\=@$<")
_CODE_AFTER = re.compile(r"[/\\=]|\.\w")


class Mention(NamedTuple):
    """Occurrence of a name in a text.

    Attributes:
        name: the name.
        start: the index of its first character.
        is_code: whether it is part of a path, an address or an expression, so that it may not
            be a tool's name.
    """

    name: str
    start: int
    is_code: bool


def compile_mention_pattern(
    names: Iterable[str], *, in_code: bool = False
) -> re.Pattern[str] | None:
    """Return a pattern that finds mentions of names; None without names.

    The name is the only group of a match. An English word is found only in backticks, after
    `call`, `invoke`, `prefer` and `run`, and after a server's prefix.

    Args:
        names: the names to find.
        in_code: whether a word in quotation marks is a mention, too: `"memory"`.
    """
    # Longer names come first, because an alternation uses its first match.
    ordered = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name) for name in ordered if is_ambiguous_name(name))
    others = "|".join(
        re.escape(name) for name in ordered if not is_ambiguous_name(name)
    )
    parts = (
        [rf"{_NAME_START}(?:{_SERVER_PREFIX})?({others}){_NAME_END}"] if others else []
    )
    if words:
        if in_code:
            parts.append(rf"(?<=[\"'])({words})(?=[\"'])")
        parts += [rf"`({words})`", rf"{_CALL_VERBS}({words}){_NAME_END}"]
        parts.append(rf"{_NAME_START}{_SERVER_PREFIX}({words}){_NAME_END}")
    return re.compile("|".join(parts)) if parts else None


def is_ambiguous_name(name: str) -> bool:
    """Return whether a name can also be an English word, such as `memory`."""
    return _PLAIN_WORD.fullmatch(name) is not None


def find_mentions(text: str, pattern: re.Pattern[str] | None) -> Iterator[Mention]:
    """Yield the mentions in a text, in their order; nothing without a pattern."""
    for match in () if pattern is None else pattern.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        is_code_before = text.endswith(_CODE_BEFORE, 0, start)
        is_code = is_code_before or _CODE_AFTER.match(text, end) is not None
        yield Mention(match[group], start, is_code)


def find_names_in_lines(
    lines: Iterable[str], pattern: re.Pattern[str]
) -> Iterator[tuple[str, int, int]]:
    """Yield each mention in lines as name, line and column; both are 1-based."""
    for number, line in enumerate(lines, 1):
        for match in pattern.finditer(line):
            group = match.lastindex or 0
            yield match[group], number, match.start(group) + 1


# A probable tool name has several parts. A name next to a dot, slash or bracket is part of
# a file path or of code.
_NAME = r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"
_PROBABLE_MENTION = re.compile(
    rf"(?<![\w./$@:\\<-])(?:`({_NAME})`|([a-z][a-z0-9]*(?:_[a-z0-9]+)+))"
    r"(?![\w/\\=>(-]|\.\w|[\"']?:)"
)
_PART_SEPARATOR = re.compile(r"[_.-]|(?<=[a-z0-9])(?=[A-Z])")
_MAX_NEIGHBORS = 40
"""Tools with the same first, or the same last, name part that are compared with a word."""
_MAX_UNKNOWN_WORDS = 2_000
"""Words without a tool of that name that are compared; texts with more are not prose."""
_MAX_NAME_CHARACTERS = 128
"""Length of a word that can be a tool name."""
_MIN_SIMILARITY = 0.5
"""Share of equal name parts from which a tool's name is suggested."""


@lru_cache(maxsize=8)
def get_tool_names(toolset: Toolset, workspace: Workspace) -> ToolNames:
    """Return the tool names that a toolset's texts can mention."""
    return ToolNames(toolset, workspace)


class ToolNames:
    """Tool names that the texts of a toolset can mention.

    Attributes:
        retired: the help text of each previous and reserved name of the toolset.
    """

    def __init__(self, toolset: Toolset, workspace: Workspace) -> None:
        # Casefold the names once, because each word of each text is compared with them.
        self._known = frozenset(
            map(str.casefold, _collect_known_names(toolset, workspace))
        )
        # Index names by their first part (True) and last part (False), so that an unknown
        # word is compared only with names that share such a part.
        self._by_part: dict[tuple[str, bool], list[tuple[str, list[str]]]] = {}
        own = [tool.name for tool in toolset.tools]
        external = [
            name for server in toolset.listed_servers for name in server.declared_names
        ]
        for name in (*own, *external):
            parts = _split_name(name)
            for key in ((parts[0], True), (parts[-1], False)):
                self._by_part.setdefault(key, []).append((name, parts))
        self._suggestions: dict[str, str] = {}
        self.retired = _collect_retired_names(toolset)
        self._retired_pattern = compile_mention_pattern(self.retired)

    def find_retired_names(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield each retired name that a text mentions, with a help text."""
        mentions = find_mentions(text, self._retired_pattern)
        for name in dict.fromkeys(mention.name for mention in mentions):
            yield name, self.retired[name]

    def find_unknown_names(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield each word that resembles a tool's name but is unknown, with a help text.

        Each word is yielded once. Words of more than 128 characters are ignored, and so
        are all words after the first 2,000 unknown words of the toolset.
        """
        if "_" not in text and "`" not in text:
            return
        words = (match[1] or match[2] for match in _PROBABLE_MENTION.finditer(text))
        for word in dict.fromkeys(words):
            if len(word) > _MAX_NAME_CHARACTERS or word.casefold() in self._known:
                continue
            if word not in self._suggestions:
                if len(self._suggestions) >= _MAX_UNKNOWN_WORDS:
                    return
                self._suggestions[word] = self._suggest(word)
            if self._suggestions[word]:
                yield word, self._suggestions[word]

    def _suggest(self, word: str) -> str:
        """Return a suggestion for an unknown word; "" if it resembles no tool's name."""
        parts = _split_name(word)
        neighbors = [
            *self._by_part.get((parts[0], True), ())[:_MAX_NEIGHBORS],
            *self._by_part.get((parts[-1], False), ())[:_MAX_NEIGHBORS],
        ]
        name, similarity = max(
            ((name, _compute_similarity(parts, other)) for name, other in neighbors),
            key=lambda pair: pair[1],
            default=("", 0.0),
        )
        if similarity < _MIN_SIMILARITY:
            return ""
        return (
            f"did you mean `{name}`? List a removed tool in `reserved_names`, and a tool's"
            " previous name in its `renamed_from`"
        )


def _collect_retired_names(toolset: Toolset) -> dict[str, str]:
    retired = {
        name: f"remove the name, which is reserved: {reason}"
        for name, reason in toolset.reserved_names.items()
    }
    # If several tools declare the same previous name, the first tool counts.
    current_names: dict[str, str] = {}
    for tool in toolset.tools:
        for former_name in tool.renamed_from:
            current_names.setdefault(former_name, tool.name)
    for former_name, name in current_names.items():
        retired[former_name] = f"use the current name, `{name}`"
    for tool in toolset.tools:
        retired.pop(tool.name, None)
    return retired


def collect_other_names(toolset: Toolset) -> set[str]:
    """Return the names of a toolset that are not tools.

    These are parameters, sections, clients, permissions, actions, and all strings without
    spaces in schemas, examples and metadata.
    """
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
        values += [[argument.name, *argument.enum] for argument in prompt.arguments]
    return {toolset.name, *_collect_names(values)}


def _collect_known_names(toolset: Toolset, workspace: Workspace) -> set[str]:
    """Return all names that texts can use: tools of all toolsets, and other names."""
    known = collect_other_names(toolset).union(
        toolset.reserved_names, get_server_tool_names(toolset)
    )
    for other_toolset in workspace.toolsets:
        for tool in other_toolset.tools:
            known.update((tool.name, *tool.renamed_from))
    for server in toolset.listed_servers:
        known.update(server.declared_names, server.allow or (), server.tools)
    fields = [toolset.extensions, *(tool.extensions for tool in toolset.tools)]
    return known | _collect_names([dict(extensions) for extensions in fields])


def _collect_names(value: Any) -> set[str]:
    """Return the strings and keys of a JSON value that have no spaces."""
    strings: list[str] = []
    collect_strings(value, strings)
    return {string for string in strings if " " not in string}


def _split_name(name: str) -> list[str]:
    parts = [part.lower() for part in _PART_SEPARATOR.split(name) if part]
    return parts or [name.lower()]


def _compute_similarity(first: list[str], second: list[str]) -> float:
    """Return the share, 0 to 1, of equal parts at the beginning and end of two names."""
    shorter, longer = sorted((len(first), len(second)))
    at_start = _count_equal_pairs(zip(first, second, strict=False))
    at_end = _count_equal_pairs(zip(reversed(first), reversed(second), strict=False))
    return min(at_start + at_end, shorter) / longer


def _count_equal_pairs(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the number of equal pairs before the first unequal pair."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
