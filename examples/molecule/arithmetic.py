"""Arithmetic on text, without evaluating it as a program."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

__all__ = ["calculate"]

MAX_LENGTH = 200
MAX_BITS = 4096

Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def calculate(expression: str) -> str:
    """The value of an arithmetic expression, as text.

    Raises ValueError for what is no arithmetic or would grow out of bounds, and
    ArithmeticError for what has no value, such as a division by zero.
    """
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"`{expression}` is not arithmetic") from error
    return str(_value(tree.body))


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if type(number) is not bool:
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bounded(_BINARY[type(op)](_value(left), _value(right)))
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


def _bounded(number: Number) -> Number:
    if isinstance(number, int) and number.bit_length() > MAX_BITS:
        raise ValueError("the result is too large")
    return number
