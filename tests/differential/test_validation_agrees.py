"""Generated validation says what Python's `jsonschema` says, over schemas of real tools.

Formats are annotations in both. Instances are those of the source, and mutations of them:
each value of each instance is replaced, removed or doubled.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    1.0,
    -1,
    0.5,
    10**30,
    -0.0,
    1e300,
    "",
    " ",
    "1",
    "é\U0001f600",
    [],
    {},
    [None],
    {"a": 1},
    [[]],
    {"": ""},
    "x" * 300,
    [1, 1.0],
    [True, 1],
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value inside."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*path, index)
            yield from paths(inner, (*path, index))


def mutants(
    instance: dict[str, Any], chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Objects that differ from an instance in one place."""
    for path in paths(instance):
        for change in range(3):
            mutant = copy.deepcopy(instance)
            holder: Any = mutant
            for step in path[:-1]:
                holder = holder[step]
            if change == 0:
                del holder[path[-1]]
            elif change == 1:
                holder[path[-1]] = chance.choice(ODD)
            elif isinstance(holder, list):
                holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
            else:
                holder[f"{path[-1]}_"] = holder[path[-1]]
            yield mutant


def test_instances_and_their_mutants(
    functions: list[Any],
    build: Callable[[Any], Any],
    oracle: Callable[[Any], Callable[[Any], bool]],
) -> None:
    verdicts = build(functions)
    chance = random.Random(7)
    count = {True: 0, False: 0}
    for case in functions:
        judge = oracle(case.schema)
        for instance in case.instances:
            for arguments in (instance, *mutants(instance, chance)):
                problems = verdicts.problems(case.name, arguments)
                assert bool(problems) != judge(arguments), (
                    case.name,
                    arguments,
                    problems,
                )
                count[not problems] += 1
    print(f"{len(functions)} schemas, {count[True]} valid, {count[False]} not valid")
    assert count[True] > 500
    assert count[False] > 500
