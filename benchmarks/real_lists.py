"""Tools of real servers, and as many like them as one large server lists.

The lists are the `tools/list` answers in tests/corpus/mcp, word for word; `TOOLCAST_CORPUS=FOLDER`
adds lists. Where more tools are wanted than they have, those with deep schemas are taken again
and again, each time with other names and words.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name

__all__ = ["large_lists", "real_tools"]

_CORPUS = Path(__file__).parents[1] / "tests" / "corpus" / "mcp"
Tool = dict[str, Any]
_DEEP = 1_050
"""Characters of a schema, as the mean of a list, from which it is a deep one."""
_SHORT = 100
_SAID_ANEW = 0.55
"""The part of the longer texts that a further turn has in other words."""
_LEFT_OUT = 0.4
"""The part of the short descriptions that a further turn does without."""
_COMMON = 100
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_TEXTS = ("title", "description")
_SCHEMAS = (
    "inputSchema outputSchema items anyOf oneOf allOf additionalProperties".split()
)


def real_tools(number: int) -> list[Tool]:
    """Return `number` tools of real servers with distinct module names.

    They are as their servers list them while there are enough. A larger number stands for one
    large server: the tools of the lists with deep schemas, first as they are, and then turn by
    turn with other names and words. What is said anew, and what is left out, is so chosen that
    1,271 are like those of the largest public server in the bytes of their specs, their texts,
    how many of these differ, and what the rules find.
    """
    lists = [list(_callable(file)) for file in _files()]
    if number <= sum(map(len, lists)):
        return list(_named_apart((tool for tools in lists for tool in tools), number))
    deep = [tool for tools in lists if _mean_schema(tools) > _DEEP for tool in tools]
    return list(_named_apart(_varied(deep), number))


def large_lists(number: int) -> list[tuple[str, list[Tool]]]:
    """Return the largest lists with their names, as their servers list them."""
    files = sorted(_files(), key=lambda file: file.stat().st_size)[-number:]
    found = ((f.stem, list(_named_apart(_callable(f), 1_000))) for f in files)
    return list(reversed([*found]))


def _files() -> Iterator[Path]:
    yield from sorted(_CORPUS.glob("*.json"))
    if more := os.environ.get("TOOLCAST_CORPUS"):
        yield from sorted(Path(more).glob("*.json"))


def _callable(file: Path) -> Iterator[Tool]:
    """Yield the tools of a list, except those that clients may call only as tasks."""
    read = json.loads(file.read_text("utf-8"))
    for tool in read if isinstance(read, list) else read["tools"]:
        if tool.get("execution", {}).get("taskSupport") != "required":
            yield tool


def _mean_schema(tools: Sequence[Tool]) -> float:
    return len(json.dumps([tool["inputSchema"] for tool in tools])) / len(tools)


def _named_apart(tools: Iterator[Tool], number: int) -> Iterator[Tool]:
    """Yield the first `number` tools; append a number to names in use."""
    names: set[str] = set()
    for tool in islice(tools, number):
        name = tool["name"]
        for again in count(2):
            if module_name(name) not in names:
                break
            name = f"{tool['name']}_{again}"
        names.add(module_name(name))
        yield {**tool, "name": name}


def _varied(tools: Sequence[Tool]) -> Iterator[Tool]:
    """Yield the tools, then endless reworded copies of them."""
    yield from tools
    times = Counter(map(str.lower, _WORD.findall(json.dumps(tools))))
    # Very frequent words are grammar and do not describe a tool.
    rare = [word for word, number in times.items() if number < _COMMON]
    for seed in count(1):
        words = _OtherWords(rare, random.Random(seed))
        yield from map(words.of_tool, tools)


class _OtherWords:
    """A random but repeatable replacement of words by others of the same lengths."""

    def __init__(self, words: Sequence[str], chance: random.Random) -> None:
        self._chance = chance
        by_length: dict[int, list[str]] = defaultdict(list)
        for word in words:
            by_length[len(word)].append(word)
        self._others: dict[str, str] = {}
        for alike in by_length.values():
            others = chance.sample(alike, len(alike))
            self._others.update(zip(alike, others, strict=True))
        self._said: dict[str, str] = {}

    def of_tool(self, tool: Tool) -> Tool:
        """Return the reworded tool, always with a new name and description."""
        return {
            **self._schema(tool),
            "name": self._other(tool["name"]),
            "description": self._text(tool.get("description", "")),
        }

    def _schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _TEXTS and isinstance(value, str):
                if len(value) >= _SHORT or self._chance.random() >= _LEFT_OUT:
                    made[key] = self._text(value)
            elif key == "required":
                made[key] = [self._text(name) for name in value]
            elif key == "properties":
                made[key] = {
                    self._text(name): self._schema(each) for name, each in value.items()
                }
            elif key in ("$defs", "definitions"):
                made[key] = {name: self._schema(each) for name, each in value.items()}
            elif key in _SCHEMAS:
                made[key] = self._schemas(value)
            else:
                made[key] = value
        return made

    def _schemas(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._schema(value)
        if isinstance(value, list):
            return [self._schemas(one) for one in value]
        return value

    def _text(self, text: str) -> str:
        """The text in other words, or as it is; the same each time.

        A name is short, and short texts always change: two never become one.
        """
        if text not in self._said:
            is_varied = len(text) < _SHORT or self._chance.random() < _SAID_ANEW
            self._said[text] = self._other(text) if is_varied else text
        return self._said[text]

    def _other(self, text: str) -> str:
        return _WORD.sub(self._other_word, text)

    def _other_word(self, match: re.Match[str]) -> str:
        word = match[0]
        other = self._others.get(word.lower(), word)
        return other.capitalize() if word[0].isupper() else other
