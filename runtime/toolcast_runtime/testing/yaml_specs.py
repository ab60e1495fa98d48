"""YAML spec files as values, read by PyYAML without the generator. Needs `PyYAML`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from .generated_package import read_text

# As the spec language has them: JSON's words and numbers, else text.
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys(["null", "Null", "NULL", "~", ""], None),
}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_spec(path: Path) -> Any:
    """The value of a file of YAML, with numbers as `generated_package.spelled` has them.

    Raises:
        ValueError: it has a tag, an anchor or an alias, which no spec has.
    """
    events = yaml.parse(read_text(path).removeprefix("\ufeff"), Loader=_Loader)
    next(events), next(events)
    return _value(next(events), events)


def _value(event: Any, events: Iterator[Any]) -> Any:
    if event.anchor is not None or event.tag is not None:
        raise ValueError(f"a tag, an anchor or an alias\n{event.start_mark}")
    if isinstance(event, yaml.ScalarEvent):
        return _plain(event.value) if event.implicit[0] else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_value(event, events))
        return items
    members = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        members[event.value] = _value(next(events), events)
    return members


def _plain(text: str) -> Any:
    """The value of a word without quotation marks; numbers as lists of MCP spell them."""
    if _INTEGER.fullmatch(text):
        return {"number": "0" if text == "-0" else text}
    if not _DECIMAL.fullmatch(text):
        return _WORDS.get(text, text)
    shown = repr(float(text))
    shown = f"{Decimal(shown):f}" if shown.endswith("e-05") else shown
    return {"number": shown.replace("e-0", "e-")}
