"""The kinds of changes of a schema, as data: one row for what a keyword can do.

A row says which way the change goes: whether fewer values are valid after it, or more. For
`parameters` fewer is what breaks callers, for `returns` more is what breaks readers of
results. That and the columns beside it make the rules of both fields.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Effect", "Row", "constraint", "limit", "pair", "told"]

Effect = Literal["fewer", "more", "either", "none"]
"""Which values are valid after the change: fewer, more, some others, or the same."""

Told = Literal["safe", "risky", "breaking"]


class Row(NamedTuple):
    """One kind of change, in both fields.

    Attributes:
        name: what its ids end with.
        opposite: the name of the change back.
        keywords: the keywords that make it.
        effect: which way it goes.
        means: what it does, one sentence.
        prompt: what it means for a model that reads the schema of parameters; one that
            reads that of results has less at stake, and is told `safe` of the first step.
        typed: whether the generated types can change by it.
        call: what it means for callers where the effect does not say it.
    """

    name: str
    opposite: str
    keywords: tuple[str, ...]
    effect: Effect
    means: str
    prompt: Told = "safe"
    typed: bool = False
    call: Told | None = None


def limit(keyword: str, name: str, of: str, also: tuple[str, ...] = ()) -> list[Row]:
    """Four rows of a keyword that is a limit, upper or lower."""
    words = (keyword, *also)
    is_upper = name.startswith("max")
    end, raised, lowered = (
        ("most", f"{name}-raised", f"{name}-lowered")
        if is_upper
        else ("least", f"{name}-raised", f"{name}-lowered")
    )
    tighter, looser = (lowered, raised) if is_upper else (raised, lowered)
    return [
        Row(
            f"{name}-set",
            f"{name}-removed",
            words,
            "fewer",
            f"There is a limit to {end} {of}.",
        ),
        Row(
            f"{name}-removed",
            f"{name}-set",
            words,
            "more",
            f"No limit to {end} {of} is left.",
        ),
        Row(tighter, looser, words, "fewer", f"The limit to {end} {of} is tighter."),
        Row(looser, tighter, words, "more", f"The limit to {end} {of} is looser."),
    ]


def constraint(keywords: tuple[str, ...], name: str, what: str) -> list[Row]:
    """Three rows of a keyword that refuses values in a way of its own."""
    return [
        Row(
            f"{name}-set", f"{name}-removed", keywords, "fewer", f"{what} is asked for."
        ),
        Row(
            f"{name}-removed",
            f"{name}-set",
            keywords,
            "more",
            f"{what} is not asked for any more.",
        ),
        Row(
            f"{name}-changed",
            f"{name}-changed",
            keywords,
            "either",
            f"{what} is another one.",
        ),
    ]


def pair(
    keywords: tuple[str, ...],
    fewer: str,
    more: str,
    means: str,
    back: str,
    *,
    typed: bool = False,
) -> list[Row]:
    """Two rows, of which each undoes the other."""
    return [
        Row(fewer, more, keywords, "fewer", means, typed=typed),
        Row(more, fewer, keywords, "more", back, typed=typed),
    ]


def told(
    keyword: str, name: str, what: str, set_: Told, removed: Told, changed: Told
) -> list[Row]:
    """Three rows of a keyword that refuses nothing, and is read."""
    return [
        Row(
            f"{name}-set",
            f"{name}-removed",
            (keyword,),
            "none",
            f"{what} is told.",
            set_,
        ),
        Row(
            f"{name}-removed",
            f"{name}-set",
            (keyword,),
            "none",
            f"{what} is not told any more.",
            removed,
        ),
        Row(
            f"{name}-changed",
            f"{name}-changed",
            (keyword,),
            "none",
            f"{what} is told in another way.",
            changed,
        ),
    ]
