"""Messages of two kinds over the tools of real servers, and the tool that each means.

`sets/terse.tsv` has commands of a few words, `sets/chatty.tsv` problems told at length in
other words than the tools' own. One message a line: the catalog, what the user says, the
tool that is meant (`a|b` where either will do). They were written from the tools' names alone,
before any ranking was tried on them; every second line was held out when the ranking's
constants were chosen. The tools are those of `tests/corpus/mcp`, whose SOURCES.md names the
packages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolcast_runtime.router import RoutedTool
from toolcast_runtime.router.lexical_ranking import get_ranking

__all__ = ["KINDS", "PARTS", "Labelled", "Order", "labelled", "order", "server_tools"]

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
class Labelled:
    """A message.

    Attributes:
        catalog: whose tools there are.
        text: what the user says.
        meant: the tools of which one is enough.
        part: one of PARTS.
    """

    catalog: str
    text: str
    meant: frozenset[str]
    part: str


@dataclass(frozen=True)
class Order:
    """How a ranking did on a set: parts of its messages, but for the last.

    Attributes:
        top: whose tool was among the first one, three, five.
        shown: whose tool was shown.
        shown_tools: the part of all tools that was shown, on average.
    """

    messages: int
    top: Mapping[int, float]
    shown: float
    shown_tools: float


def labelled(kind: str) -> list[Labelled]:
    """The messages of a kind."""
    lines = (_FOLDER / f"{kind}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [
        Labelled(catalog, text, frozenset(meant.split("|")), PARTS[1 - number % 2])
        for number, (catalog, text, meant) in enumerate(rows)
    ]


def server_tools() -> dict[str, list[RoutedTool]]:
    """The tools of each catalog, as a router sees those of external servers."""
    return {
        name: [tool for server in servers.split() for tool in dumped(server)]
        for name, servers in _CATALOGS.items()
    }


def dumped(server: str) -> Iterator[RoutedTool]:
    """The tools that a server of the corpus lists."""
    path = _CORPUS / f"{server}.json"
    for tool in json.loads(path.read_text("utf-8"))["tools"]:
        description = tool.get("description") or ""
        summary = description.strip().partition("\n")[0]
        yield RoutedTool(tool["name"], summary, description, "", tool["inputSchema"])


def order(
    messages: Sequence[Labelled], tools: Mapping[str, Sequence[RoutedTool]]
) -> Order:
    """How the ranking by words does on messages."""
    top = dict.fromkeys((1, 3, 5), 0.0)
    shown = shown_tools = 0.0
    part = 1 / len(messages)
    for message in messages:
        offered = tools[message.catalog]
        route = get_ranking(tuple(offered)).route(message.text)
        for most in top:
            first = frozenset(list(route.scores)[:most])
            top[most] += part * bool(message.meant & first)
        shown += part * bool(message.meant & set(route.names))
        shown_tools += part * len(route.names) / len(offered)
    return Order(len(messages), top, shown, shown_tools)
