"""Arithmetic of the workspace's worker: results, rejected text and limits."""

from __future__ import annotations

import pytest

from examples.molecule.arithmetic import calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("-(4 - 6) ** 3", "8"),
        ("7 // 2 + 7 % 4", "6"),
        ("1 / 4", "0.25"),
        ("2 ** -1", "0.5"),
        ("+1.5e2", "150.0"),
    ],
)
def test_calculate_evaluates_an_arithmetic_expression(
    expression: str, value: str
) -> None:
    assert calculate(expression) == value


INVALID = ["__import__('os')", "a", "1 if 1 else 2", "'a' * 3", "True + 1", "1j", ""]
INVALID += ["1 +", "9 ** 9 ** 9", "2 ** 5000", "(-8) ** 0.5", "1" * 201, "\0"]


@pytest.mark.parametrize("expression", INVALID)
def test_calculate_raises_value_error_for_an_invalid_expression(
    expression: str,
) -> None:
    with pytest.raises(ValueError, match=r".+"):
        calculate(expression)


@pytest.mark.parametrize("expression", ["1 / 0", "0 ** -1", "1e200 ** 2"])
def test_calculate_raises_arithmetic_error_for_undefined_results(
    expression: str,
) -> None:
    with pytest.raises(ArithmeticError):
        calculate(expression)
