"""Which names of tools a reader takes for one another."""

from __future__ import annotations

import re

_LOOK_ALIKE = str.maketrans("015", "ols")


def look_alike_key(name: str) -> str:
    """The same for names that differ in case, separators and look-alike characters only.

    `send_mail`, `sendMail`, `send-mai1` and `send_maiI` have one key.
    """
    folded = re.sub(r"[^a-z0-9]", "", name.lower()).replace("i", "l")
    # `v1` and `v10` differ in their number; `mai1` and `mail` in a look-alike.
    return re.sub(r"(?<=[a-z])[015]+(?=[a-z]|$)", _letters, folded)


def _letters(match: re.Match[str]) -> str:
    return match.group().translate(_LOOK_ALIKE)
