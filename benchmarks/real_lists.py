"""Tools of real servers, and variants of them for larger lists.

The lists are the unchanged `tools/list` answers in tests/corpus/mcp; `TOOLCAST_CORPUS=FOLDER`
adds lists. A larger number of tools repeats the lists with deep schemas, with different names
and texts in each repetition.
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

_CORPUS = Path(__file__).parents[1] / "tests" / "corpus" / "mcp"
Tool = dict[str, Any]
_MIN_DEEP = 1_050
"""Mean schema length of a list, in characters, from which its schemas count as deep."""
_MIN_LONG = 100
_CHANGED = 0.55
"""Share of the longer texts that a repetition changes."""
_REMOVED = 0.4
"""Share of the short descriptions that a repetition removes."""
_MIN_COMMON_COUNT = 100
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_TEXTS = ("title", "description")
_SCHEMAS = (
    "inputSchema outputSchema items anyOf oneOf allOf additionalProperties".split()
)


def load_real_tools(number: int) -> list[Tool]:
    """Return `number` tools of real servers with unique module names.

    The tools are unchanged if the lists have enough of them. A larger number models one large
    server: the tools of the lists with deep schemas, followed by repetitions with other names
    and texts. The shares of changed and removed texts are chosen so that 1,271 tools match the
    largest public server in spec size, number of texts, distinct texts and findings.
    """
    lists = [list(_read_tools(file)) for file in _list_files()]
    if number <= sum(map(len, lists)):
        return list(_rename_unique((tool for tools in lists for tool in tools), number))
    deep = [
        tool for tools in lists if _mean_length(tools) > _MIN_DEEP for tool in tools
    ]
    return list(_rename_unique(_vary(deep), number))


def load_large_lists(number: int) -> list[tuple[str, list[Tool]]]:
    """Return the names and unchanged tools of the largest lists."""
    files = sorted(_list_files(), key=lambda file: file.stat().st_size)[-number:]
    lists = ((f.stem, list(_rename_unique(_read_tools(f), 1_000))) for f in files)
    return list(reversed([*lists]))


def _list_files() -> Iterator[Path]:
    yield from sorted(_CORPUS.glob("*.json"))
    if folder := os.environ.get("TOOLCAST_CORPUS"):
        yield from sorted(Path(folder).glob("*.json"))


def _read_tools(file: Path) -> Iterator[Tool]:
    """Yield the tools of a list, except tools that must be called as tasks."""
    data = json.loads(file.read_text("utf-8"))
    for tool in data if isinstance(data, list) else data["tools"]:
        if tool.get("execution", {}).get("taskSupport") != "required":
            yield tool


def _mean_length(tools: Sequence[Tool]) -> float:
    return len(json.dumps([tool["inputSchema"] for tool in tools])) / len(tools)


def _rename_unique(tools: Iterator[Tool], number: int) -> Iterator[Tool]:
    """Yield the first `number` tools; add a number to repeated names."""
    names: set[str] = set()
    for tool in islice(tools, number):
        name = tool["name"]
        for suffix in count(2):
            if module_name(name) not in names:
                break
            name = f"{tool['name']}_{suffix}"
        names.add(module_name(name))
        yield {**tool, "name": name}


def _vary(tools: Sequence[Tool]) -> Iterator[Tool]:
    """Yield the tools, then an endless series of their variants."""
    yield from tools
    counts = Counter(map(str.lower, _WORD.findall(json.dumps(tools))))
    # Frequent words are general English and not specific to a tool.
    rare = [word for word, number in counts.items() if number < _MIN_COMMON_COUNT]
    for seed in count(1):
        words = _WordSubstitution(rare, random.Random(seed))
        yield from map(words.vary_tool, tools)


class _WordSubstitution:
    """Random substitution of words by other words of the same length."""

    def __init__(self, words: Sequence[str], rng: random.Random) -> None:
        self._rng = rng
        by_length: dict[int, list[str]] = defaultdict(list)
        for word in words:
            by_length[len(word)].append(word)
        self._replacements: dict[str, str] = {}
        for group in by_length.values():
            others = rng.sample(group, len(group))
            self._replacements.update(zip(group, others, strict=True))
        self._varied_texts: dict[str, str] = {}

    def vary_tool(self, tool: Tool) -> Tool:
        """Return a variant of the tool, always with a name and a description."""
        return {
            **self._vary_schema(tool),
            "name": self._substitute(tool["name"]),
            "description": self._vary_text(tool.get("description", "")),
        }

    def _vary_schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        varied: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _TEXTS and isinstance(value, str):
                if len(value) >= _MIN_LONG or self._rng.random() >= _REMOVED:
                    varied[key] = self._vary_text(value)
            elif key == "required":
                varied[key] = [self._vary_text(name) for name in value]
            elif key == "properties":
                varied[key] = {
                    self._vary_text(name): self._vary_schema(item)
                    for name, item in value.items()
                }
            elif key in ("$defs", "definitions"):
                varied[key] = {
                    name: self._vary_schema(item) for name, item in value.items()
                }
            elif key in _SCHEMAS:
                varied[key] = self._vary_schemas(value)
            else:
                varied[key] = value
        return varied

    def _vary_schemas(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._vary_schema(value)
        if isinstance(value, list):
            return [self._vary_schemas(item) for item in value]
        return value

    def _vary_text(self, text: str) -> str:
        """Return the substituted or unchanged text; equal texts have equal results.

        Short texts always change: names are short, and different names must stay different.
        """
        if text not in self._varied_texts:
            is_varied = len(text) < _MIN_LONG or self._rng.random() < _CHANGED
            self._varied_texts[text] = self._substitute(text) if is_varied else text
        return self._varied_texts[text]

    def _substitute(self, text: str) -> str:
        return _WORD.sub(self._substitute_word, text)

    def _substitute_word(self, match: re.Match[str]) -> str:
        word = match[0]
        other = self._replacements.get(word.lower(), word)
        return other.capitalize() if word[0].isupper() else other
