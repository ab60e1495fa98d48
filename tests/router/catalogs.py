"""Load labeled messages and the tools of their catalogs, and measure routes on them.

A line of `messages.tsv` has a catalog, the user's message and the required tools (`-` for
none). Every third line was held out when the constants of the ranking were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.external.servers.personal import TOOLS
from tests.router.message_sets import read_corpus_tools
from toolcast_runtime.core.definitions.tool import extract_first_sentence
from toolcast_runtime.router import Route, RoutedTool

__all__ = ["RoutingFigures", "Message", "load_catalogs", "measure_routes"]
__all__ += ["read_messages"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Message:
    """A message with the tools that it requires."""

    catalog: str
    text: str
    needed: frozenset[str]
    is_held_out: bool


@dataclass(frozen=True)
class RoutingFigures:
    """Results of a router.

    Attributes:
        complete: the fraction of messages for which every required tool is selected.
        selected: the average fraction of the routed tools that is selected.
        missed: the messages for which a required tool is not selected.
    """

    complete: float
    selected: float
    missed: tuple[Message, ...]


def read_messages() -> list[Message]:
    """Return all labeled messages."""
    lines = (Path(__file__).parent / "messages.tsv").read_text("utf-8").splitlines()
    messages = []
    for number, line in enumerate(lines):
        catalog, text, needed = line.split("\t")
        names = frozenset() if needed == "-" else frozenset(needed.split())
        messages.append(Message(catalog, text, names, number % 3 == 0))
    return messages


def load_catalogs() -> dict[str, list[RoutedTool]]:
    """Return the routed tools by catalog, including those of external servers."""
    names = ("kirishima", "molecule", "ren")
    tools_by_catalog = {name: list(_specs(name)) for name in names}
    tools_by_catalog["kirishima"] += [
        RoutedTool(name, "", description, "", parameters)
        for name, (description, parameters) in TOOLS.items()
    ]
    for server in ("mcp-server-time", "mcp-server-git"):
        tools_by_catalog["kirishima"] += read_corpus_tools(server)
    return tools_by_catalog


def _specs(toolset: str) -> Iterator[RoutedTool]:
    for path in sorted((ROOT / "specs" / toolset).glob("*.yaml")):
        spec = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
        if path.name != "toolset.yaml" and not spec.get("always"):
            yield RoutedTool(
                spec["name"],
                spec.get("summary") or extract_first_sentence(spec["description"]),
                spec["description"] if "description" in spec else spec["summary"],
                spec.get("when_to_use", ""),
                spec["parameters"],
            )


def measure_routes(
    routed: Sequence[tuple[Message, Route]], tools: Mapping[str, Sequence[RoutedTool]]
) -> RoutingFigures:
    """Measure the routes of messages."""
    missed = tuple(
        message for message, route in routed if not message.needed <= set(route.names)
    )
    selected = [len(route.names) / len(tools[m.catalog]) for m, route in routed]
    count = len(routed)
    return RoutingFigures(1 - len(missed) / count, sum(selected) / count, missed)
