"""A diff as people read it in a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from ...changes.change import AUDIENCES, Grade
from ...changes.effects import Effect
from ...changes.review.limits import DEFAULT, said
from ...changes.review.verdict import Judged, Verdict
from ..escaping import log_line, printable
from ..findings.formats import About, report_findings
from ..shortened_values import differing
from .formats import by_owner, from_definitions, says_values, told_counts

__all__ = ["paragraphs", "write"]

_WIDTH = 80
_COLUMN = 10
_INDENT = "      "
_VALUE = 300
_COLOURS = {Grade.BREAKING: "31", Grade.RISKY: "33"}
_HEAD = "  " + "".join(f"{name:{_COLUMN}}" for name in AUDIENCES[:-1]) + AUDIENCES[-1]


def write(verdict: Verdict, about: About) -> str:
    """The changes of each tool, then what they come to."""
    blocks = paragraphs(verdict.changes, about.colour)
    if verdict.effects:
        blocks.append("".join(_effects(verdict.effects)))
    if verdict.findings:
        blocks.append(report_findings(verdict.findings, "text", about))
    return "\n".join([*blocks, "".join(_closing(verdict))])


def paragraphs(changes: Sequence[Judged], colour: bool) -> list[str]:
    """A paragraph for the changes of each tool."""
    return ["".join(_owner(owner, group, colour)) for owner, group in by_owner(changes)]


def _owner(owner: str, changes: Sequence[Judged], colour: bool) -> Iterator[str]:
    yield f"{log_line(printable(owner))}\n{_HEAD}\n"
    for one in changes:
        yield from _change(one, colour)


def _change(one: Judged, colour: bool) -> Iterator[str]:
    change = one.change
    cells = "".join(_cell(grade, colour) for grade in change.grades)
    yield f"  {cells}{change.rule.id}\n"
    yield from _wrapped(change.message, _INDENT)
    if not says_values(change):
        yield from _values(change.before, change.after)
    if change.reason:
        yield from _wrapped(f"because {change.reason}", _INDENT)
    if one.accepted is not None:
        yield from _wrapped(f"accepted: {one.accepted.reason}", _INDENT)
    place = change.place
    at = f":{place.line}:{place.column}" if place.line else ""
    was = "was at " if change.is_gone else ""
    where = f"{_INDENT}{was}{printable(place.file)}{at}"
    yield f"{log_line(where)}  {change.fingerprint}\n"


def _cell(grade: Grade, colour: bool) -> str:
    text = f"{'-' if grade is Grade.SAFE else grade.word:{_COLUMN}}"
    if colour and grade in _COLOURS:
        return f"\x1b[{_COLOURS[grade]}m{text}\x1b[0m"
    return text


def _values(before: object, after: object) -> Iterator[str]:
    old, new = differing(before, after, _VALUE)
    short = f"{_INDENT}{printable(f'{old} -> {new}')}"
    if old and new and len(short) <= _WIDTH:
        yield f"{log_line(short)}\n"
        return
    for word, text in (("was", old), ("now", new)):
        if text:
            yield from _wrapped(f"{word} {text}", _INDENT, 4)


def _effects(effects: Sequence[Effect]) -> Iterator[str]:
    """What readers see differently; a mark where that is worse for them."""
    yield "what follows for those who read the tools (! is worse)\n"
    for one in effects:
        where = "/".join(filter(None, (one.toolset, one.tool)))
        mark = "  ! " if one.is_worse else "    "
        yield from _wrapped(f"{where}: {one.message}", mark, 2)


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
    graded = [f"{name} {told or 'safe'}" for name, told in told_counts(verdict).items()]
    yield from _wrapped(f"{text}: {'; '.join(graded)}", "")
    for file, words in from_definitions(verdict):
        yield from _wrapped(f"{file}: {words}", "")
    yield from _wrapped(_decided(verdict), "")
    worst = max(verdict.changes, key=lambda one: one.change.grades.worst)
    yield f"`toolcast explain {worst.change.rule.id}` tells what a change means\n"


def _listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _decided(verdict: Verdict) -> str:
    limits = "" if verdict.limits == DEFAULT else f" --fail-on {said(verdict.limits)}"
    failing = Counter(name for one in verdict.changes for name in one.fails)
    accepted = f"; {verdict.accepted} accepted" if verdict.accepted else ""
    if not verdict.failing:
        return f"nothing fails{limits}{accepted}"
    whom = _listed([name for name in AUDIENCES if failing[name]])
    verb = "fails" if verdict.failing == 1 else "fail"
    return f"{verdict.failing} {verb}{limits}, for {whom}{accepted}"
