"""Why a figure misses its goal, as the profile showed it; the page prints those that do."""

from __future__ import annotations

__all__ = ["REASONS"]

# Words that a row's name contains -> what was found.
REASONS: dict[str, str] = {
    "one spec of": (
        "A change needs Jinja2, the dataclasses of the model and PyYAML, whose imports alone are"
        " more than the goal; then the aggregates, where the changed tool stands among all"
        " others, are made and compared whole."
    ),
    "import of a registry": (
        "The interpreter's start is nearly all of the other side, so that two modules of the"
        " runtime that are imported are the difference."
    ),
}
