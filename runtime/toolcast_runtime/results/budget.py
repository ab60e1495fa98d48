"""Shorten results that exceed a size limit by omitting items of their largest arrays.

Only as many items as necessary are omitted, from the end of an array. All other values stay
unchanged, and a note describes the omitted items.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from ..core.calls.untrusted_text import escape_excerpt

# Approximation of model tokenizers: a common word is one token, a longer word two or three,
# and adjacent punctuation of JSON is one token.
_TOKEN = re.compile(
    r"[A-Za-z]{1,10}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,4}|[^\x00-\x7f]", re.ASCII
)
_MAX_LISTS = 16
"""Maximum number of arrays of a result that are shortened; others remain complete."""
_MAX_VALIDATIONS = 32
"""Maximum number of validations of a shortened result against its schema."""
_MAX_JOIN_DIFFERENCE = 3
"""By how much a text's size can exceed the sum of its parts' sizes."""
_MAX_PATH_CHARACTERS = 60
"""Maximum number of characters of an array's path in a note."""
_encode = json.JSONEncoder(ensure_ascii=False).encode

Path = tuple[str | int, ...]
"""The keys and indexes of an array in a result; empty if the result is the array."""
_SizedItems = tuple[Sequence[Any], Sequence[int]]
"""The items of an array, and the size of each with the separator after it."""


