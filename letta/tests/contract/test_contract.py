"""The fake Letta and the real one answer alike: both are held against what was recorded.

`make test-letta-real` compares a real server with the recordings; with REGENERATE=1 it writes
them. The quick suite compares the fake.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from letta.tests.contract.exchange import Exchange
from letta.tests.contract.scenarios.table import SCENARIOS
from letta.tests.fake_letta import FakeLetta

RECORDED = Path(__file__).parent / "recorded"

each_scenario = pytest.mark.parametrize("name", SCENARIOS)


def said(name: str, base_url: str) -> list[dict[str, Any]]:
    with Exchange(base_url) as letta:
        SCENARIOS[name](letta)
        return letta.lines


def recorded(name: str) -> list[dict[str, Any]]:
    text = (RECORDED / f"{name}.json").read_text(encoding="utf-8")
    lines: list[dict[str, Any]] = json.loads(text)
    return lines


@each_scenario
def test_the_fake_answers_as_recorded(name: str) -> None:
    with FakeLetta() as fake:
        assert said(name, fake.url) == recorded(name)


@pytest.mark.letta
@each_scenario
def test_a_real_server_answers_as_recorded(name: str, clean_letta: str) -> None:
    lines = said(name, clean_letta)
    if os.environ.get("REGENERATE"):
        text = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        file = RECORDED / f"{name}.json"
        file.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    assert lines == recorded(name)


def test_nothing_else_is_recorded() -> None:
    assert {file.stem for file in RECORDED.glob("*.json")} == set(SCENARIOS)
