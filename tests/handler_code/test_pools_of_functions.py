"""Which pools a function reaches: exactly those, and each function is looked at once."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from toolcast.static_analysis.call_graph import PoolFinder
from toolcast.static_analysis.function_body import GraphNode, read_node
from toolcast.static_analysis.module_names import Definition
from toolcast.static_analysis.modules import read_module
from toolcast.static_analysis.resolver import Resolver

ACCESSORS = {f"handlers.work:pool{n}": f"p{n}" for n in range(3)}
Calls = dict[str, list[str]]


class Looked:
    """Functions that call each other, and how often each was looked at."""

    def __init__(self, root: Path, calls: Calls) -> None:
        names = [*calls, "pool0", "pool1", "pool2"]
        body = (f"def {n}(): return {', '.join(calls.get(n, ())) or 0}" for n in names)
        (root / "handlers").mkdir()
        (root / "handlers/__init__.py").touch()
        (root / "handlers/work.py").write_text("\n".join(body) + "\n")
        self.resolver = Resolver(partial(read_module, str(root), (".",)), "handlers")
        self.times: Counter[str] = Counter()
        self.pools = PoolFinder(ACCESSORS, self.node)

    def node(self, known: Definition) -> GraphNode:
        self.times[known.name] += 1
        return read_node(self.resolver, known)

    def of(self, name: str) -> set[str]:
        module = self.resolver.load_module("handlers.work")
        known = module and self.resolver.find_definition(module, name)
        assert isinstance(known, Definition)
        return set(self.pools.find_pools(known))


def reached(calls: Calls, name: str) -> set[str]:
    """The same, by walking from each function anew."""
    seen, todo = {name}, [name]
    while todo:
        for called in calls.get(todo.pop(), ()):
            if called not in seen:
                seen.add(called)
                todo.append(called)
    return {f"p{one[4:]}" for one in seen if one.startswith("pool")}


@pytest.mark.parametrize("seed", range(40))
def test_each_function_has_the_pools_that_it_reaches(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    names = [f"f{n}" for n in range(chance.randint(1, 14))]
    everything = [*names, *names, "pool0", "pool1", "pool2"]
    calls = {n: chance.choices(everything, k=chance.randint(0, 3)) for n in names}
    looked = Looked(tmp_path, calls)
    for name in chance.sample(names, len(names)):
        assert looked.of(name) == reached(calls, name)
    assert set(looked.times.values()) == {1}


def test_a_long_chain_is_looked_at_once_from_wherever_it_is_asked(
    tmp_path: Path,
) -> None:
    calls = {f"f{n}": [f"f{n + 1}"] for n in range(3000)} | {"f3000": ["pool1"]}
    looked = Looked(tmp_path, calls)
    assert all(looked.of(name) == {"p1"} for name in calls)
    assert looked.times.total() == len(calls)