def estimate_tokens(text: str) -> int:
    """Estimate the number of a model's tokens in a text.

    A token is up to ten ASCII letters, three digits, four adjacent punctuation characters,
    or one other character. `docs/tokens.md` lists the estimate's errors.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def encode_json_text(value: Any) -> str:
    """Encode a value as JSON, with lone surrogates escaped: UTF-8 cannot encode them."""
    return _encode(value).encode("utf-8", "backslashreplace").decode("utf-8")


class ResultLimits(NamedTuple):
    """Limits that a shortened result must meet.

    Attributes:
        max_size: the maximum size of the result's JSON text and the note together.
        measure: returns the size of a text. The size of two joined texts must not exceed the
            sum of their sizes.
        is_valid: returns whether a shortened value is a valid result of the tool.
        describe_next_call: returns how to request the omitted items of an array, given all
            its items and the number of items kept; empty if unknown.
    """

    max_size: int
    measure: Callable[[str], int]
    is_valid: Callable[[Any], bool]
    describe_next_call: Callable[[Sequence[Any], int], str]


class ResultShortener:
    """Shortening of one result by omitting array items.

    Args:
        value: the result, as a JSON value. It is not modified.
        size: the size of its JSON text.
        limits: the limits to meet.
    """

    def __init__(self, value: Any, size: int, limits: ResultLimits) -> None:
        self._value, self._size, self._limits = value, size, limits
        self._validation_count = 0
        self._item_counts: dict[Path, int] = {}
        self._shortened_lists: dict[Path, _SizedItems] = {}
        self._outermost_lists: dict[Path, _SizedItems] = {}

    def shorten(self) -> tuple[Any, str] | None:
        """Return the shortened result and a note; None if no valid result is small enough.

        The largest array is shortened first. If it must keep more items than fit, because
        otherwise the result is invalid or the array is empty, the arrays inside its
        remaining items are shortened next.
        """
        if self._size <= self._limits.max_size:
            return self._value, ""
        self._outermost_lists = self._find_outermost_lists((), self._value)
        candidates = {**self._outermost_lists}
        totals = {path: sum(sizes) for path, (_, sizes) in candidates.items()}
        # All other arrays are inside the outermost arrays, so omitting those completely is
        # the most that shortening can achieve.
        omissible = sum(sorted(totals.values())[-_MAX_LISTS:])
        if self._size - omissible > self._limits.max_size:
            return None
        while candidates and len(self._shortened_lists) < _MAX_LISTS:
            path = max(candidates, key=totals.__getitem__)
            items, _ = self._shortened_lists[path] = candidates.pop(path)
            fitting = self._count_fitting_items(path)
            kept = self._find_valid_count(path, max(fitting, 1))
            self._truncate_list(path, kept)
            if kept == fitting:
                break
            for index, item in enumerate(items[:kept]):
                inner = self._find_outermost_lists((*path, index), item)
                candidates |= inner
                totals |= {key: sum(sizes) for key, (_, sizes) in inner.items()}
        # If one item in each array is still too much, empty the arrays, innermost first.
        is_small = self._is_small()
        for path in sorted(self._shortened_lists, key=len, reverse=True):
            if not is_small and self._is_valid_with(path, 0):
                self._truncate_list(path, 0)
                is_small = self._is_small()
        return (self._value, self._format_note(self._item_counts)) if is_small else None

    def _find_outermost_lists(self, path: Path, value: Any) -> dict[Path, _SizedItems]:
        """Return the non-empty arrays of a value that are not inside another array."""
        arrays: dict[Path, _SizedItems] = {}
        pending: list[tuple[Path, Any]] = [(path, value)]
        while pending:
            part_path, part = pending.pop()
            if isinstance(part, list) and part:
                # The size of an item includes the separator that follows it.
                texts = [f"{encode_json_text(item)}, " for item in part]
                arrays[part_path] = part, [self._limits.measure(text) for text in texts]
            elif isinstance(part, Mapping):
                pending += [((*part_path, key), child) for key, child in part.items()]
        return arrays

    def _count_fitting_items(self, path: Path) -> int:
        """Return how many items an array can keep within the limit; 0 if none fit."""
        items, sizes = self._shortened_lists[path]
        kept = len(items)
        dropped_sizes = [0, *accumulate(reversed(sizes))]
        excess = self._size + _MAX_JOIN_DIFFERENCE - self._limits.max_size
        # The note contains the number of kept items, so its size changes with every smaller
        # number; repeat until items and note fit together.
        while kept > 0:
            note = self._format_note({**self._item_counts, path: kept})
            needed = excess + self._limits.measure(note)
            if dropped_sizes[len(items) - kept] >= needed:
                return kept
            kept = len(items) - bisect_left(dropped_sizes, needed)
        return 0

    def _find_valid_count(self, path: Path, min_count: int) -> int:
        """Return the smallest number of items, from `min_count` on, with a valid result.

        The search is binary: it assumes that a result stays valid with more items. Returns the
        total number if no smaller number is valid.
        """
        total = len(self._shortened_lists[path][0])
        if min_count >= total or self._is_valid_with(path, min_count):
            return min_count
        counts = range(min_count + 1, total)
        is_valid = partial(self._is_valid_with, path)
        return counts.start + bisect_left(counts, True, key=is_valid)

    def _is_valid_with(self, path: Path, kept: int) -> bool:
        self._validation_count += 1
        value = _truncate_at(self._value, path, kept)
        has_validations_left = self._validation_count <= _MAX_VALIDATIONS
        return has_validations_left and self._limits.is_valid(value)

    def _is_small(self) -> bool:
        texts = encode_json_text(self._value), self._format_note(self._item_counts)
        return sum(map(self._limits.measure, texts)) <= self._limits.max_size

    def _truncate_list(self, path: Path, kept: int) -> None:
        """Keep only the first items of an array."""
        items, sizes = self._shortened_lists[path]
        if kept == len(items):
            return
        self._value = _truncate_at(self._value, path, kept)
        # `_size` is an upper bound: joined items may be smaller than the sum of their sizes.
        self._size += _MAX_JOIN_DIFFERENCE - sum(sizes[kept:])
        # The note describes only this array, not the arrays inside it.
        self._item_counts = {
            other: count
            for other, count in self._item_counts.items()
            if other[: len(path)] != path
        }
        self._item_counts[path] = kept

    def _format_note(self, counts: Mapping[Path, int]) -> str:
        """Return a note that describes the omitted items; empty if none are omitted.

        The note describes the next call only if exactly one outermost array can be
        continued, and that array is shortened. With several it is unknown which of them an
        argument such as `offset` applies to.
        """
        if not counts:
            return ""
        parts = []
        for path, kept in counts.items():
            total = len(self._shortened_lists[path][0])
            name = escape_excerpt(".".join(map(str, path)), _MAX_PATH_CHARACTERS)
            subject = f"{total:,} of `{name}`" if path else f"{total:,} items"
            parts.append(f"the last {total - kept:,} of {subject}")
        next_calls = []
        for path, (items, _) in self._outermost_lists.items():
            text = self._limits.describe_next_call(items, counts.get(path, len(items)))
            if text:
                next_calls.append((path, text))
            if len(next_calls) > 1:
                break
        hint = ""
        # The next call continues after the last kept item, so there must be one.
        if len(next_calls) == 1 and counts.get(next_calls[0][0]):
            hint = f" For more, {next_calls[0][1]}."
        return f"Omitted: {', '.join(parts)}.{hint}"


def _truncate_at(value: Any, path: Path, kept: int) -> Any:
    """Return a copy of a value with only the first `kept` items of one array.

    Only containers on the path are copied; the original value is not modified.
    """
    root: Any = [value]
    container, keys = root, (0, *path)
    for key in keys[:-1]:
        container[key] = container[key].copy()
        container = container[key]
    container[keys[-1]] = container[keys[-1]][:kept]
    return root[0]
