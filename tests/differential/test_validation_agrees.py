"""Generated validation compared with Python's `jsonschema`, for schemas of real tools.

Formats are annotations in both. The instances are those of the source and mutations of them:
each value in each instance is replaced, removed or duplicated.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
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


def list_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every nested value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from list_paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*path, index)
            yield from list_paths(inner, (*path, index))


def build_mutants(
    instance: dict[str, Any], randomizer: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield copies of an instance, each with one changed value."""
    for path in list_paths(instance):
        for change in range(3):
            mutant = copy.deepcopy(instance)
            parent: Any = mutant
            for step in path[:-1]:
                parent = parent[step]
            if change == 0:
                del parent[path[-1]]
            elif change == 1:
                parent[path[-1]] = randomizer.choice(ODD_VALUES)
            elif isinstance(parent, list):
                parent.insert(path[-1], copy.deepcopy(parent[path[-1]]))
            else:
                parent[f"{path[-1]}_"] = parent[path[-1]]
            yield mutant


def test_generated_validation_agrees_with_jsonschema_for_instances_and_mutants(
    function_cases: list[Any],
    build_toolset: Callable[[Any], Any],
    build_oracle: Callable[[Any], Callable[[Any], bool]],
) -> None:
    verdicts = build_toolset(function_cases)
    randomizer = random.Random(7)
    count = {True: 0, False: 0}
    for case in function_cases:
        is_valid = build_oracle(case.schema)
        for instance in case.instances:
            for arguments in (instance, *build_mutants(instance, randomizer)):
                problems = verdicts.problems(case.name, arguments)
                assert bool(problems) != is_valid(arguments), (
                    case.name,
                    arguments,
                    problems,
                )
                count[not problems] += 1
    print(
        f"{len(function_cases)} schemas, {count[True]} valid, {count[False]} not valid"
    )
    assert count[True] > 500
    assert count[False] > 500
