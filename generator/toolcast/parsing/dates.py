"""Calendar dates in project files."""

from __future__ import annotations

import datetime
import re

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_iso_date(text: str) -> datetime.date | None:
    """Parse `YYYY-MM-DD`; return None for other formats and for dates that do not exist."""
    # `fromisoformat` also accepts other formats of ISO 8601, such as `2030-W05-1`.
    if not _ISO_DATE.fullmatch(text):
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None
