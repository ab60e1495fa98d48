"""Invalid tool lists are rejected by the documented rules and by the SDK's types.

Each line of `bad/*.jsonl` has a list and the expected problems of the rules, the
expected first error of the types, or both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.documented_rules import find_problems
from tests.providers.sdk_types import validate


def _list_samples(checker: str) -> Iterator[Any]:
    for path in sorted(Path(__file__).parent.glob("bad/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            sample = json.loads(line)
            assert sample.keys() & {"rules", "types"}, sample["why"]
            if checker in sample:
                name = f"{path.stem}: {sample['why']}"
                yield pytest.param(path.stem, sample["tools"], sample[checker], id=name)


@pytest.mark.parametrize(
    ("provider", "tools", "expected_problems"), list(_list_samples("rules"))
)
def test_find_problems_reports_each_problem_in_an_invalid_provider_tool_list(
    provider: str, tools: list[dict[str, Any]], expected_problems: list[str]
) -> None:
    assert find_problems(provider, tools) == expected_problems != []


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "tools", "message"), list(_list_samples("types")))
def test_provider_sdk_types_reject_an_invalid_tool_list_with_the_expected_error(
    provider: str, tools: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(ValueError) as refusal:
        validate(provider, tools)
    error_path, _, error_text = message.partition(": ")
    assert error_path in str(refusal.value) and error_text in str(refusal.value)
