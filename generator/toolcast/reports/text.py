"""Findings and changes as people read them in a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ..diff.change import AUDIENCES, Grade
from ..encoders.python import text_width
from ..findings import Finding, Severity, group_similar, limit_findings
from ..suggestions import format_list
from .change_items import (
    alike_effects,
    counts_in_words,
    differing,
    from_definitions,
    items_of_changes,
)
from .escaping import log_line, printable
from .item import Item, ReportContext, items_of_findings

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.verdict import Verdict

_WIDTH = 80
_EXPLAIN_COLUMN = 60
_NAMED = 2
_VALUE = 160
_MAX_RISKY_MESSAGES = 5
"""Messages of one kind of risky change that are printed; of others, only the locations."""
_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_GRADE_COLOURS = {Grade.BREAKING.word: "31", Grade.RISKY.word: "33"}


def findings(found: Sequence[Finding], about: ReportContext) -> str:
    """A paragraph each, those that are alike once."""
    shown = found if about.every else group_similar(found)
    return "".join(
        _finding(item, about.colour)
        for item in items_of_findings(limit_findings(shown))
    )


def _finding(item: Item, colour: bool) -> str:
    word = item.severity.word
    if colour:
        word = f"\x1b[{_COLOURS[item.severity]}m{word}\x1b[0m"
    where = log_line(printable(str(item.location)))
    text = f"{where}: {word}: {item.rule}: {printable(item.message)}\n"
    if item.location.line and item.source_line.strip():
        text += _excerpt(item)
    help_ = f"  help: {printable(item.help)}" if item.help else ""
    text += f"{help_.ljust(_EXPLAIN_COLUMN)}  toolcast explain {item.rule}\n"
    if item.others:
        named = ", ".join(log_line(printable(place)) for place in item.others[:_NAMED])
        text += (
            f"  and {len(item.others):,} more like it, the next at {named};"
            " `toolcast check --all` shows each\n"
        )
    return text


def _excerpt(item: Item) -> str:
    """The source line with carets below the place, cut to a screen's width around it."""
    place, line = item.location, item.source_line
    start = place.column - 1
    end = max(place.end_column - 1, start + 1)
    first = max(0, start - 40) if len(line) > 100 else 0
    last = min(len(line), first + 100)
    before = printable(line[first:start])
    marked = printable(line[start : min(end, last)])
    after = printable(line[min(end, last) : last])
    number = str(place.line)
    carets = "^" * max(1, text_width(marked))
    return (
        f"  {number} | {before}{marked}{after}\n"
        f"  {' ' * len(number)} | {' ' * text_width(before)}{carets}\n"
    )


def changes(verdict: Verdict, about: ReportContext) -> str:
    """A paragraph for each kind of change, the worst first, then what they come to."""
    items = items_of_changes(verdict.changes, each=about.every)
    blocks = [
        "".join(_paragraph(list(group), about))
        for key, group in groupby(items, key=_head)
        if key
    ]
    safe = [item for item in items if not _head(item)]
    if safe:
        blocks.append("".join(_safe(safe)))
    if verdict.effects:
        blocks.append("".join(_effects(verdict.effects)))
    if verdict.findings:
        blocks.append(findings(verdict.findings, about))
    for words, of_check in (
        ("brings", verdict.added),
        ("mends", verdict.fixed),
    ):
        if of_check:
            blocks.append("".join(_of_check(words, of_check)))
    return "\n".join([*blocks, "".join(_closing(verdict))])


def _head(item: Item) -> tuple[str, ...]:
    """What items share that stand below one head; nothing for what is safe."""
    if item.grades == Grade.SAFE.word and not item.fails:
        return ()
    return item.grades, item.rule, item.help, item.accepted, str(item.fails)


def _paragraph(items: Sequence[Item], about: ReportContext) -> Iterator[str]:
    first = items[0]
    graded = printable(f"{first.grades}: {first.rule}")
    if about.colour:
        for word, code in _GRADE_COLOURS.items():
            graded = graded.replace(f"{word} for", f"\x1b[{code}m{word}\x1b[0m for")
    yield f"{graded}\n"
    if first.help:
        yield from _wrapped(f"({first.help})", "  ")
    if first.accepted:
        yield from _wrapped(f"accepted: {first.accepted}", "  ")
    is_each = first.fails or about.every or first.grades.startswith("breaking")
    shown = items if is_each else items[:_MAX_RISKY_MESSAGES]
    for item in shown:
        yield from _change(item, with_place=is_each)
    left = items[len(shown) :]
    if left:
        tools = [label for item in left for label in item.others or (item.owner,)]
        # What of a tool has changed stands in brackets behind its name.
        counted = Counter(label.partition(" (")[0] for label in tools)
        named = [f"{tool} ({n})" if n > 1 else tool for tool, n in counted.items()]
        yield from _wrapped(f"and {len(tools)} more: {', '.join(named)}", "  ", 2)


