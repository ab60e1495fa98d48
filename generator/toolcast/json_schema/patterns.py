"""Analyses the regular expressions of schemas: validity, and the cost of a match."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from re import _constants as constants  # type: ignore[attr-defined]  # private: not in typeshed
from re import _parser as parser  # type: ignore[attr-defined]  # likewise
from typing import Any, NamedTuple

from toolcast_runtime.validation.compiled import compiled

__all__ = ["Pattern", "can_be_applied", "pattern"]

_MANY = 16
"""Repeating this often is as bad as repeating without end."""
_MOST_STEPS = 1_000_000
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
# ECMA-262 with words that Python spells in another way or has not at all.
_ECMA = (
    (re.compile(r"\\[pP]\{[A-Za-z_]+(=[A-Za-z_]+)?\}"), r"\\w"),
    (re.compile(r"\(\?<(?![=!])([A-Za-z_]\w*)>"), r"(?P<\1>"),
    (re.compile(r"\\k<([A-Za-z_]\w*)>"), r"(?P=\1)"),
    (re.compile(r"\\u\{[0-9A-Fa-f]{1,6}\}"), "x"),
    (re.compile(r"\\c[A-Za-z]"), "x"),
    (re.compile(r"\[\^\]"), "."),
    (re.compile(r"\\([-/:;<=>@!#%&,'\"~`_ ]|[^\W\dA-Za-z])"), "x"),
)


class Pattern(NamedTuple):
    """The analysis of one regular expression.

    Attributes:
        error: why neither Python nor ECMA-262 takes it; empty when one does.
        is_ecma_only: Python does not take it.
        is_slow: repeats something that can repeat in the same place, so that a text that
            does not match can take time without end.
        depth: how deep its repetitions are nested.
        repeats: how many unbounded repetitions it has.
    """

    error: str = ""
    is_ecma_only: bool = False
    is_slow: bool = False
    depth: int = 0
    repeats: int = 0

    def is_quick(self, length: int) -> bool:
        """Whether matching a text of that length surely takes little time."""
        if self.error or self.is_ecma_only:
            return False
        if self.depth > 1:
            return length < 200 and float(self.depth) ** length <= _MOST_STEPS
        return float(length + 1) ** min(self.repeats, 40) <= _MOST_STEPS


@lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Analyses a regular expression, which is parsed and never run."""
    error = _error(text)
    if error:
        translated = text
        for ecma, python in _ECMA:
            translated = ecma.sub(python, translated)
        if _error(translated):
            return Pattern(error)
        return Pattern(is_ecma_only=True, is_slow=_facts(translated).is_slow)
    return _facts(text)


@lru_cache(maxsize=4096)
def can_be_applied(text: str) -> bool:
    """Whether the validator of calls takes a regular expression."""
    try:
        compiled({"pattern": text})
    except ValueError:
        return False
    return True


def _error(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except re.error as error:
        return error.msg
    except (OverflowError, RecursionError) as error:
        return f"too large: {error}"
    return ""


def _facts(text: str) -> Pattern:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parser.parse(text)
    depth, repeats, is_slow = 0, 0, False
    waiting: list[tuple[Any, int]] = [(parsed, 0)]
    while waiting:
        sequence, above = waiting.pop()
        for operation, argument in sequence:
            here = above
            if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
                _, most, body = argument
                if most >= _MANY:
                    repeats += 1
                    here = (
                        above + 1 + any(op is constants.BRANCH for op, _ in _flat(body))
                    )
                    depth = max(depth, here)
                    is_slow = is_slow or _repeats_itself(body)
            waiting += ((part, here) for part in _parts(operation, argument))
    return Pattern(is_slow=is_slow, depth=depth, repeats=repeats)


def _parts(operation: Any, argument: Any) -> Iterator[Any]:
    """The sequences within one operation."""
    if operation is constants.BRANCH:
        yield from argument[1]
    elif operation is constants.SUBPATTERN:
        yield argument[3]
    elif operation in _REPEATS:
        yield argument[2]
    elif operation is constants.ATOMIC_GROUP:
        yield argument
    elif operation in (constants.ASSERT, constants.ASSERT_NOT):
        yield argument[1]
    elif operation is constants.GROUPREF_EXISTS:
        yield from (part for part in argument[1:] if part is not None)


def _flat(sequence: Any) -> Iterator[tuple[Any, Any]]:
    """The operations of a sequence, those of its plain groups among them."""
    for operation, argument in sequence:
        if operation is constants.SUBPATTERN:
            yield from _flat(argument[3])
        else:
            yield operation, argument


def _repeats_itself(body: Any) -> bool:
    """Whether a repeated body can be one endless repetition and nothing else."""
    repeated, needed = False, 0
    for operation, argument in _flat(body):
        if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            least, most, inner = argument
            if most >= _MANY:
                repeated = True
            else:
                needed += least * inner.getwidth()[0]
        elif operation is constants.BRANCH:
            branches = argument[1]
            repeated = repeated or any(map(_repeats_itself, branches))
            needed += min(branch.getwidth()[0] for branch in branches)
            if repeated:
                needed = 0
        elif operation not in (constants.AT, constants.ASSERT, constants.ASSERT_NOT):
            needed += 1
    return repeated and needed == 0
