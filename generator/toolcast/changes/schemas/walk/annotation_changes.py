"""Changes of what a schema tells and does not check: texts, defaults, examples, formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcast_runtime.validation.references import REFERENCES

from ...change import ABSENT
from ...json_equality import same
from ..schema_rules import KEYWORDS
from ..schema_words import name_words, shown
from .paired_nodes import Difference, Pair
from .plain_changes import difference

__all__ = ["annotation_changes"]

_TOLD = {
    "title": ("title", "title"),
    "description": ("description", "description"),
    "default": ("default", "default"),
    "examples": ("examples", "examples"),
    "format": ("format", "format"),
    "contentEncoding": ("content-encoding", "content encoding"),
    "contentMediaType": ("content-media-type", "content type"),
    "contentSchema": ("content-schema", "content schema"),
    "$comment": ("comment", "comment"),
}
_FLAGS = {
    "deprecated": ("deprecated", "is deprecated"),
    "readOnly": ("read-only", "is read-only"),
    "writeOnly": ("write-only", "is write-only"),
}
_KNOWN = frozenset(word for words in KEYWORDS.values() for word in words) | set(
    REFERENCES
)
_PLURAL = {"examples"}


def annotation_changes(pair: Pair) -> Iterator[Difference]:
    """What has changed of that, and of words that are no keywords."""
    before, after = pair.before.values, pair.after.values
    words = dict.fromkeys((*before, *after))
    for word in words:
        old, new = pair.before.get(word), pair.after.get(word)
        if word in _TOLD:
            row, name = _TOLD[word]
            yield from _told(pair, word, row, name, old, new)
        elif word in _FLAGS:
            yield from _flag(pair, word)
        elif word not in _KNOWN:
            name = f"{name_words(word)}, which is no keyword,"
            yield from _told(pair, word, "unknown-keyword", name, old, new)


def _told(
    pair: Pair, word: str, row: str, name: str, old: Any, new: Any
) -> Iterator[Difference]:
    if same(old, new):
        return
    subject, is_are = pair.subject, "are" if word in _PLURAL else "is"
    if old is ABSENT:
        verb = "set"
        text = f"the {name} of {subject} {is_are} {shown(new)} now"
        if word in _PLURAL:
            text = f"{subject} has {name} now"
    elif new is ABSENT:
        verb = "removed"
        text = f"the {name} of {subject} {is_are} gone: {shown(old)}"
    else:
        verb = "changed"
        text = f"the {name} of {subject} {is_are} {shown(new)} now, was {shown(old)}"
        if word in _PLURAL:
            text = f"the {name} of {subject} are others now"
    text = text.replace("the `", "`")
    yield difference(pair, f"{row}-{verb}", word, text, ())


def _flag(pair: Pair, word: str) -> Iterator[Difference]:
    old, new = pair.before.get(word) is True, pair.after.get(word) is True
    if old == new:
        return
    row, words = _FLAGS[word]
    text = f"{pair.subject} {words}" if new else f"{pair.subject} {words} no more"
    yield difference(pair, f"{row}-{'set' if new else 'removed'}", word, text, ())
