"""Fields that are compared by their values alone, a row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..reading.tree import Path
from .change import ABSENT, Change, ChangeRule, SpecFiles
from .json_equality import key_of, same
from .json_values import said

__all__ = [
    "HIDDEN",
    "FieldRow",
    "amount",
    "changes_of",
    "entries",
    "fields_of_rows",
    "flag",
    "items",
    "value",
]


HIDDEN = "***"
"""Stands for what looks like a secret."""


class Difference(NamedTuple):
    """One change of a field.

    Attributes:
        rule: its kind.
        message: what has changed.
        before: the value that was there, or ABSENT.
        after: the value that is there, or ABSENT.
        step: the way from the field to what has changed.
    """

    rule: ChangeRule
    message: str
    before: Any
    after: Any
    step: Path = ()


class FieldRow(NamedTuple):
    """How one field is compared.

    Attributes:
        field: its way from the root, `ledger.path`; `*` is any key of a mapping. Entries
            that only one side has are not looked into.
        subject: what messages call it, with `{}` for each key that a `*` stands for.
        differences: finds its changes, given the subject and both values.
    """

    field: str
    subject: str
    differences: Callable[[str, Any, Any], Iterator[Difference]]


def changes_of(rows: Iterable[FieldRow], files: SpecFiles) -> Iterator[Change]:
    """The changes of all rows' fields."""
    for row in rows:
        trees = files.before.tree, files.after.tree
        for path, keys, before, after in _both(row.field.split("."), *trees):
            subject = row.subject.format(*map(said, keys))
            for found in row.differences(subject, before, after):
                yield files.changed(
                    found.rule,
                    (*path, *found.step),
                    found.message,
                    found.before,
                    found.after,
                )


def fields_of_rows(rows: Iterable[FieldRow]) -> frozenset[str]:
    """The fields that rows compare."""
    return frozenset(row.field for row in rows)


def value(
    field: str,
    subject: str,
    other: ChangeRule,
    *,
    came: ChangeRule | None = None,
    gone: ChangeRule | None = None,
    default: Any = ABSENT,
    is_secret: Callable[[Any], bool] = lambda value: False,
) -> FieldRow:
    """A field whose value is one thing.

    Args:
        other: another value stands there.
        came: a value stands there that had none, not even by default; default: `other`.
        gone: the other way round.
        default: what the field's absence means.
        is_secret: whether a value may not be shown.
    """

    def differences(subject: str, before: Any, after: Any) -> Iterator[Difference]:
        old, new = (default if side is ABSENT else side for side in (before, after))
        if same(old, new):
            return
        old, new, before, after = (
            HIDDEN if isinstance(side, str) and is_secret(side) else side
            for side in (old, new, before, after)
        )
        if old is ABSENT:
            message = f"{subject} is {said(new)}; it was not set"
            yield Difference(came or other, message, before, after)
        elif new is ABSENT:
            message = f"{subject} is not set any more; it was {said(old)}"
            yield Difference(gone or other, message, before, after)
        else:
            message = f"{subject} is {said(new)} instead of {said(old)}"
            yield Difference(other, message, before, after)

    return FieldRow(field, subject, differences)


def flag(
    field: str,
    subject: str,
    on: ChangeRule,
    off: ChangeRule,
    words: tuple[str, str],
    *,
    default: bool = False,
) -> FieldRow:
    """A field that is true or false; `words` say after the subject that it is on, or off."""

    def differences(subject: str, before: Any, after: Any) -> Iterator[Difference]:
        old, new = (default if side is ABSENT else side for side in (before, after))
        if old != new:
            message = f"{subject} {words[0] if new else words[1]}"
            yield Difference(on if new else off, message, before, after)

    return FieldRow(field, subject, differences)


def amount(
    field: str, subject: str, less: ChangeRule, more: ChangeRule, default: float
) -> FieldRow:
    """A field that is a number."""

    def differences(subject: str, before: Any, after: Any) -> Iterator[Difference]:
        old, new = (default if side is ABSENT else side for side in (before, after))
        if old != new:
            message = f"{subject} is {said(new)} instead of {said(old)}"
            yield Difference(less if new < old else more, message, before, after)

    return FieldRow(field, subject, differences)


def items(
    field: str,
    subject: str,
    came: ChangeRule,
    gone: ChangeRule,
    *,
    moved: ChangeRule | None = None,
) -> FieldRow:
    """A field that is a list: each item that comes or goes is a change.

    Args:
        moved: the items stand in another order; default: their order says nothing.
    """

    def differences(subject: str, before: Any, after: Any) -> Iterator[Difference]:
        old, new = (() if side is ABSENT else side for side in (before, after))
        for item in _unlike(new, old):
            message = f"{said(item)} is new among {subject}"
            yield Difference(came, message, ABSENT, item)
        for item in _unlike(old, new):
            message = f"{said(item)} is no longer among {subject}"
            yield Difference(gone, message, item, ABSENT)
        yield from _in_another_order(subject, old, new, moved)

    return FieldRow(field, subject, differences)


def entries(
    field: str,
    subject: str,
    came: ChangeRule,
    gone: ChangeRule,
    other: ChangeRule | None = None,
    *,
    moved: ChangeRule | None = None,
) -> FieldRow:
    """A field that is a mapping: each key that comes or goes is a change.

    Args:
        other: a key leads to another value; default: rows of their own look into entries,
            and the name stands for the entry.
        moved: the keys stand in another order; default: their order says nothing.
    """

    def differences(subject: str, before: Any, after: Any) -> Iterator[Difference]:
        old, new = (
            side if isinstance(side, Mapping) else {} for side in (before, after)
        )
        for key in new:
            if key not in old:
                message = f"{said(key)} is new among {subject}"
                value = new[key] if other is not None else key
                yield Difference(came, message, ABSENT, value, (key,))
            elif other is not None and not same(old[key], new[key]):
                values = f"{said(new[key])} instead of {said(old[key])}"
                message = f"among {subject}, {said(key)} is {values}"
                yield Difference(other, message, old[key], new[key], (key,))
        for key in old:
            if key not in new:
                message = f"{said(key)} is no longer among {subject}"
                value = old[key] if other is not None else key
                yield Difference(gone, message, value, ABSENT, (key,))
        yield from _in_another_order(subject, old, new, moved)

    return FieldRow(field, subject, differences)


def _in_another_order(
    subject: str, old: Iterable[Any], new: Iterable[Any], moved: ChangeRule | None
) -> Iterator[Difference]:
    orders = [[k for k in one if k in other] for one, other in ((old, new), (new, old))]
    if moved is not None and orders[0] != orders[1]:
        message = f"{subject} stand in another order"
        yield Difference(moved, message, orders[0], orders[1])


def _unlike(values: Iterable[Any], others: Iterable[Any]) -> Iterator[Any]:
    """The values that are not among the others, each once."""
    known = set(map(key_of, others))
    for each in values:
        key = key_of(each)
        if key not in known:
            known.add(key)
            yield each


_Step = tuple[Path, tuple[str, ...], Any, Any]


def _both(steps: list[str], before: Any, after: Any) -> Iterator[_Step]:
    """The values of a field with its path and keys; what one side lacks is ABSENT there."""
    if not steps:
        yield (), (), before, after
        return
    first, *rest = steps
    if first != "*":
        for path, keys, old, new in _both(
            rest, _get(before, first), _get(after, first)
        ):
            yield (first, *path), keys, old, new
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in after:
            if key in before:
                for path, keys, old, new in _both(rest, before[key], after[key]):
                    yield (key, *path), (f"{key}", *keys), old, new


def _get(value: Any, key: str) -> Any:
    return value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT
