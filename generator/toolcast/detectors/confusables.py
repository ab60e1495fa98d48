"""Finds letters of other scripts that look like Latin ones.

Source: Unicode's confusables, those of Latin letters that are common. Greek letters of
formulas (`Δt`, `µs`, `λ-term`) are confused with no Latin letter and left alone.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["confusable_word"]

_CONFUSABLES = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u03bd\u03b9\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u0585\u057d\u0578\u0570\u0261\u0269\u13a0\u13a1\u13aa\u13b3\u13c0\u13d2\u13da\u13de\u13df"
)


def confusable_word(text: str) -> tuple[str, str] | None:
    """A word that mixes Latin letters with confusable ones, and the first of those.

    Words in the styled letters of mathematics count, too. None when there is none.
    """
    if text.isascii():
        return None
    for pattern in _patterns():
        match = pattern.search(text)
        if match:
            return match.group(), match[1]
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Mixed and styled words; made when the first text needs them, because few do."""
    return (
        re.compile(
            rf"(?=\w{{0,60}}[A-Za-z])(?=\w{{0,60}}([{_CONFUSABLES}]))"
            rf"(?<!\w)[A-Za-z0-9_{_CONFUSABLES}]{{3,60}}(?!\w)"
        ),
        re.compile("([\U0001d400-\U0001d7ff])[\U0001d400-\U0001d7ff]{2,}"),
    )
