"""Limits of the work to shorten one result: shortened arrays and validations."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.results.budget import (
    ResultLimits,
    ResultShortener,
    encode_json_text,
)


def test_at_most_32_shortened_results_are_validated() -> None:
    validated: list[Any] = []

    def is_valid(value: Any) -> bool:
        validated.append(value)
        return False

    value = {f"k{number}": [number] * 1_000 for number in range(9)}
    limits = ResultLimits(200, len, is_valid, lambda *_: "")
    assert (
        ResultShortener(value, len(encode_json_text(value)), limits).shorten() is None
    )
    assert len(validated) == 32


@pytest.mark.parametrize(
    "value",
    [
        {f"k{number}": [1, 2, 3] for number in range(20_000)},
        {"all": {f"k{number}": ["a"] for number in range(20_000)}},
        {f"k{number}": [[1], [2]] for number in range(20_000)},
        {f"k{number}": [{}] for number in range(20_000)},
        {"big": list(range(9)), **{f"k{number}": [0] for number in range(20_000)}},
    ],
)
def test_result_with_20000_tiny_arrays_is_not_shortened_and_never_validated(
    value: dict[str, Any],
) -> None:
    """The arrays that may be shortened cannot save enough, so that none is shortened."""
    validated: list[Any] = []

    def is_valid(part: Any) -> bool:
        validated.append(part)
        return True

    limits = ResultLimits(1_000, len, is_valid, lambda *_: "")
    size = len(encode_json_text(value))
    assert ResultShortener(value, size, limits).shorten() is None
    assert validated == []
