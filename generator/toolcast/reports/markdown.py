"""Findings and changes as Markdown: the comment of a pull request, or a workflow's summary.

And the entries for a changelog that `toolcast diff --bump` proposes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..diff.change import AUDIENCES, Change, Grade
from ..diff.review.verdict import DEFAULT_LIMITS, Proposal, Verdict, format_limits
from ..encoders.markdown import encode_code_block
from ..findings import Finding, Location, group_similar, limit_findings
from ..suggestions import format_first
from .change_items import (
    alike_effects,
    counts_in_words,
    differing,
    from_definitions,
    graded,
    items_of_changes,
)
from .escaping import code_span, markdown_text, printable
from .item import Item, ReportContext, summary

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.verdict import ChangeVerdict

_MAX_REPORT_CHARACTERS = 60_000
"""Length of a report.

GitHub accepts 65,536; the rest is for the text of an action around it.
"""
_MARKS = {Grade.BREAKING: "\U0001f534 ", Grade.RISKY: "\U0001f7e1 ", Grade.SAFE: ""}
_VALUE = 600
_PARTS = {
    "Removed": ("tool/removed", "tool/removed-as-announced", "toolset/removed"),
    "Deprecated": ("tool.deprecated/set",),
    "Changed": (),
    "Added": ("tool/added", "tool/added-past-removal", "toolset/added"),
}
"""The parts of a changelog's entry; what has none of its own is in `Changed`."""
_MAX_OPEN_ROWS = 10
"""Rows up to which the table by tool is expanded."""
_MAX_FINDINGS = 20
"""Findings in the report."""
_MAX_NAMES_SHOWN = 200
"""Owners of one change that are named."""
_TABLE = _MAX_REPORT_CHARACTERS // 3
"""How much of a comment the table may take, so that there is room for changes beside it."""


def findings(found: Sequence[Finding], about: ReportContext) -> str:
    """A table with a row each, those that are alike once, errors first."""
    if not found:
        return f"### Tool specs\n\nNo findings in {about.tools:,} tools.\n"
    head = (
        f"### Tool specs\n\n**{summary(found)}**\n\n"
        "| | Finding | Place |\n| --- | --- | --- |\n"
    )
    shown = found if about.every else group_similar(found)
    rows = [
        _finding_row(one)
        for one in sorted(limit_findings(shown), key=lambda f: -f.severity)
    ]
    kept = _within(rows, len(head))
    left = len(rows) - len(kept)
    ending = f"\n{left:,} more: `toolcast check` shows them.\n" if left else ""
    return head + "".join(kept) + ending


def _finding_row(finding: Finding) -> str:
    place = finding.location
    line = f":{place.line}:{place.column}" if place.line else ""
    words = markdown_text(finding.message)
    if finding.help:
        words += f"<br>{markdown_text(finding.help)}"
    if finding.alike:
        words += f"<br>and {len(finding.alike):,} more like it"
    words += f"<br>{code_span(finding.rule)}"
    where = code_span(place.file + line)
    return f"| {finding.severity.word} | {_cell(words)} | {_cell(where)} |\n"


def changes(verdict: Verdict, about: ReportContext) -> str:
    """What fails, over all tools the worst first, then folds: what is risky, safe, and follows.

    As much as a comment holds; what is left out is told.
    """
    against = code_span(verdict.against)
    if not verdict.changes:
        sentence = f"No change against {against}."
        if verdict.is_first:
            sentence = f"{against} has no specs: everything is new."
        return f"### Tool changes\n\n{sentence}\n{_of_acceptances(verdict)}"
    head = f"### Tool changes\n\n{_sentence(verdict, against)}\n\n"
    for file, words in from_definitions(verdict):
        head += f"{code_span(file)}: {words}.\n\n"
    last = _effects(verdict.effects)
    last += _of_check("This brings", verdict.added)
    last += _of_check("This mends", verdict.fixed)
    last += _of_acceptances(verdict)
    table = _table(verdict.changes)
    items = items_of_changes(verdict.changes, each=about.every)
    parts = [
        ("", [item for item in items if _is_open(item)]),
        ("Risky", [i for i in items if not _is_open(i) and i.grades != "safe"]),
        (
            "Safe",
            [item for item in items if not _is_open(item) and item.grades == "safe"],
        ),
    ]
    text = head
    for title, of_part in parts:
        text += _part(title, of_part, len(text) + len(table) + len(last) + 400)
    return text + table + last


