"""Bounds on large numbers in a spec, which validators compare slowly."""

from __future__ import annotations

import pytest

from toolcast.parsing.yaml_reader import MAX_LARGE_NUMBERS, read_yaml


def list_rule_ids(text: str) -> list[str]:
    document, findings = read_yaml("a.yaml", text.encode())
    assert (document is None) == bool(findings)
    return [finding.rule for finding in findings]


@pytest.mark.parametrize("keyword", ["required", "enum", "type", "default", "examples"])
def test_large_numbers_above_the_limit_are_rejected(keyword: str) -> None:
    numbers = ", ".join(str(10**20 + n) for n in range(MAX_LARGE_NUMBERS + 1))
    assert list_rule_ids(f"{keyword}: [{numbers}]") == ["yaml/too-large"]


def test_large_numbers_up_to_the_maximum_are_accepted() -> None:
    large = ", ".join(str(10**20 + n) for n in range(MAX_LARGE_NUMBERS))
    small = ", ".join(map(str, range(10_000)))
    assert list_rule_ids(f"enum: [{large}, {small}]") == []
