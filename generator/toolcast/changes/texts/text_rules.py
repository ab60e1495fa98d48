"""Kinds of changes of texts that models read."""

from __future__ import annotations

from ..change import Grade, Grades, Rules

__all__ = ["PURPOSE_LOST", "RESTYLED", "RULES"]

_BREAKING = Grades(prompt=Grade.BREAKING)
_RISKY = Grades(prompt=Grade.RISKY)
_REFUSED = Grades(call=Grade.RISKY, prompt=Grade.RISKY, attachment=Grade.RISKY)

RULES = Rules()
ADDED, REMOVED = RULES.pair(
    "text/added",
    "Models read a text where there was none.",
    _RISKY,
    "text/removed",
    "A text that models read is gone, and with it what it told them.",
    _BREAKING,
)
PURPOSE_REPLACED = RULES.alone(
    "text/purpose-replaced",
    "Most words of the first sentence are gone, and most of the new one's were not there:"
    " models learn another purpose.",
    _BREAKING,
)
PURPOSE_LOST, PURPOSE_STATED = RULES.pair(
    "text/purpose-lost",
    "Most words of the first sentence are nowhere in the text any more: models no longer"
    " learn what it is for.",
    _BREAKING,
    "text/purpose-stated",
    "The first sentence says what the text did not say before.",
    _RISKY,
)
SHRUNK, GREW = RULES.pair(
    "text/shrunk",
    "More than two fifths of a text are gone; what it is for is still said.",
    _RISKY,
    "text/grew",
    "A text is longer by more than two thirds: each turn that shows it costs more.",
    _RISKY,
)
REWORDED = RULES.alone(
    "text/reworded",
    "A text has other words: models may choose and use the tool otherwise.",
    _RISKY,
)
RESTYLED = RULES.alone(
    "text/restyled", "Only white space, case or punctuation of a text differ.", Grades()
)
NAMES_TOOL, NAMES_TOOL_NO_MORE = RULES.pair(
    "text/names-tool",
    "A text speaks of another tool: models are led to it.",
    _RISKY,
    "text/names-tool-no-more",
    "A text no longer speaks of another tool: models are not led to it.",
    _RISKY,
)
NAMES_UNKNOWN, NAMES_UNKNOWN_NO_MORE = RULES.pair(
    "text/names-unknown-tool",
    "A text speaks of a tool that is not there: models call it, and fail.",
    _BREAKING,
    "text/names-unknown-tool-no-more",
    "A text no longer speaks of a tool that is not there.",
    Grades(),
)
CUT_OFF, NOT_CUT_OFF = RULES.pair(
    "text/cut-off",
    "A text is longer than a client shows: models there do not read its end.",
    _RISKY,
    "text/not-cut-off",
    "A text that a client cut off is shown as a whole.",
    Grades(),
)
TOO_LONG, NOT_TOO_LONG = RULES.pair(
    "text/too-long",
    "A text is longer than a provider takes: it may refuse each request with the tool.",
    _REFUSED,
    "text/not-too-long",
    "A text that was longer than a provider takes is within its limit.",
    Grades(),
)
