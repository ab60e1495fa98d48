"""Numbers that validators compare slowly have bounds in a spec."""

from __future__ import annotations

import pytest

from toolcast.parsing.yaml_reader import MAX_LARGE_NUMBERS, read_yaml


def rules_of(text: str) -> list[str]:
    document, findings = read_yaml("a.yaml", text.encode())
    assert (document is None) == bool(findings)
    return [finding.rule for finding in findings]


@pytest.mark.parametrize("keyword", ["required", "enum", "type", "default", "examples"])
def test_many_large_numbers_are_refused_wherever_they_stand(keyword: str) -> None:
    numbers = ", ".join(str(10**20 + n) for n in range(MAX_LARGE_NUMBERS + 1))
    assert rules_of(f"{keyword}: [{numbers}]") == ["yaml/too-large"]


def test_some_large_numbers_and_many_small_ones_are_read() -> None:
    large = ", ".join(str(10**20 + n) for n in range(MAX_LARGE_NUMBERS))
    small = ", ".join(map(str, range(10_000)))
    assert rules_of(f"enum: [{large}, {small}]") == []
