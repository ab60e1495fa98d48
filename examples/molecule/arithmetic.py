"""Evaluation of arithmetic expressions without `eval`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

__all__ = ["calculate"]

MAX_LENGTH = 200
MAX_BITS = 4096

Number = int | float

_BINARY_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def calculate(expression: str) -> str:
    """Evaluate an arithmetic expression and return the result as text.

    Raises:
        ValueError: the text is not arithmetic, or the result is too large.
        ArithmeticError: the result is undefined, such as a division by zero.
    """
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"`{expression}` is not arithmetic") from error
    return str(_evaluate(tree.body))


def _evaluate(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if type(number) is not bool:
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _evaluate(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_evaluate(left), _evaluate(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY_OPERATORS:
            return _check_size(
                _BINARY_OPERATORS[type(op)](_evaluate(left), _evaluate(right))
            )
    raise ValueError(f"`{ast.unparse(node)}` is not arithmetic")


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int):
        if base.bit_length() * abs(exponent) > MAX_BITS:
            raise ValueError("the result is too large")
        exact: Number = base**exponent
        return exact
    result: object = float(base) ** float(exponent)
    if not isinstance(result, float):
        raise ValueError("the result is not a real number")
    return result


def _check_size(number: Number) -> Number:
    if isinstance(number, int) and number.bit_length() > MAX_BITS:
        raise ValueError("the result is too large")
    return number
