"""A diff as Markdown: the comment of a pull request, or the summary of a workflow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...changes.change import AUDIENCES, Grade
from ...changes.effects import Effect
from ...changes.review.limits import DEFAULT, said
from ...changes.review.verdict import Judged, Verdict
from ...encoders.markdown import fenced
from ...suggestions import dotted
from ..escaping import code_span, html_text, markdown_text, printable
from ..findings.formats import About
from ..json_values import differing
from ..markdown_size import MOST_CHARACTERS, cell, within
from .formats import (
    by_owner,
    from_definitions,
    grades_of,
    says_values,
    told_counts,
)

__all__ = ["write"]

_MARKS = {Grade.BREAKING: "\U0001f534 ", Grade.RISKY: "\U0001f7e1 ", Grade.SAFE: ""}
_VALUE = 600
_MOST_OPEN = 10
_TABLE = MOST_CHARACTERS // 3
"""How much of a comment the table may take, so that there is room for changes below it."""


def write(verdict: Verdict, about: About) -> str:
    """A sentence, a table of tools by audience, then a fold for each tool, worst first.

    As much as a comment holds; what is left out is told.
    """
    against = code_span(verdict.against)
    if not verdict.changes:
        told = f"No change against {against}."
        if verdict.is_first:
            told = f"{against} has no specs: everything is new."
        head = f"### Tool changes\n\n{told}\n"
        return head + _findings(verdict)
    groups = by_owner(verdict.changes)
    groups.sort(key=lambda group: (-_failing(group[1]), -_worst(group[1])))
    head = f"### Tool changes\n\n{_sentence(verdict, against)}\n\n"
    for file, words in from_definitions(verdict):
        head += f"{code_span(file)}: {words}.\n\n"
    head += f"| | {' | '.join(name.capitalize() for name in AUDIENCES)} |\n"
    head += f"| --- |{' --- |' * len(AUDIENCES)}\n"
    rows = within((_row(*group) for group in groups), len(head), _TABLE)
    text = head + "".join(rows)
    if len(rows) < len(groups):
        text += f"\n{len(groups) - len(rows):,} more rows are left out.\n"
    text += "\n"
    last = _effects(verdict.effects) + _findings(verdict)
    few = sum(_failing(changes) for _, changes in groups) <= _MOST_OPEN
    made = (_fold(*group, may_open=few) for group in groups)
    folds = within(made, len(text) + len(last) + 200)
    text += "".join(folds)
    if len(folds) < len(groups):
        left = sum(len(changes) for _, changes in groups[len(folds) :])
        tools = len(groups) - len(folds)
        text += (
            f"{left:,} changes in {tools:,} more places are left out, to fit into a"
            f" comment: `toolcast diff` shows them.\n\n"
        )
    return text + last


def _failing(changes: Sequence[Judged]) -> int:
    return int(any(one.fails for one in changes))


def _worst(changes: Sequence[Judged]) -> Grade:
    return max(one.change.grades.worst for one in changes)


def _sentence(verdict: Verdict, against: str) -> str:
    number = len(verdict.changes)
    told = f"**{number:,} change{'' if number == 1 else 's'}** against {against}: "
    parts = [f"{name} {words}" for name, words in told_counts(verdict).items() if words]
    told += "; ".join(parts) or "all safe"
    at = "" if verdict.limits == DEFAULT else f" at {code_span(said(verdict.limits))}"
    failing = verdict.failing
    if failing:
        told += f".<br>**{failing:,} {'fails' if failing == 1 else 'fail'}{at}**"
    else:
        told += f".<br>Nothing fails{at}"
    return told + (f"; {verdict.accepted:,} accepted." if verdict.accepted else ".")


def _row(owner: str, changes: Sequence[Judged]) -> str:
    cells = []
    for index in range(len(AUDIENCES)):
        grade = max(one.change.grades[index] for one in changes)
        cells.append(_MARKS[grade] + (grade.word if grade > Grade.SAFE else "safe"))
    name = cell(code_span(owner))
    if not _failing(changes) and any(one.accepted for one in changes):
        name += " (accepted)"
    return f"| {name} | {' | '.join(cells)} |\n"


def _fold(owner: str, changes: Sequence[Judged], *, may_open: bool) -> str:
    """A fold that stands open where something in it fails, unless there are many."""
    is_open = " open" if may_open and _failing(changes) else ""
    number = f"{len(changes)} change{'' if len(changes) == 1 else 's'}"
    # One tool may not take the whole comment.
    kept = within(map(_change, changes), 200, MOST_CHARACTERS // 2)
    left = len(changes) - len(kept)
    told = f"{left:,} more changes of it are left out.\n\n" if left else ""
    return (
        f"<details{is_open}><summary><code>{html_text(owner)}</code>: {number}</summary>"
        f"\n\n{''.join(kept)}{told}</details>\n\n"
    )


def _change(one: Judged) -> str:
    return "\n".join(_lines(one)) + "\n\n"


def _lines(one: Judged) -> Iterator[str]:
    change = one.change
    grades = grades_of(change).items()
    graded = [f"{name} **{word}**" for name, word in grades if word != "safe"]
    mark = _MARKS[change.grades.worst]
    yield f"- {mark}{markdown_text(change.message)}<br>"
    place = change.place
    at = f":{place.line}" if place.line else ""
    path = f" at {code_span(dotted(change.path))}" if change.path else ""
    was = "was at " if change.is_gone else ""
    where = was + code_span(place.file + at)
    yield f"  {', '.join(graded) or 'safe'}: {code_span(change.rule.id)}{path}, {where}"
    if change.reason:
        yield f"  <br>because {markdown_text(change.reason)}"
    if one.accepted is not None:
        yield f"  <br>accepted: {markdown_text(one.accepted.reason)}"
    elif one.fails:
        yield f"  <br>fingerprint {code_span(change.fingerprint)}"
    values = zip("-+", differing(change.before, change.after, _VALUE), strict=True)
    rows = [f"{sign} {printable(text)}" for sign, text in values if text]
    if rows and not says_values(change):
        block = str(fenced("\n".join(rows), "diff"))
        yield ""
        yield from (f"  {line}" for line in block.split("\n"))


def _effects(effects: Sequence[Effect]) -> str:
    """What readers see differently, in a fold of its own."""
    if not effects:
        return ""
    rows = []
    for one in effects:
        where = code_span("/".join(filter(None, (one.toolset, one.tool))))
        mark = _MARKS[Grade.RISKY] if one.is_worse else ""
        rows.append(f"- {mark}{where}: {markdown_text(one.message)}\n")
    kept = within(rows, 0, _TABLE // 2)
    left = len(rows) - len(kept)
    told = f"- {left:,} more are left out\n" if left else ""
    return (
        "<details><summary>What follows for clients and providers:"
        f" {len(rows):,}</summary>\n\n{''.join(kept)}{told}\n</details>\n\n"
    )


def _findings(verdict: Verdict) -> str:
    rows = [
        f"- {markdown_text(one.message)} ({code_span(one.place.file)}, line"
        f" {one.place.line}): {markdown_text(one.help)}\n"
        for one in verdict.findings[:20]
    ]
    return f"\nAcceptances:\n\n{''.join(rows)}" if rows else ""
