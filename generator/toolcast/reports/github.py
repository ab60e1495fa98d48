"""Workflow commands: GitHub shows them beside the lines of a pull request.

Source: GitHub Docs, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from collections.abc import Iterable

from ..findings import Severity
from .escaping import workflow_message, workflow_property
from .item import Item, place_in_repository

__all__ = ["workflow_commands"]

_WORDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}


def workflow_commands(items: Iterable[Item], root: str | None) -> str:
    """A line for each item; files are named below the repository's own folder.

    Args:
        root: the project's folder; None when it does not matter.
    """
    return "".join(_command(item, root) for item in items)


def _command(item: Item, root: str | None) -> str:
    place = place_in_repository(item.place, root)
    properties = [f"file={workflow_property(place.file)}"]
    if place.line:
        properties += [f"line={place.line}", f"col={place.column}"]
        properties += [f"endColumn={place.end_column}"]
    properties.append(f"title={workflow_property(item.rule)}")
    message = item.whole_text
    if item.help:
        message += f" ({item.help})"
    if item.accepted:
        message += f" (accepted: {item.accepted})"
    word = _WORDS[Severity.NOTE if item.accepted else item.severity]
    return f"::{word} {','.join(properties)}::{workflow_message(message)}\n"
