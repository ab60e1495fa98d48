"""Kinds of changes of texts that models read."""

from __future__ import annotations

from ..change import ChangeRule, Grade, Grades

__all__ = ["PURPOSE_LOST", "RESTYLED", "RULES"]

_BREAKING = Grades(prompt=Grade.BREAKING)
_RISKY = Grades(prompt=Grade.RISKY)
_REFUSED = Grades(call=Grade.RISKY, prompt=Grade.RISKY, attachment=Grade.RISKY)

ADDED = ChangeRule(
    "text/added",
    "Models read a text where there was none.",
    _RISKY,
    opposite="text/removed",
)
REMOVED = ChangeRule(
    "text/removed",
    "A text that models read is gone, and with it what it told them.",
    _BREAKING,
    opposite="text/added",
)
PURPOSE_REPLACED = ChangeRule(
    "text/purpose-replaced",
    "Most words of the first sentence are gone, and most of the new one's were not there:"
    " models learn another purpose.",
    _BREAKING,
    opposite="text/purpose-replaced",
)
PURPOSE_LOST = ChangeRule(
    "text/purpose-lost",
    "Most words of the first sentence are nowhere in the text any more: models no longer"
    " learn what it is for.",
    _BREAKING,
    opposite="text/purpose-stated",
)
PURPOSE_STATED = ChangeRule(
    "text/purpose-stated",
    "The first sentence says what the text did not say before.",
    _RISKY,
    opposite="text/purpose-lost",
)
SHRUNK = ChangeRule(
    "text/shrunk",
    "More than two fifths of a text are gone; what it is for is still said.",
    _RISKY,
    opposite="text/grew",
)
GREW = ChangeRule(
    "text/grew",
    "A text is longer by more than two thirds: each turn that shows it costs more.",
    _RISKY,
    opposite="text/shrunk",
)
REWORDED = ChangeRule(
    "text/reworded",
    "A text has other words: models may choose and use the tool otherwise.",
    _RISKY,
    opposite="text/reworded",
)
RESTYLED = ChangeRule(
    "text/restyled",
    "Only white space, case or punctuation of a text differ.",
    Grades(),
    opposite="text/restyled",
)
NAMES_TOOL = ChangeRule(
    "text/names-tool",
    "A text speaks of another tool: models are led to it.",
    _RISKY,
    opposite="text/names-tool-no-more",
)
NAMES_TOOL_NO_MORE = ChangeRule(
    "text/names-tool-no-more",
    "A text no longer speaks of another tool: models are not led to it.",
    _RISKY,
    opposite="text/names-tool",
)
NAMES_UNKNOWN = ChangeRule(
    "text/names-unknown-tool",
    "A text speaks of a tool that is not there: models call it, and fail.",
    _BREAKING,
    opposite="text/names-unknown-tool-no-more",
)
NAMES_UNKNOWN_NO_MORE = ChangeRule(
    "text/names-unknown-tool-no-more",
    "A text no longer speaks of a tool that is not there.",
    Grades(),
    opposite="text/names-unknown-tool",
)
CUT_OFF = ChangeRule(
    "text/cut-off",
    "A text is longer than a client shows: models there do not read its end.",
    _RISKY,
    opposite="text/not-cut-off",
)
NOT_CUT_OFF = ChangeRule(
    "text/not-cut-off",
    "A text that a client cut off is shown as a whole.",
    Grades(),
    opposite="text/cut-off",
)
TOO_LONG = ChangeRule(
    "text/too-long",
    "A text is longer than a provider takes: it may refuse each request with the tool.",
    _REFUSED,
    opposite="text/not-too-long",
)
NOT_TOO_LONG = ChangeRule(
    "text/not-too-long",
    "A text that was longer than a provider takes is within its limit.",
    Grades(),
    opposite="text/too-long",
)

RULES = (
    ADDED,
    REMOVED,
    PURPOSE_REPLACED,
    PURPOSE_LOST,
    PURPOSE_STATED,
    SHRUNK,
    GREW,
    REWORDED,
    RESTYLED,
    NAMES_TOOL,
    NAMES_TOOL_NO_MORE,
    NAMES_UNKNOWN,
    NAMES_UNKNOWN_NO_MORE,
    CUT_OFF,
    NOT_CUT_OFF,
    TOO_LONG,
    NOT_TOO_LONG,
)
