"""JSON values as Python literals, laid out as the layout's groups and entries would be.

Most of a generated file is such data. Each value's text on one line is made once, from its
members' texts, and asked for its width wherever it could stand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .layout import WIDTH, text_width
from .python_strings import broken, string

__all__ = ["flat_data", "flat_data_within", "laid_out_data", "number"]

_LONGEST_KEPT = 32
"""A mapping's key up to that length is one that others have, too."""

_Rows = list[tuple[str, Any, "str | _Rows"]]
"""The members of a value that is too long for any line: lead, member, and its text or rows."""


def laid_out_data(value: Any, indent: int, before: int, after: int) -> str:
    """A JSON value from column `before` on, with `after` columns to follow.

    `indent` is the indentation of the line that it stands on.

    Raises:
        TypeError: the value is not JSON.
        ValueError: a number is not finite.
    """
    value = _plain(value)
    return _placed(value, _shown(value), indent, before, after)


def flat_data_within(value: Any, room: int) -> str | None:
    """A JSON value on one line; None when it has more than `room` columns."""
    shown = flat_data(value) if room > WIDTH else _shown(_plain(value))
    return shown if isinstance(shown, str) and text_width(shown) <= room else None


def flat_data(value: Any) -> str:
    """A JSON value on one line, however long."""
    value = _plain(value)
    if value.__class__ is dict:
        members = [f"{_lead(key)}{flat_data(item)}" for key, item in value.items()]
        return f"{{{', '.join(members)}}}"
    if value.__class__ is list:
        return f"[{', '.join([flat_data(item) for item in value])}]"
    return _word(value)


def _placed(
    value: Any, shown: str | _Rows, indent: int, before: int, after: int
) -> str:
    """A value where it stands: on one line where that is long enough."""
    if isinstance(shown, str):
        if before + text_width(shown) + after <= WIDTH:
            return shown
        if value.__class__ is str:
            return broken(value, shown, indent, before, after)
        shown = _rows(value)
    is_mapping = value.__class__ is dict
    if not shown:
        # Nothing to break at.
        return "{}" if is_mapping else "[]" if value.__class__ is list else _word(value)
    inner = indent + 4
    gap = "\n" + " " * inner
    text = ""
    for lead, item, shown_item in shown:
        start = inner + text_width(lead)
        # The quick case of what is called otherwise.
        if (
            not isinstance(shown_item, str)
            or start + len(shown_item) >= WIDTH
            or not shown_item.isascii()
        ):
            shown_item = _placed(item, shown_item, inner, start, 1)
        text += f"{gap}{lead}{shown_item},"
    end = "\n" + " " * indent
    return f"{{{text}{end}}}" if is_mapping else f"[{text}{end}]"


def _shown(value: Any) -> str | _Rows:
    """A value on one line, or its members where no line is long enough for it."""
    kind = value.__class__
    if kind is not dict and kind is not list:
        return _word(value)
    rows = _rows(value)
    length = 0
    parts = []
    for lead, _, shown in rows:
        if not isinstance(shown, str):
            return rows
        part = lead + shown
        parts.append(part)
        length += len(part) + 2
    # No character is narrower than a column.
    if length > WIDTH:
        return rows
    return f"{{{', '.join(parts)}}}" if kind is dict else f"[{', '.join(parts)}]"


def _rows(value: Any) -> _Rows:
    """The members of a mapping or list; none of anything else."""
    rows: _Rows = []
    is_mapping = value.__class__ is dict
    lead = ""
    for item in value if is_mapping or value.__class__ is list else ():
        if is_mapping:
            lead = _known_lead(item) if len(item) <= _LONGEST_KEPT else _lead(item)
            item = value[item]
        kind = item.__class__
        if kind is str:
            rows.append((lead, item, string(item)))
        elif kind is dict or kind is list:
            rows.append((lead, item, _shown(item)))
        else:
            item = _plain(item)
            rows.append((lead, item, _shown(item)))
    return rows


def _lead(key: str) -> str:
    return f"{string(key)}: "


_known_lead = lru_cache(maxsize=1024)(_lead)


def _plain(value: Any) -> Any:
    """The same as text, mapping or list by its very class, where it is one of these."""
    kind = value.__class__
    if kind is str or kind is dict or kind is list:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, (list, tuple)) else value


def _word(value: Any) -> str:
    if value.__class__ is str:
        return string(value)
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def number(value: float) -> str:
    """A number as it stands in Python.

    Raises:
        ValueError: it is not finite.
    """
    if not math.isfinite(value):
        raise ValueError("not a JSON number")
    return repr(value).replace("e+", "e")
