"""Load labeled messages of two kinds, and measure a ranking of real servers' tools on them.

`sets/terse.tsv` has commands of a few words, `sets/chatty.tsv` long descriptions of problems
that avoid the terms of the tools. A line has a catalog, the user's message and the expected
tool (`a|b` if either is correct). The messages were written from the tool names before any
ranking was measured; every second line was held out when the constants of the ranking were
chosen. The tools are those of `tests/corpus/mcp`, whose SOURCES.md names the packages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolcast_runtime.router import RoutedTool
from toolcast_runtime.router.lexical_ranking import get_ranking

__all__ = ["KINDS", "PARTS", "LabeledMessage", "RankingFigures", "read_message_set"]
__all__ += ["measure_ranking", "load_server_tools"]

KINDS = ("terse", "chatty")
PARTS = ("chosen on", "held out")
_FOLDER = Path(__file__).parent / "sets"
_CORPUS = Path(__file__).parents[1] / "corpus" / "mcp"
_CATALOGS = {
    "desk": "mcp-atlassian excel-mcp-server notion-mcp-server",
    "dev": "mcp-server-git server-github-archived server-filesystem playwright-mcp"
    " mcp-server-sqlite server-memory mcp-server-fetch context7-mcp mcp-server-time",
    "ops": "kubernetes-mcp-server redis-mcp-server awslabs-eks awslabs-dynamodb"
    " awslabs-s3-tables mobile-mcp",
}


@dataclass(frozen=True)
class LabeledMessage:
    """A message with its expected tools.

    Attributes:
        catalog: the name of the catalog of tools.
        text: the user's message.
        expected: the tools of which one is enough.
        part: one of PARTS.
    """

    catalog: str
    text: str
    expected: frozenset[str]
    part: str


@dataclass(frozen=True)
class RankingFigures:
    """Results of a ranking on a set, as fractions of its messages.

    Attributes:
        messages: the number of messages.
        top: the messages whose tool is among the first one, three and five.
        selected: the messages whose tool is selected.
        selected_tools: the average fraction of all tools that is selected.
    """

    messages: int
    top: Mapping[int, float]
    selected: float
    selected_tools: float


def read_message_set(kind: str) -> list[LabeledMessage]:
    """Return the messages of a kind."""
    lines = (_FOLDER / f"{kind}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [
        LabeledMessage(catalog, text, frozenset(expected.split("|")), PARTS[number % 2])
        for number, (catalog, text, expected) in enumerate(rows, 1)
    ]


def load_server_tools() -> dict[str, list[RoutedTool]]:
    """Return the tools of each catalog as the router receives them from external servers."""
    return {
        name: [tool for server in servers.split() for tool in read_corpus_tools(server)]
        for name, servers in _CATALOGS.items()
    }


def read_corpus_tools(server: str) -> Iterator[RoutedTool]:
    """Yield the tools that a server of the corpus lists."""
    path = _CORPUS / f"{server}.json"
    for tool in json.loads(path.read_text("utf-8"))["tools"]:
        description = tool.get("description") or ""
        summary = description.strip().partition("\n")[0]
        yield RoutedTool(tool["name"], summary, description, "", tool["inputSchema"])


def measure_ranking(
    messages: Sequence[LabeledMessage], tools: Mapping[str, Sequence[RoutedTool]]
) -> RankingFigures:
    """Measure the lexical ranking on messages."""
    top = dict.fromkeys((1, 3, 5), 0.0)
    selected = selected_tools = 0.0
    part = 1 / len(messages)
    for message in messages:
        offered = tools[message.catalog]
        route = get_ranking(tuple(offered)).route(message.text)
        for count in top:
            first = frozenset(list(route.scores)[:count])
            top[count] += part * bool(message.expected & first)
        selected += part * bool(message.expected & set(route.names))
        selected_tools += part * len(route.names) / len(offered)
    return RankingFigures(len(messages), top, selected, selected_tools)
