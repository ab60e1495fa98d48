"""Which grades fail: the words of `--fail-on`."""

from __future__ import annotations

from collections.abc import Mapping

from ...suggestions import known_instead
from ..change import AUDIENCES, Grade, Grades

__all__ = ["BadLimit", "DEFAULT", "Limits", "failing", "limits", "limits_text"]

Limits = Mapping[str, Grade]
"""The least grade that fails, by audience; one that is not named fails at none."""

DEFAULT: Limits = dict.fromkeys(AUDIENCES, Grade.BREAKING)
"""A change that breaks anybody fails."""

_NONE = "none"
_EXAMPLES = "as `call=breaking,prompt=risky`, or `risky`, `breaking` or `none` alone"
_WORDS = {Grade.RISKY.word: Grade.RISKY, Grade.BREAKING.word: Grade.BREAKING}


class BadLimit(ValueError):
    """Words that are no limits; the text says what is wrong, and in a second line what helps."""


def limits(words: str) -> Limits:
    """The limits of `call=breaking,prompt=risky`, of one grade for all, or of `none`.

    Raises:
        BadLimit: an audience or a grade is none, or is named twice.
    """
    if words == _NONE:
        return {}
    if words in _WORDS:
        return dict.fromkeys(AUDIENCES, _WORDS[words])
    found: dict[str, Grade] = {}
    for part in words.split(","):
        audience, _, grade = (word.strip() for word in part.partition("="))
        for word, known, noun in (
            (audience, AUDIENCES, "audience"),
            (grade, tuple(_WORDS), "grade"),
        ):
            if word not in known:
                help_ = f"{known_instead(word, known)}; {_EXAMPLES}"
                raise BadLimit(f"`{part}` names no {noun}\n  help: {help_}")
        if audience in found:
            raise BadLimit(f"`{audience}` is named twice")
        found[audience] = _WORDS[grade]
    return found


def failing(grades: Grades, at: Limits) -> list[str]:
    """The audiences for which grades are at their limit or above."""
    named = zip(AUDIENCES, grades, strict=True)
    return [name for name, grade in named if name in at and grade >= at[name]]


def limits_text(at: Limits) -> str:
    """The limits as `--fail-on` takes them."""
    if not at:
        return _NONE
    grades = set(at.values())
    if len(at) == len(AUDIENCES) and len(grades) == 1:
        return grades.pop().word
    return ",".join(f"{name}={at[name].word}" for name in AUDIENCES if name in at)
