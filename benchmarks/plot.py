"""A bar a figure: how far it is from its goal, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from paired import Row

__all__ = ["plot"]

_WIDTH, _LEFT, _RIGHT, _STEP, _TOP = 1080, 560, 120, 28, 76
_REACH = 16.0
_REACHED, _MISSED = "#1f8a5b", "#c2541b"
_FONT = "-apple-system, 'Segoe UI', 'DejaVu Sans', Roboto, Helvetica, Arial, sans-serif"


def plot(rows: Sequence[Row]) -> str:
    """The picture of every row that has a goal.

    A bar goes right from the goal by the factor by which it is exceeded, left by the one that
    is missing; steps are of two, and 16 is the longest bar.
    """
    shown = [row for row in rows if row.goal is not None]
    height = _TOP + _STEP * len(shown) + 40
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    unit = (_WIDTH - _RIGHT - _LEFT) / 2 / math.log2(_REACH)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        f' role="img" aria-labelledby="t d" font-family="{_FONT}">',
        '<title id="t">Figures and their goals</title>',
        '<desc id="d">One bar a figure: right of the line the goal is reached, left of'
        " it it is missed; the length is the factor.</desc>",
        "<style>.n{font-size:13px;fill:#1b2733}.s{font-size:12px;fill:#52616f}</style>",
        f'<rect x="1" y="1" width="{_WIDTH - 2}" height="{height - 2}" rx="16"'
        ' fill="#f6f8fa" stroke="#d5dde4"/>',
        f'<text x="{middle - 12:.0f}" y="32" class="s" text-anchor="end">missed by a'
        " factor</text>",
        f'<text x="{middle + 12:.0f}" y="32" class="s">better than the goal by a'
        " factor</text>",
    ]
    bottom = height - 24
    for power in range(-int(math.log2(_REACH)), int(math.log2(_REACH)) + 1):
        x = middle + power * unit
        colour = "#7a8996" if power == 0 else "#dde4ea"
        lines.append(f'<path d="M{x:.1f} 60V{bottom}" stroke="{colour}"/>')
        label = "goal" if power == 0 else str(2 ** abs(power))
        lines.append(
            f'<text x="{x:.1f}" y="54" class="s" text-anchor="middle">{label}</text>'
        )
    for number, row in enumerate(shown):
        lines += _bar(row, _TOP + number * _STEP, middle, unit)
    return "\n".join([*lines, "</svg>", ""])


def _bar(row: Row, y: float, middle: float, unit: float) -> list[str]:
    goal = row.goal or 1.0
    factor = row.figure / goal if row.at_least else goal / row.figure
    length = max(-1.0, min(1.0, math.log2(factor) / math.log2(_REACH)))
    width = abs(length) * unit * math.log2(_REACH)
    x = middle if length >= 0 else middle - width
    colour = _REACHED if row.is_met else _MISSED
    bound = row.bound.replace(">=", "≥").replace("<=", "≤")
    return [
        f'<text x="{_LEFT - 14}" y="{y + 13}" class="n" text-anchor="end">'
        f"{escape(row.what)}</text>",
        f'<rect x="{x:.1f}" y="{y}" width="{max(width, 1):.1f}" height="18" rx="3"'
        f' fill="{colour}"/>',
        f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 13}" class="n">{row.figure:.3g}'
        f'{"" if row.unit == "x" else " " + row.unit}'
        f' <tspan class="s">{escape(bound)}</tspan></text>',
    ]
