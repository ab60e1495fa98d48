"""Tools that note which fields of their specs are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from toolcast.model.model import ToolSpec
from toolcast.reading.tree import Document

__all__ = ["WatchedTool"]

Note = Callable[[str], object]
_FIELDS = {field.name for field in fields(ToolSpec)} - {"document"}


class WatchedTool(ToolSpec):
    """A tool that is another one, and calls `note` with each field that is looked at.

    `document` is the note of who looks at positions or text. Making a finding and asking
    for the path of its file are none.

    Attributes:
        origin: the tool that it is.
    """

    origin: ToolSpec

    def __init__(self, tool: ToolSpec, note: Note) -> None:
        self.__dict__.update(origin=tool, _note=note)

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__
        if name == "document":
            return WatchedDocument(own(self, "origin").document, own(self, "_note"))
        if name in _FIELDS:
            own(self, "_note")("mcp" if name.startswith("mcp_") else name)
            return getattr(own(self, "origin"), name)
        if name == "schemas":
            # Those of the tool itself, because they are taken apart only once.
            own(self, "_note")("parameters")
            own(self, "_note")("returns")
            return own(self, "origin").schemas
        return own(self, name)


class WatchedDocument:
    """The document of a watched tool."""

    def __init__(self, document: Document, note: Note) -> None:
        self.finding = document.finding
        self.file = document.file
        self.value = _WatchedValue(document.value, note)
        self._document = document
        self._note = note

    def __getattr__(self, name: str) -> Any:
        self._note("document")
        return getattr(self._document, name)


class _WatchedValue(dict[str, Any]):
    """The root of a spec."""

    def __init__(self, value: dict[str, Any], note: Note) -> None:
        super().__init__(value)
        self._note = note

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        self._note("fields")
        return super().__iter__()

    def keys(self) -> Any:
        self._note("fields")
        return super().keys()

    def _all(self) -> None:
        for key in super().__iter__():
            self._note(key)

    def items(self) -> Any:
        self._all()
        return super().items()

    def values(self) -> Any:
        self._all()
        return super().values()
