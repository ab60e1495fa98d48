"""Accuracy of the router's lexical ranking, and its time per message.

The accuracy is measured on the labeled messages of `tests/router`. The time is compared with
serializing all tools as JSON for a model request, which the router avoids.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from generation import Sizes
from paired import Row, Sample, compare
from real_lists import load_real_tools
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

_ROUTING, _SERIALIZING = "routing a message", "writing the tools as JSON"


def selection_part(folder: Path, sizes: Sizes) -> Part:
    """Measure the ranking on each labeled set, and the time with few and many tools."""
    rows = [_compare_routing(number, sizes.rounds) for number in (235, sizes.real)]
    return Part(rows, tables=[list(_build_ranking_rows())])


def _build_ranking_rows() -> Iterator[list[str]]:
    yield ["messages", "top 1", "top 3", "top 5", "shown", "tools shown"]
    tools = load_server_tools()
    for kind in KINDS:
        for part in PARTS:
            messages = [
                message for message in read_message_set(kind) if message.part == part
            ]
            score = measure_ranking(messages, tools)
            figures = [*score.top.values(), score.selected, score.selected_tools]
            name = f"{score.messages} {kind}, {part}"
            yield [name, *(f"{figure:.1%}" for figure in figures)]


def _compare_routing(number: int, rounds: int) -> Row:
    definitions = load_real_tools(number)
    tools = [_build_routed_tool(tool) for tool in definitions]
    messages = [message.text for kind in KINDS for message in read_message_set(kind)]
    get_ranking(tools)
    turns = {
        _ROUTING: lambda: [get_ranking(tools).route(message) for message in messages],
        _SERIALIZING: lambda: [json.dumps(definitions) for _ in messages],
    }
    samples: dict[str, list[Sample]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            samples[name].append(_time_turn(turn, len(messages)))
    return compare(f"{number:,} real tools", samples, _ROUTING, _SERIALIZING)


def _time_turn(turn: Callable[[], object], times: int) -> Sample:
    processor, clock = time.process_time(), time.perf_counter()
    turn()
    return Sample(
        (time.process_time() - processor) / times,
        (time.perf_counter() - clock) / times,
        0.0,
    )


def _build_routed_tool(tool: dict[str, object]) -> RoutedTool:
    description = str(tool.get("description") or "")
    summary = description.strip().partition("\n")[0]
    schema = tool["inputSchema"]
    assert isinstance(schema, dict)
    return RoutedTool(str(tool["name"]), summary, description, "", schema)
