"""Database pools that functions reach: the exact set, with each function read once."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.project_files import write_files
from toolcast.static_analysis.call_graph import PoolFinder
from toolcast.static_analysis.function_body import GraphNode, read_node
from toolcast.static_analysis.module_names import Definition
from toolcast.static_analysis.modules import read_module
from toolcast.static_analysis.resolver import Resolver

ACCESSORS = {f"handlers.work:pool{n}": f"p{n}" for n in range(3)}
Calls = dict[str, list[str]]


class GeneratedFunctions:
    """Functions that call each other, with the number of times that each was read."""

    def __init__(self, root: Path, calls: Calls) -> None:
        names = [*calls, "pool0", "pool1", "pool2"]
        lines = [
            f"def {name}(): return {', '.join(calls.get(name, ())) or 0}"
            for name in names
        ]
        files = {"__init__.py": "", "work.py": "\n".join(lines) + "\n"}
        write_files(root / "handlers", files)
        self.resolver = Resolver(partial(read_module, str(root), (".",)), "handlers")
        self.read_counts: Counter[str] = Counter()
        self.pool_finder = PoolFinder(ACCESSORS, self.read_node)

    def read_node(self, definition: Definition) -> GraphNode:
        self.read_counts[definition.name] += 1
        return read_node(self.resolver, definition)

    def find_pools(self, name: str) -> set[str]:
        module = self.resolver.load_module("handlers.work")
        definition = module and self.resolver.find_definition(module, name)
        assert isinstance(definition, Definition)
        return set(self.pool_finder.find_pools(definition))


def walk_pools(calls: Calls, name: str) -> set[str]:
    """Return the expected pools of a function, by a walk from this function only."""
    visited, pending = {name}, [name]
    while pending:
        for callee in calls.get(pending.pop(), ()):
            if callee not in visited:
                visited.add(callee)
                pending.append(callee)
    return {f"p{callee[4:]}" for callee in visited if callee.startswith("pool")}


@pytest.mark.parametrize("seed", range(40))
def test_pools_found_in_random_call_graphs_equal_a_full_walk(
    seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    names = [f"f{n}" for n in range(chance.randint(1, 14))]
    callees = [*names, *names, "pool0", "pool1", "pool2"]
    calls = {n: chance.choices(callees, k=chance.randint(0, 3)) for n in names}
    functions = GeneratedFunctions(tmp_path, calls)
    for name in chance.sample(names, len(names)):
        assert functions.find_pools(name) == walk_pools(calls, name)
    assert set(functions.read_counts.values()) == {1}


def test_functions_in_a_long_call_chain_are_read_once(tmp_path: Path) -> None:
    calls = {f"f{n}": [f"f{n + 1}"] for n in range(3000)} | {"f3000": ["pool1"]}
    functions = GeneratedFunctions(tmp_path, calls)
    assert all(functions.find_pools(name) == {"p1"} for name in calls)
    assert functions.read_counts.total() == len(calls)
