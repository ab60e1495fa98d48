"""The labelled messages, and the tools that each of their catalogs offers.

`messages.tsv` has one message a line: the catalog, what the user says, the tools that are
needed (`-` for none). Every third line was held out when the constants of the ranking were
chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.external.servers.personal import TOOLS
from tests.router.labelled_sets import dumped
from toolcast_runtime.core.definitions.tool import extract_first_sentence
from toolcast_runtime.router import Route, RoutedTool

__all__ = ["Figures", "Message", "catalogs", "figures", "messages"]

ROOT = Path(__file__).parents[2]
# Dumps of real servers, beside the toolset's own tools.
SERVERS = {"kirishima": ("mcp-server-time", "mcp-server-git")}


@dataclass(frozen=True)
class Message:
    """One line."""

    catalog: str
    text: str
    needed: frozenset[str]
    is_held_out: bool


@dataclass(frozen=True)
class Figures:
    """How a router did.

    Attributes:
        messages: how many.
        complete: the part of them for which every needed tool was shown.
        shown: the part of the routed tools that was shown, on average.
        missed: the messages for which one was not.
    """

    messages: int
    complete: float
    shown: float
    missed: tuple[Message, ...]


def messages() -> list[Message]:
    """Every labelled message."""
    lines = (Path(__file__).parent / "messages.tsv").read_text("utf-8").splitlines()
    return [_message(number, line) for number, line in enumerate(lines)]


def _message(number: int, line: str) -> Message:
    catalog, text, needed = line.split("\t")
    names = frozenset() if needed == "-" else frozenset(needed.split())
    return Message(catalog, text, names, number % 3 == 0)


def catalogs() -> dict[str, list[RoutedTool]]:
    """The routed tools by catalog, external ones among them."""
    found = {name: list(_specs(name)) for name in ("kirishima", "molecule", "ren")}
    found["kirishima"] += [
        RoutedTool(name, "", description, "", parameters)
        for name, (description, parameters) in TOOLS.items()
    ]
    for name, servers in SERVERS.items():
        for server in servers:
            found[name] += dumped(server)
    return found


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


def figures(
    routed: Sequence[tuple[Message, Route]],
    tools: Mapping[str, Sequence[RoutedTool]],
) -> Figures:
    """What the routes of messages come to."""
    missed = tuple(
        message for message, route in routed if not message.needed <= set(route.names)
    )
    shown = [len(route.names) / len(tools[m.catalog]) for m, route in routed]
    count = len(routed)
    return Figures(count, 1 - len(missed) / count, sum(shown) / count, missed)
