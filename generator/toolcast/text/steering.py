"""Phrases that order the use of a named tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["steering"]

_STEER = (
    r"(?:"
    r"\b(?:always|must|never|do not|don['’]t|have to|required to|are to)"
    r" (?:\w+ ){{0,1}}(?:call|use|invoke|run|execute|trust)"
    r"|\b(?:before|after|whenever|every time|each time)"
    r" (?:you )?(?:call|use|invoke|run|execut|us|invok|runn)(?:e|ing)?"
    r"|\b(?:overrides?|replaces?|supersedes?|disables?)"
    r") (?:the |to )?(?:tool |function )?{0}"
    r"|{0} (?:tool |function )?(?:must|should) (?:never|not|always|first|only)"
    r" (?:\w+ ){{0,1}}(?:call|use|invoke|run|execute|trust)\w{{0,2}}\b"
)


def steering(names: Sequence[str]) -> re.Pattern[str] | None:
    """A pattern of phrases that order the use of one of the tools; None without tools.

    A name that could be a word of a sentence counts in quotes only.
    """
    if not names:
        return None
    quoted = "|".join(re.escape(name) for name in names)
    telling = [name for name in names if re.search(r"[_.\d-]|[a-z][A-Z]", name)]
    plain = "|".join(re.escape(name) for name in telling)
    shown = rf"[`'\"‘“]({quoted})[`'\"’”]"
    if plain:
        shown = rf"(?:{shown}|(?<![\w./-])({plain})(?![\w/-]))"
    # The name stands in the pattern twice; groups tell which one was found.
    return re.compile(_STEER.replace(" ", r"\s{{1,4}}").format(shown), re.IGNORECASE)
