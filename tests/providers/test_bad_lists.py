"""Lists that a provider refuses are found for what is wrong with them, and nothing else.

By the documented rules, which name each problem, or by the provider's own types, of which the
first complaint is held; by both where both can know it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.documented_rules import problems
from tests.providers.sdk_types import validate


def _bad(by: str) -> Iterator[Any]:
    for path in sorted(Path(__file__).parent.glob("bad/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            sample = json.loads(line)
            assert sample.keys() & {"rules", "types"}, sample["why"]
            if by in sample:
                name = f"{path.stem}: {sample['why']}"
                yield pytest.param(path.stem, sample["tools"], sample[by], id=name)


@pytest.mark.parametrize(("provider", "tools", "found"), list(_bad("rules")))
def test_the_rules_refuse_it(
    provider: str, tools: list[dict[str, Any]], found: list[str]
) -> None:
    assert problems(provider, tools) == found != []


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "tools", "says"), list(_bad("types")))
def test_the_types_refuse_it(
    provider: str, tools: list[dict[str, Any]], says: str
) -> None:
    with pytest.raises(ValueError) as refusal:
        validate(provider, tools)
    where, _, what = says.partition(": ")
    assert where in str(refusal.value) and what in str(refusal.value)
