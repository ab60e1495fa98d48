"""How good the router's order by words is, and what a message costs it.

The order is looked at on the labelled messages of `tests/router`. What a message costs stands
beside writing the tools as JSON, as a request to a model has them: what the router saves.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from generation import Sizes
from paired import Row, Sample, compare
from real_lists import real_tools
from results import Part

from toolcast_runtime.router import RoutedTool
from toolcast_runtime.router.lexical_ranking import get_ranking

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.router.message_sets import (
    KINDS,
    PARTS,
    load_server_tools,
    measure_ranking,
    read_message_set,
)

__all__ = ["selection_part"]

_WORD, _TOOLS = "routing a message", "writing the tools as JSON"


def selection_part(folder: Path, sizes: Sizes) -> Part:
    """Measure the ranking of each labelled set, and the time of a message by tool count."""
    rows = [_row(number, sizes.rounds) for number in (235, sizes.real)]
    return Part(rows, tables=[list(_orders())])


def _orders() -> Iterator[list[str]]:
    yield ["messages", "top 1", "top 3", "top 5", "shown", "tools shown"]
    tools = load_server_tools()
    for kind in KINDS:
        for part in PARTS:
            messages = [one for one in read_message_set(kind) if one.part == part]
            found = measure_ranking(messages, tools)
            figures = [*found.top.values(), found.selected, found.selected_tools]
            name = f"{found.messages} {kind}, {part}"
            yield [name, *(f"{figure:.1%}" for figure in figures)]


def _row(number: int, rounds: int) -> Row:
    listed = real_tools(number)
    tools = [_routed(tool) for tool in listed]
    messages = [one.text for kind in KINDS for one in read_message_set(kind)]
    get_ranking(tools)
    turns = {
        _WORD: lambda: [get_ranking(tools).route(message) for message in messages],
        _TOOLS: lambda: [json.dumps(listed) for _ in messages],
    }
    samples: dict[str, list[Sample]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            samples[name].append(_timed(turn, len(messages)))
    return compare(f"{number:,} real tools", samples, _WORD, _TOOLS)


def _timed(turn: Callable[[], object], times: int) -> Sample:
    processor, clock = time.process_time(), time.perf_counter()
    turn()
    return Sample(
        (time.process_time() - processor) / times,
        (time.perf_counter() - clock) / times,
        0.0,
    )


def _routed(tool: dict[str, object]) -> RoutedTool:
    description = str(tool.get("description") or "")
    summary = description.strip().partition("\n")[0]
    schema = tool["inputSchema"]
    assert isinstance(schema, dict)
    return RoutedTool(str(tool["name"]), summary, description, "", schema)
