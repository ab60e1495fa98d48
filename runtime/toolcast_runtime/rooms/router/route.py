"""What is chosen from, and a choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...core.definitions.tool import Tool


@dataclass(frozen=True, slots=True)
class RoutedTool:
    """What is known of a tool when it is chosen.

    Attributes:
        name: its name.
        summary: one line.
        description: what models read.
        when_to_use: when to choose it.
        parameters: the JSON Schema of its arguments.
    """

    name: str
    summary: str = ""
    description: str = ""
    when_to_use: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """A choice.

    Attributes:
        names: the chosen tools, in the order of the catalogue.
        scores: how well each tool that matched at all does, the best first; empty where a
            model chose.
        doubt: why every tool was chosen; empty when there was a choice.
    """

    names: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict)
    doubt: str = ""


def chosen_from(
    listed: Iterable[Tool], catalog: Mapping[str, str] | None
) -> list[RoutedTool]:
    """The routed ones of the tools, or what a catalogue names.

    Args:
        listed: the tools.
        catalog: names with their summaries; one that is not listed any more is chosen by
            what it says here.
    """
    known = {
        t.name: RoutedTool(
            t.name, t.summary, t.description, t.when_to_use, t.parameters
        )
        for t in listed
        if not t.always
    }
    if catalog is None:
        return list(known.values())
    return [known.get(n) or RoutedTool(n, text) for n, text in catalog.items()]