def _change(item: Item, *, with_place: bool) -> Iterator[str]:
    place = item.was or item.location
    line = "" if with_place or not place.line else f":{place.line}"
    if item.others:
        yield from _wrapped(f"{len(item.others)} tools: {item.message}", "  ", 2)
        yield from _wrapped(", ".join(item.others), "    ")
    else:
        yield from _wrapped(f"{item.owner}{line}: {item.message}", "  ", 2)
    old, new = differing(item.values, _VALUE)
    if old or new:
        words = f"{old} -> {new}" if old and new else f"was {old}" if old else new
        yield from _wrapped(words, "    ", 2)
    if with_place and not item.others:
        was = "was at " if item.was else ""
        where = f"    {was}{printable(str(place))}"
        yield f"{log_line(where)}  {item.fingerprint}\n"


def _safe(items: Sequence[Item]) -> Iterator[str]:
    yield "safe\n"
    for item in items:
        where = ", ".join(item.others) or item.owner
        message = f": {item.message}" if item.message else ""
        reason = f" ({item.help})" if item.help else ""
        yield from _wrapped(f"{item.rule}: {where}{message}{reason}", "  ", 2)


def _effects(effects: Sequence[Effect]) -> Iterator[str]:
    """What readers see differently; a mark where that is worse for them."""
    yield "what follows for those who read the tools (! is worse)\n"
    for mark, where, message in alike_effects(effects):
        yield from _wrapped(
            f"{', '.join(where)}: {message}", "  ! " if mark else "    ", 2
        )


def _of_check(words: str, found: Sequence[Finding]) -> Iterator[str]:
    number = "a finding" if len(found) == 1 else f"{len(found)} findings"
    yield f"{words} {number} of `toolcast check`\n"
    for item in items_of_findings(limit_findings(group_similar(found))):
        more = f" and {len(item.others):,} more like it" if item.others else ""
        where = f"{item.location}: {item.severity.word}: {item.rule}"
        yield from _wrapped(f"{where}: {item.message}{more}", "  ", 2)


def _wrapped(text: str, indent: str, hang: int = 0) -> Iterator[str]:
    for line in textwrap.wrap(
        printable(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * (len(indent) + hang),
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield f"{log_line(line)}\n"


def _closing(verdict: Verdict) -> Iterator[str]:
    against = printable(verdict.against)
    if verdict.is_first:
        yield f"{against} has no specs: everything is new\n"
        return
    if not verdict.changes:
        yield f"no change against {against}\n"
        return
    number = len(verdict.changes)
    owners = len({one.owner for one in verdict.changes})
    places = f"{owners} place{'' if owners == 1 else 's'}"
    text = f"{number} change{'' if number == 1 else 's'} in {places} against {against}"
    graded = [
        f"{name} {graded_words or 'safe'}"
        for name, graded_words in counts_in_words(verdict).items()
    ]
    yield from _wrapped(f"{text}: {'; '.join(graded)}", "")
    for file, words in from_definitions(verdict):
        yield from _wrapped(f"{file}: {words}", "")
    yield from _wrapped(_decided(verdict), "")
    worst = max(verdict.changes, key=lambda one: one.change.grades.worst)
    yield f"`toolcast explain {worst.change.rule.id}` tells what a change means\n"


def _decided(verdict: Verdict) -> str:
    # Findings need nothing of it, and it has all that compares.
    from ..diff.review.verdict import DEFAULT_LIMITS, format_limits

    limits = (
        ""
        if verdict.limits == DEFAULT_LIMITS
        else f" --fail-on {format_limits(verdict.limits)}"
    )
    failing = Counter(name for one in verdict.changes for name in one.fails)
    accepted = f"; {verdict.accepted} accepted" if verdict.accepted else ""
    if not verdict.failing:
        return f"nothing fails{limits}{accepted}"
    whom = format_list([name for name in AUDIENCES if failing[name]])
    verb = "fails" if verdict.failing == 1 else "fail"
    return f"{verdict.failing} {verb}{limits}, for {whom}{accepted}"
