"""Reads a YAML file that there is nothing to say about: its value, and no positions.

It refuses every file that could have a finding, a valid one as well as a broken one, and
never words why: the reader proper does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import yaml

from .characters import forbidden, invisible
from .scalars import resolve_plain

__all__ = ["MAX_DEPTH", "MAX_NODES", "Loader", "NotPlain", "read_plain"]

MAX_DEPTH = 100
MAX_NODES = 25_000

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's scanner where PyYAML was built with it."""

_LONGEST_KEPT = 32
_known_scalar = lru_cache(maxsize=4096)(resolve_plain)


class NotPlain(Exception):
    """The file has something that the reader proper must look at."""


def read_plain(text: str) -> Any:
    """The JSON value of a YAML text without forbidden characters.

    Raises:
        NotPlain: the reader proper might have a finding.
    """
    # What is written without escapes has the file's own characters, and line ends.
    is_harmless = text.isascii() and "\\" not in text
    parser = Loader(text)
    try:
        return _Plain(parser.get_event, is_harmless).document()
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise NotPlain from error
    finally:
        parser.dispose()


class _Plain:
    def __init__(self, next_event: Callable[[], Any], is_harmless: bool) -> None:
        self._next = next_event
        self._is_harmless = is_harmless
        self._nodes = 1

    def document(self) -> Any:
        """The value of a stream of one document without directives."""
        self._next()
        start = self._next()
        if (
            start.__class__ is not yaml.DocumentStartEvent
            or start.version
            or start.tags
        ):
            raise NotPlain
        value = self._node(self._next(), 0)
        self._next()
        if self._next().__class__ is not yaml.StreamEndEvent:
            raise NotPlain
        return value

    def _node(self, event: Any, depth: int) -> Any:
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            return self._scalar(event)
        if event.anchor is not None or event.tag is not None or depth >= MAX_DEPTH:
            raise NotPlain
        # An alias has no more than an anchor.
        if kind is yaml.MappingStartEvent:
            return self._mapping(depth + 1)
        return self._sequence(depth + 1)

    def _mapping(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        next_event = self._next
        while (event := next_event()).__class__ is not yaml.MappingEndEvent:
            if event.__class__ is not yaml.ScalarEvent:
                raise NotPlain
            key = self._scalar(event)
            if key.__class__ is not str or key in result or key == "<<":
                raise NotPlain
            result[key] = self._node(next_event(), depth)
        self._count(len(result))
        return result

    def _sequence(self, depth: int) -> list[Any]:
        result: list[Any] = []
        next_event = self._next
        while (event := next_event()).__class__ is not yaml.SequenceEndEvent:
            result.append(self._node(event, depth))
        self._count(len(result))
        return result

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise NotPlain

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.anchor is not None or event.tag is not None:
            raise NotPlain
        if not (self._is_harmless or _is_shown(text)):
            raise NotPlain
        if not event.implicit[0]:
            return text
        return (
            _known_scalar(text) if len(text) <= _LONGEST_KEPT else resolve_plain(text)
        )


def _is_shown(text: str) -> bool:
    return forbidden(text) is None and invisible(text) is None