def _is_open(item: Item) -> bool:
    return item.fails or item.grades.startswith(Grade.BREAKING.word)


def _part(title: str, items: Sequence[Item], used: int) -> str:
    """The items that there is room for; in a fold where the part has a title."""
    if not items:
        return ""
    kept = _within(map(_item, items), used)
    left = len(items) - len(kept)
    ending = (
        f"{left:,} more are left out: `toolcast diff` shows them.\n\n" if left else ""
    )
    if not title:
        return f"{''.join(kept)}{ending}"
    summed = f"<summary>{title}: {len(items):,}</summary>"
    return f"<details>{summed}\n\n{''.join(kept)}{ending}</details>\n\n"


def _sentence(verdict: Verdict, against: str) -> str:
    number = len(verdict.changes)
    sentence = f"**{number:,} change{'' if number == 1 else 's'}** against {against}: "
    parts = [
        f"{name} {words}" for name, words in counts_in_words(verdict).items() if words
    ]
    sentence += "; ".join(parts) or "all safe"
    at = (
        ""
        if verdict.limits == DEFAULT_LIMITS
        else f" at {code_span(format_limits(verdict.limits))}"
    )
    failing = verdict.failing
    if failing:
        sentence += f".<br>**{failing:,} {'fails' if failing == 1 else 'fail'}{at}**"
    else:
        sentence += f".<br>Nothing fails{at}"
    return sentence + (f"; {verdict.accepted:,} accepted." if verdict.accepted else ".")


def _table(changes: Sequence[ChangeVerdict]) -> str:
    """What each tool's changes mean, worst first; of those that have more than safe ones."""
    owners: dict[str, list[ChangeVerdict]] = {}
    for one in changes:
        owners.setdefault(one.owner, []).append(one)
    worst = {
        owner: [max(one.change.grades[i] for one in own) for i in range(len(AUDIENCES))]
        for owner, own in owners.items()
    }
    rows = [
        f"| {_cell(code_span(owner))} | {' | '.join(_grade(one) for one in grades)} |\n"
        for owner, grades in sorted(
            worst.items(), key=lambda pair: sorted(pair[1], reverse=True), reverse=True
        )
        if max(grades) > Grade.SAFE
    ]
    if not rows:
        return ""
    kept = _within(rows, 0, _TABLE)
    left = len(rows) - len(kept)
    ending = f"\n{left:,} more rows are left out.\n" if left else ""
    head = f"| | {' | '.join(name.capitalize() for name in AUDIENCES)} |\n"
    head += f"| --- |{' --- |' * len(AUDIENCES)}\n"
    is_open = " open" if len(rows) <= _MAX_OPEN_ROWS else ""
    summed = f"<summary>By tool: {len(rows):,}</summary>"
    return (
        f"<details{is_open}>{summed}\n\n{head}{''.join(kept)}{ending}\n</details>\n\n"
    )


def _grade(grade: Grade) -> str:
    return _MARKS[grade] + grade.word


def _item(item: Item) -> str:
    return "\n".join(_lines(item)) + "\n\n"


def _lines(item: Item) -> Iterator[str]:
    mark = next((_MARKS[g] for g in reversed(Grade) if g.word in item.grades), "")
    owners = code_span(item.owner)
    if item.others:
        owners = f"{len(item.others)} tools"
    words = f": {markdown_text(item.message)}" if item.message else ""
    yield f"- {mark}{owners}{words}<br>"
    if item.others:
        yield f"  {format_first([*map(code_span, item.others)], _MAX_NAMES_SHOWN)}<br>"
    place = item.was or item.location
    at = f":{place.line}" if place.line else ""
    was = "was at " if item.was else ""
    where = "" if item.others else f", {was}{code_span(place.file + at)}"
    yield f"  {item.grades}: {code_span(item.rule)}{where}"
    if item.help:
        yield f"  <br>({markdown_text(item.help)})"
    if item.accepted:
        yield f"  <br>accepted: {markdown_text(item.accepted)}"
    elif item.fails and not item.others:
        yield f"  <br>fingerprint {code_span(item.fingerprint)}"
    values = zip("-+", differing(item.values, _VALUE), strict=True)
    rows = [f"{sign} {printable(text)}" for sign, text in values if text]
    if rows:
        block = str(encode_code_block("\n".join(rows), "diff"))
        yield ""
        yield from (f"  {line}" for line in block.split("\n"))


