"""A bar a comparison, how many times faster or slower, as SVG for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from paired import Row

__all__ = ["picture"]

_WIDTH, _LEFT, _RIGHT, _STEP, _TOP = 1080, 560, 90, 26, 70
_REACH = 64.0
_FONT = "-apple-system, 'Segoe UI', 'DejaVu Sans', Roboto, Helvetica, Arial, sans-serif"
_STYLE = """\
<style>
.card{fill:#f6f8fa;stroke:#d5dde4}.n{font-size:13px;fill:#1b2733}.s{font-size:12px;fill:#52616f}
.grid{stroke:#dde4ea}.one{stroke:#7a8996}.faster{fill:#1f8a5b}.slower{fill:#c2541b}
@media(prefers-color-scheme:dark){.card{fill:#161b22;stroke:#30363d}.n{fill:#e6edf3}
.s{fill:#9aa7b4}.grid{stroke:#2b323b}.one{stroke:#7a8996}.faster{fill:#3fb37f}.slower{fill:#e07a43}}
</style>"""


def picture(rows: Sequence[Row]) -> str:
    """Return the chart: bars go right where Toolcast is faster, left where it is slower.

    The length is the factor by the clock on a logarithmic scale; 64 is the longest bar.
    """
    height = _TOP + _STEP * len(rows) + 30
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    unit = (_WIDTH - _RIGHT - _LEFT) / 2 / math.log2(_REACH)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        f' role="img" aria-labelledby="t d" font-family="{_FONT}">',
        '<title id="t">Toolcast beside others</title>',
        '<desc id="d">One bar a comparison: to the right Toolcast is faster, to the left'
        " slower; the length is the factor.</desc>",
        _STYLE,
        f'<rect x="1" y="1" width="{_WIDTH - 2}" height="{height - 2}" rx="16"'
        ' class="card"/>',
        f'<text x="{middle - 12:.0f}" y="28" class="s" text-anchor="end">Toolcast is'
        " slower</text>",
        f'<text x="{middle + 12:.0f}" y="28" class="s">Toolcast is faster</text>',
    ]
    for power in range(-6, 7):
        x = middle + power * unit
        kind = "one" if power == 0 else "grid"
        lines.append(f'<path d="M{x:.1f} 56V{height - 18}" class="{kind}"/>')
        if power % 2 == 0:
            lines.append(
                f'<text x="{x:.1f}" y="48" class="s" text-anchor="middle">'
                f"{2 ** abs(power)}x</text>"
            )
    for number, row in enumerate(rows):
        lines += _bar(row, _TOP + number * _STEP, middle, unit)
    return "\n".join([*lines, "</svg>", ""])


def _bar(row: Row, y: float, middle: float, unit: float) -> list[str]:
    power = max(-6.0, min(6.0, math.log2(row.clock)))
    width = max(1.0, abs(power) * unit)
    x = middle if power >= 0 else middle - width
    kind = "faster" if power >= 0 else "slower"
    factor = row.clock if power >= 0 else 1 / row.clock
    return [
        f'<text x="{_LEFT - 14}" y="{y + 13}" class="n" text-anchor="end">'
        f"{escape(f'{row.work}: {row.one}')}</text>",
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="17" rx="3"'
        f' class="{kind}"/>',
        f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 13}" class="n">{factor:.3g}x</text>',
    ]
