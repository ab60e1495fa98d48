"""Changes of keywords that are there or are not: constraints, flags, and what is told only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcast_runtime.validation.references import REFERENCES

from ...change import ABSENT
from ...json_equality import same
from ..schema_rules import KEYWORDS
from ..schema_words import name_words, shown
from .paired_nodes import Difference, Edit, Pair, edit_of

__all__ = ["annotation_changes", "difference", "keyword_changes", "plain"]

# The name of the rule, and what is said of a subject where the keyword comes, goes, changes.
_WORDS: dict[str, tuple[str, ...]] = {
    "multipleOf": (
        "multiple-of",
        "{} must be a multiple of {new} now",
        "{} need not be a multiple of {old} any more",
        "{} must be a multiple of {new} now, it was {old}",
    ),
    "pattern": (
        "pattern",
        "{} must match {new} now",
        "{} need not match {old} any more",
        "{} must match {new} now, it was {old}",
    ),
    "uniqueItems": (
        "unique-items",
        "{} may not have an item twice any more",
        "{} may have an item twice",
    ),
    "contains": (
        "contains",
        "{} must contain an item of a kind",
        "{} need not contain an item of a kind",
    ),
    "not": (
        "not",
        "{} may not match a schema",
        "{} may match a schema that it could not",
    ),
    "anyOf": (
        "any-of",
        "{} must match any of some schemas now",
        "{} need not match one of some schemas any more",
    ),
    "oneOf": (
        "one-of",
        "{} must match one of some schemas now",
        "{} need not match one of some schemas any more",
    ),
    "deprecated": ("deprecated", "{} is deprecated", "{} is deprecated no more"),
    "readOnly": ("read-only", "{} is read-only", "{} is read-only no more"),
    "writeOnly": ("write-only", "{} is write-only", "{} is write-only no more"),
    "examples": (
        "examples",
        "{} has examples now",
        "the examples of {} are gone: {old}",
        "the examples of {} are others now",
    ),
}
_TOLD = {
    "title": "title",
    "description": "description",
    "default": "default",
    "format": "format",
    "contentEncoding": "content encoding",
    "contentMediaType": "content media type",
    "contentSchema": "content schema",
    "$comment": "comment",
}
_FLAGS = frozenset(("uniqueItems", "deprecated", "readOnly", "writeOnly"))
_READ_ONLY = _TOLD.keys() | {"examples", "deprecated", "readOnly", "writeOnly"}
_KNOWN = frozenset().union(*KEYWORDS.values(), REFERENCES)


def keyword_changes(
    pair: Pair, keyword: str, edits: tuple[Edit, ...] | None = None
) -> Iterator[Difference]:
    """What has changed of a keyword; nothing where it says the same."""
    old, new = pair.before.get(keyword), pair.after.get(keyword)
    if keyword in _FLAGS:
        old, new = (True if value is True else ABSENT for value in (old, new))
    if same(old, new):
        return
    row, *words = _WORDS.get(keyword) or _told(keyword)
    way = 0 if old is ABSENT else 1 if new is ABSENT else 2
    both = {"old": shown(old) if way else "", "new": "" if way == 1 else shown(new)}
    text = words[way].format(pair.subject, **both)
    row = f"{row}-{('set', 'removed', 'changed')[way]}"
    yield difference(pair, row, keyword, text, edits)


def annotation_changes(pair: Pair) -> Iterator[Difference]:
    """What has changed of what is told and not checked, and of words that are no keywords."""
    for word in dict.fromkeys((*pair.before.values, *pair.after.values)):
        if word in _READ_ONLY or word not in _KNOWN:
            # Where formats are asserted, one may refuse values.
            edits = None if word == "format" else ()
            yield from keyword_changes(pair, word, edits)


def _told(keyword: str) -> tuple[str, ...]:
    name = _TOLD.get(keyword)
    row = name.replace(" ", "-") if name else "unknown-keyword"
    what = f"the {name}" if name else f"{name_words(keyword)}, which is no keyword,"
    what = what.replace("{", "{{").replace("}", "}}")
    return (
        row,
        what + " of {} is {new} now",
        what + " of {} is gone: {old}",
        what + " of {} is {new} now, was {old}",
    )


def difference(
    pair: Pair,
    row: str,
    keyword: str,
    message: str,
    edits: tuple[Edit, ...] | None = None,
) -> Difference:
    """A change of one keyword's value."""
    before, after = pair.before.get(keyword), pair.after.get(keyword)
    path = (pair.before if after is ABSENT else pair.after).at(keyword)
    made = edit_of(pair, keyword) if edits is None else edits
    return Difference(row, path, before, after, message, made, pair)


def plain(schema: Any) -> Any:
    """A schema, with one word for those that say nothing."""
    return True if schema == {} or schema is ABSENT else schema
