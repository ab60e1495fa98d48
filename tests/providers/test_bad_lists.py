"""Lists that a provider refuses are found: by the documented rules, by its types, or by both."""

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
            if by in sample["refused_by"]:
                name = f"{path.stem}: {sample['why']}"
                yield pytest.param(path.stem, sample["tools"], id=name)


@pytest.mark.parametrize(("provider", "tools"), list(_bad("rules")))
def test_the_rules_refuse_it(provider: str, tools: list[dict[str, Any]]) -> None:
    assert problems(provider, tools)


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "tools"), list(_bad("types")))
def test_the_types_refuse_it(provider: str, tools: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError):
        validate(provider, tools)
