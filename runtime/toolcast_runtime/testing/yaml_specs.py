"""Read YAML spec files with PyYAML, independently of the generator's parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from .generated_package import read_text

# The spec language has only JSON's keywords and numbers; all other scalars are strings.
_KEYWORDS: dict[str, bool | None] = {
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys(["null", "Null", "NULL", "~", ""], None),
}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_spec(path: Path) -> Any:
    """Return the value of a YAML spec; each number is an object with its spelling.

    Raises:
        ValueError: the file has a tag, an anchor or an alias; specs cannot have any.
    """
    events = yaml.parse(read_text(path).removeprefix("\ufeff"), Loader=_Loader)
    # Skip the events for the start of the stream and of the document.
    next(events), next(events)
    return _build_value(next(events), events)


def _build_value(event: Any, events: Iterator[Any]) -> Any:
    if event.anchor is not None or event.tag is not None:
        raise ValueError(
            f"a tag, an anchor or an alias is not allowed\n{event.start_mark}"
        )
    if isinstance(event, yaml.ScalarEvent):
        return _parse_scalar(event.value) if event.implicit[0] else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_build_value(event, events))
        return items
    members = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        members[event.value] = _build_value(next(events), events)
    return members


def _parse_scalar(text: str) -> Any:
    """Return the value of an unquoted scalar; a number as `{"number": spelling}`.

    The spelling is that of generated files.
    """
    if _INTEGER.fullmatch(text):
        return {"number": "0" if text == "-0" else text}
    if not _DECIMAL.fullmatch(text):
        return _KEYWORDS.get(text, text)
    spelling = repr(float(text))
    # Generated files write 1e-05 without an exponent, and 1e-06 as 1e-6.
    if spelling.endswith("e-05"):
        spelling = f"{Decimal(spelling):f}"
    return {"number": spelling.replace("e-0", "e-")}