def _effects(effects: Sequence[Effect]) -> str:
    """What readers see differently, in a fold of its own."""
    rows = [
        f"- {_MARKS[Grade.RISKY] if is_worse else ''}"
        f"{', '.join(map(code_span, where))}: {markdown_text(message)}\n"
        for is_worse, where, message in alike_effects(effects)
    ]
    return _fold("What follows for clients", rows)


def _of_check(words: str, found: Sequence[Finding]) -> str:
    rows = [
        f"- {one.severity.word}: {markdown_text(one.message)}"
        f" ({_where(one.location)}): {code_span(one.rule)}"
        f"{f', and {len(one.alike):,} more like it' if one.alike else ''}\n"
        for one in limit_findings(group_similar(found))
    ]
    return _fold(f"{words} findings of <code>toolcast check</code>", rows)


def _fold(title: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    kept = _within(rows, 0, _TABLE // 4)
    left = len(rows) - len(kept)
    ending = f"- {left:,} more are left out\n" if left else ""
    summed = f"<summary>{title}: {len(rows):,}</summary>"
    return f"<details>{summed}\n\n{''.join(kept)}{ending}\n</details>\n\n"


def _where(place: Location) -> str:
    line = f", line {place.line}" if place.line else ""
    return code_span(place.file) + line


def _of_acceptances(verdict: Verdict) -> str:
    rows = [
        f"- {markdown_text(one.message)} ({_where(one.location)}):"
        f" {markdown_text(one.help)}\n"
        for one in verdict.findings[:_MAX_FINDINGS]
    ]
    return f"\nAcceptances:\n\n{''.join(rows)}" if rows else ""


def _cell(text: str) -> str:
    """Markdown of one line within a table, where a bar ends a cell even in code.

    Source: GitHub Flavored Markdown, section 4.10.
    """
    return text.replace("|", "\\|")


def _within(
    parts: Iterable[str], used: int, most: int = _MAX_REPORT_CHARACTERS
) -> list[str]:
    """The first of the parts that have room behind what is used; no more are made."""
    kept = []
    for part in parts:
        # Outside of Unicode's first plane a character may count twice.
        used += len(part) + sum(character > "\uffff" for character in part)
        if used > most:
            break
        kept.append(part)
    return kept


def versions(verdict: Verdict) -> str:
    """The version that each toolset that has changed should have, as its entry for a changelog.

    Source of the form: Keep a Changelog 1.1.0. An entry has no date, which is that of a release.
    """
    if not verdict.proposals:
        return f"No toolset has changed against {code_span(verdict.against)}.\n"
    return "\n".join("".join(_entry(one)) for one in verdict.proposals)


def _entry(one: Proposal) -> Iterator[str]:
    name = markdown_text(one.version or one.now or "Unreleased")
    yield f"## {one.toolset} {name}\n\n{_comment(one)}\n"
    parts: dict[str, list[Change]] = {part: [] for part in _PARTS}
    safe = 0
    for change in one.changes:
        own = (part for part, ids in _PARTS.items() if change.rule.id in ids)
        part = next(own, "Changed")
        if part == "Changed" and change.grades.worst is Grade.SAFE:
            safe += 1
        else:
            parts[part].append(change)
    for part, changes in parts.items():
        if changes:
            yield f"\n### {part}\n\n"
            yield from map(_line, changes)
    if safe:
        what = "change that breaks" if safe == 1 else "changes that break"
        yield f"\n{safe} further {what} nobody.\n"


def _comment(one: Proposal) -> str:
    """What is proposed, in a sentence that the entry's author removes."""
    reason = markdown_text(one.reason)
    if not one.version:
        return f"A {one.step} step, but no version is proposed: {reason}."
    was = f"{one.before} -> " if one.before else ""
    done = ""
    if one.now and one.now != one.before:
        done = (
            f"; toolset.yaml says {markdown_text(one.now)}, which is "
            f"{'enough' if one.is_enough else 'not enough'}"
        )
    return f"{was}{one.version} ({one.step}): {reason}{done}."


def _line(change: Change) -> str:
    words = f" ({graded(change.grades)})" if change.grades.worst > Grade.SAFE else ""
    names_itself = change.tool and f"`{change.tool}`" in change.message
    tool = f"{code_span(change.tool)}: " if change.tool and not names_itself else ""
    return f"- {tool}{markdown_text(change.message)}{words}\n"
