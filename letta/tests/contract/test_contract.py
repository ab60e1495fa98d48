"""Recorded answers of Letta, which both the fake and a real server must return.

`make test-letta-real` compares a real server with the recordings and updates them with
REGENERATE=1. Without it, only the fake is compared.
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

parametrize_scenarios = pytest.mark.parametrize("name", SCENARIOS)


def run_scenario(name: str, base_url: str) -> list[dict[str, Any]]:
    with Exchange(base_url) as letta:
        SCENARIOS[name](letta)
        return letta.lines


def read_recording(name: str) -> list[dict[str, Any]]:
    text = (RECORDED / f"{name}.json").read_text(encoding="utf-8")
    lines: list[dict[str, Any]] = json.loads(text)
    return lines


@parametrize_scenarios
def test_fake_letta_server_answers_as_recorded_from_a_real_server(name: str) -> None:
    with FakeLetta() as fake:
        assert run_scenario(name, fake.url) == read_recording(name)


@pytest.mark.letta
@parametrize_scenarios
def test_real_letta_server_answers_as_recorded(name: str, clean_letta: str) -> None:
    lines = run_scenario(name, clean_letta)
    if os.environ.get("REGENERATE"):
        text = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        file = RECORDED / f"{name}.json"
        file.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    assert lines == read_recording(name)


def test_recorded_letta_answer_files_match_the_contract_scenarios() -> None:
    assert {file.stem for file in RECORDED.glob("*.json")} == set(SCENARIOS)
