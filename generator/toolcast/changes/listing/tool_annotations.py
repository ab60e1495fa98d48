"""Changes of a tool's annotations: what it promises of its effects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..change import ABSENT, Both, Change, ChangeRule, Grade, Grades, raw
from ..family import Family, Rules
from ..json_equality import same
from ..json_values import said

__all__ = ["FAMILY"]

_READ_ONLY = "readOnlyHint"
_ONLY_OF_WRITERS = ("destructiveHint", "idempotentHint")
"""What these say means something only where a tool is not read-only."""


RULES = Rules()


class _Promise(NamedTuple):
    """A hint, and the changes of what it promises.

    Attributes:
        key: the hint.
        promising: the value with which it promises something; without it the promise is
            not made. Source: MCP 2026-07-28, ToolAnnotations, with its defaults.
        words: what it promises.
    """

    key: str
    promising: bool
    words: str
    lost: ChangeRule
    given: ChangeRule


def _promise(
    key: str, promising: bool, name: str, words: str, lost: Grades, given: Grades
) -> _Promise:
    rules = RULES.pair(
        f"annotation/{name}-lost",
        f"A tool no longer promises that {words}.",
        lost,
        f"annotation/{name}-given",
        f"A tool promises that {words}.",
        given,
    )
    return _Promise(key, promising, words.partition(":")[0], *rules)


_R, _B = Grade.RISKY, Grade.BREAKING

_PROMISES = (
    _promise(
        _READ_ONLY,
        True,
        "read-only",
        "it changes nothing: clients decide by it whom they ask before a call",
        Grades(call=_B, prompt=_R, attachment=_B),
        Grades(prompt=_R, attachment=_R),
    ),
    _promise(
        "destructiveHint",
        False,
        "additive",
        "it destroys nothing: clients decide by it whom they ask before a call",
        Grades(call=_B, prompt=_R, attachment=_B),
        Grades(prompt=_R, attachment=_R),
    ),
    _promise(
        "idempotentHint",
        True,
        "idempotent",
        "a second call of the same arguments does nothing more: clients repeat it by that",
        Grades(call=_R, attachment=_R),
        Grades(attachment=_R),
    ),
    _promise(
        "openWorldHint",
        False,
        "closed-world",
        "it meets nothing outside of its own world, such as the web",
        Grades(call=_R, prompt=_R, attachment=_R),
        Grades(attachment=_R),
    ),
)
_KEYS = frozenset(promise.key for promise in _PROMISES)

OTHER = RULES.alone(
    "annotation/other",
    "An annotation that is no hint of MCP's is new, gone, or another one.",
    Grades(),
)


def compare(both: Both) -> Iterator[Change]:
    """The changes of a tool's annotations; one that is its default is none."""
    old, new = (
        _mapping(raw(side, "annotations")) for side in (both.before, both.after)
    )
    is_read_only = all(_is_promised(_PROMISES[0], side) for side in (old, new))
    for promise in _PROMISES:
        key = promise.key
        before, after = (_is_promised(promise, side) for side in (old, new))
        if before == after:
            continue
        says_nothing = is_read_only and key in _ONLY_OF_WRITERS
        yield both.files.changed(
            promise.given if after else promise.lost,
            ("annotations", key),
            f"the tool {'promises' if after else 'no longer promises'} that"
            f" {promise.words}",
            old.get(key, ABSENT),
            new.get(key, ABSENT),
            grades=Grades() if says_nothing else None,
            reason=(
                "the tool is read-only before and after, so that it says nothing"
                if says_nothing
                else ""
            ),
        )
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if key in _KEYS and _is_hint(before) and _is_hint(after):
            continue
        if not same(before, after):
            path = ("annotations", key)
            message = f"the annotation {said(key)} {_went(before, after)}"
            yield both.files.changed(OTHER, path, message, before, after)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_promised(promise: _Promise, hints: Mapping[str, Any]) -> bool:
    """Whether a tool makes a promise; by MCP's defaults it makes none."""
    value = hints.get(promise.key)
    return isinstance(value, bool) and value == promise.promising


def _is_hint(value: Any) -> bool:
    return value is ABSENT or isinstance(value, bool)


def _went(before: Any, after: Any) -> str:
    if before is ABSENT:
        return f"is new: {said(after)}"
    return "is gone" if after is ABSENT else f"is {said(after)}"


FAMILY = Family(rules=RULES, tool_fields=["annotations"], compare_tools=compare)
"""What a tool promises of its effects."""
