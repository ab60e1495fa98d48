"""Markdown reports for pull request comments and workflow summaries, and changelog entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..diff.change import AUDIENCES, Change, Grade
from ..diff.review.verdict import DEFAULT_LIMITS, Proposal, Verdict, format_limits
from ..encoders.markdown import encode_code_block
from ..findings import Finding, Location, group_similar, limit_findings
from ..suggestions import format_first
from .change_items import (
    build_change_items,
    count_owners,
    describe_shared_definitions,
    format_differing_values,
    format_grade_counts,
    format_grades,
    group_effects,
)
from .escaping import escape_markdown, printable, render_code_span
from .item import ReportContext, ReportItem, format_severity_counts

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.verdict import ChangeVerdict

_MAX_REPORT_CHARACTERS = 60_000
"""Length of a report.

GitHub accepts 65,536; the rest is for the text of an action around it.
"""
_GRADE_MARKS = {
    Grade.BREAKING: "\U0001f534 ",
    Grade.RISKY: "\U0001f7e1 ",
    Grade.SAFE: "",
}
_MAX_VALUE_CHARACTERS = 600
"""Characters of a change's old or new value."""
_CHANGELOG_SECTIONS = {
    "Removed": ("tool/removed", "tool/removed-as-announced", "toolset/removed"),
    "Deprecated": ("tool.deprecated/set",),
    "Changed": (),
    "Added": ("tool/added", "tool/added-past-removal", "toolset/added"),
}
"""Sections of a changelog entry with their rules; all other rules belong to `Changed`."""
_MAX_OPEN_ROWS = 10
"""Rows up to which the table by tool is expanded."""
_MAX_FINDINGS = 20
"""Findings in the report."""
_MAX_NAMES_SHOWN = 200
"""Owners of one change that are named."""
_MAX_TABLE_CHARACTERS = _MAX_REPORT_CHARACTERS // 3
"""Length of the table by tool, so that the report can also list changes."""
_RESERVED_CHARACTERS = 400
"""Characters that the notes on omitted items and the markup around the items may need."""


def render_findings(findings: Sequence[Finding], context: ReportContext) -> str:
    """Render findings as a table, errors first; similar ones are grouped by default."""
    if not findings:
        return f"### Tool specs\n\nNo findings in {context.tools:,} tools.\n"
    head = (
        f"### Tool specs\n\n**{format_severity_counts(findings)}**\n\n"
        "| | Finding | Location |\n| --- | --- | --- |\n"
    )
    grouped = findings if context.shows_all else group_similar(findings)
    by_severity = sorted(limit_findings(grouped), key=lambda f: -f.severity)
    rows = [_render_finding_row(finding) for finding in by_severity]
    fitting = _take_fitting(rows, len(head))
    omitted = len(rows) - len(fitting)
    note = f"\n{omitted:,} more: `toolcast check` lists them.\n" if omitted else ""
    return head + "".join(fitting) + note


def _render_finding_row(finding: Finding) -> str:
    location = finding.location
    line = f":{location.line}:{location.column}" if location.line else ""
    text = escape_markdown(finding.message)
    if finding.help:
        text += f"<br>{escape_markdown(finding.help)}"
    if finding.alike:
        text += f"<br>and {len(finding.alike):,} similar findings"
    text += f"<br>{render_code_span(finding.rule)}"
    location_text = render_code_span(location.file + line)
    return (
        f"| {finding.severity.label} | {_escape_cell(text)} |"
        f" {_escape_cell(location_text)} |\n"
    )


def render_changes(verdict: Verdict, context: ReportContext) -> str:
    """Render failing and breaking changes, then collapsed sections of the other content.

    These are risky and safe changes, a table by tool, effects, and findings. The report is
    limited to the length of a comment; it states how many items it omits.
    """
    against = render_code_span(verdict.against)
    if not verdict.changes:
        sentence = f"No change against {against}."
        if verdict.is_first:
            sentence = f"{against} has no specs: everything is new."
        return f"### Tool changes\n\n{sentence}\n{_render_acceptance_findings(verdict)}"
    text = f"### Tool changes\n\n{_render_summary(verdict, against)}\n\n"
    for file, clause in describe_shared_definitions(verdict):
        text += f"{render_code_span(file)}: {clause}.\n\n"
    table = _render_tool_table(verdict.changes)
    ending = (
        _render_effects(verdict.effects)
        + _render_check_findings("New", verdict.added)
        + _render_check_findings("Fixed", verdict.fixed)
        + _render_acceptance_findings(verdict)
    )
    items = build_change_items(
        verdict.changes, shows_all=context.shows_all, shows_texts=context.shows_texts
    )
    open_items = [item for item in items if _is_open(item)]
    other_items = [item for item in items if not _is_open(item)]
    risky_items = [item for item in other_items if item.grades != Grade.SAFE.label]
    safe_items = [item for item in other_items if item.grades == Grade.SAFE.label]
    for title, section in (
        ("", open_items),
        ("Risky", risky_items),
        ("Safe", safe_items),
    ):
        # Reserve space for the table and the ending, which follow the sections.
        used = len(text) + len(table) + len(ending) + _RESERVED_CHARACTERS
        text += _render_section(title, section, used)
    return text + table + ending


def _is_open(item: ReportItem) -> bool:
    return item.is_failing or item.grades.startswith(Grade.BREAKING.label)


def _render_section(title: str, items: Sequence[ReportItem], used: int) -> str:
    """Render the items that fit into the report, collapsed if the section has a title."""
    if not items:
        return ""
    fitting = _take_fitting(map(_render_item, items), used)
    omitted = len(items) - len(fitting)
    note = (
        f"{omitted:,} more are omitted: `toolcast diff` lists them.\n\n"
        if omitted
        else ""
    )
    content = f"{''.join(fitting)}{note}"
    if not title:
        return content
    summary = f"<summary>{title}: {len(items):,}</summary>"
    return f"<details>{summary}\n\n{content}</details>\n\n"


def _render_summary(verdict: Verdict, against: str) -> str:
    count = len(verdict.changes)
    sentence = f"**{count:,} change{'' if count == 1 else 's'}** against {against}: "
    grade_counts = [
        f"{audience} {counts}"
        for audience, counts in format_grade_counts(verdict).items()
        if counts
    ]
    sentence += "; ".join(grade_counts) or "all safe"
    limits = ""
    if verdict.limits != DEFAULT_LIMITS:
        limits = f" at {render_code_span(format_limits(verdict.limits))}"
    if verdict.failing:
        verb = "fails" if verdict.failing == 1 else "fail"
        sentence += f".<br>**{verdict.failing:,} {verb}{limits}**"
    else:
        sentence += f".<br>Nothing fails{limits}"
    return sentence + (f"; {verdict.accepted:,} accepted." if verdict.accepted else ".")


def _render_tool_table(changes: Sequence[ChangeVerdict]) -> str:
    """Render a table of each tool's worst grade by audience, the worst tools first.

    Tools with only safe changes are omitted; empty if no tool remains. The table is
    collapsed if it has more than 10 rows.
    """
    changes_by_owner: dict[str, list[ChangeVerdict]] = {}
    for judged in changes:
        changes_by_owner.setdefault(judged.owner, []).append(judged)
    worst_grades = {
        owner: [
            max(judged.change.grades[index] for judged in owner_changes)
            for index in range(len(AUDIENCES))
        ]
        for owner, owner_changes in changes_by_owner.items()
    }
    by_grade = sorted(
        worst_grades.items(),
        key=lambda entry: sorted(entry[1], reverse=True),
        reverse=True,
    )
    rows = [
        f"| {_escape_cell(render_code_span(owner))} |"
        f" {' | '.join(_GRADE_MARKS[grade] + grade.label for grade in grades)} |\n"
        for owner, grades in by_grade
        if max(grades) > Grade.SAFE
    ]
    if not rows:
        return ""
    fitting = _take_fitting(rows, 0, _MAX_TABLE_CHARACTERS)
    omitted = len(rows) - len(fitting)
    note = f"\n{omitted:,} more rows are omitted.\n" if omitted else ""
    head = f"| | {' | '.join(name.capitalize() for name in AUDIENCES)} |\n"
    head += f"| --- |{' --- |' * len(AUDIENCES)}\n"
    is_open = " open" if len(rows) <= _MAX_OPEN_ROWS else ""
    summary = f"<summary>By tool: {len(rows):,}</summary>"
    return (
        f"<details{is_open}>{summary}\n\n{head}{''.join(fitting)}{note}\n</details>\n\n"
    )


def _render_item(item: ReportItem) -> str:
    return "\n".join(_render_item_lines(item)) + "\n\n"


def _render_item_lines(item: ReportItem) -> Iterator[str]:
    # `item.grades` is text, so search it for the labels, the worst grade first.
    grades = [grade for grade in reversed(Grade) if grade.label in item.grades]
    mark = _GRADE_MARKS[grades[0]] if grades else ""
    owner = render_code_span(item.owner)
    if item.others:
        owner = count_owners(item.others)
    message = f": {escape_markdown(item.message)}" if item.message else ""
    yield f"- {mark}{owner}{message}<br>"
    if item.others:
        tools = [render_code_span(label) for label in item.others]
        yield f"  {format_first(tools, _MAX_NAMES_SHOWN)}<br>"
    location_text = ""
    if not item.others:
        location = item.old_location or item.location
        line = f":{location.line}" if location.line else ""
        was_at = "was at " if item.old_location else ""
        location_text = f", {was_at}{render_code_span(location.file + line)}"
    yield f"  {item.grades}: {render_code_span(item.rule)}{location_text}"
    if item.help:
        yield f"  <br>({escape_markdown(item.help)})"
    if item.acceptance_reason:
        yield f"  <br>accepted: {escape_markdown(item.acceptance_reason)}"
    elif item.is_failing and not item.others:
        yield f"  <br>fingerprint {render_code_span(item.fingerprint)}"
    old, new = format_differing_values(item.values, _MAX_VALUE_CHARACTERS)
    rows = []
    if old:
        rows.append(f"- {printable(old)}")
    if new:
        rows.append(f"+ {printable(new)}")
    rows += [f"+ {printable(text)}" for text in item.texts]
    if rows:
        block = str(encode_code_block("\n".join(rows), "diff"))
        yield ""
        # The indent makes the code block a part of the list item.
        yield from (f"  {line}" for line in block.split("\n"))


def _render_effects(effects: Sequence[Effect]) -> str:
    rows = [
        f"- {_GRADE_MARKS[Grade.RISKY] if is_worse else ''}"
        f"{', '.join(map(render_code_span, owners))}: {escape_markdown(message)}\n"
        for is_worse, owners, message in group_effects(effects)
    ]
    return _render_collapsed("Effects on clients", rows)


def _render_check_findings(adjective: str, findings: Sequence[Finding]) -> str:
    rows = []
    for finding in limit_findings(group_similar(findings)):
        similar = (
            f", and {len(finding.alike):,} similar findings" if finding.alike else ""
        )
        rows.append(
            f"- {finding.severity.label}: {escape_markdown(finding.message)}"
            f" ({_render_location(finding.location)}):"
            f" {render_code_span(finding.rule)}{similar}\n"
        )
    title = f"{adjective} findings of <code>toolcast check</code>"
    return _render_collapsed(title, rows)


def _render_collapsed(title: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    fitting = _take_fitting(rows, 0, _MAX_TABLE_CHARACTERS // 4)
    omitted = len(rows) - len(fitting)
    note = f"- {omitted:,} more are omitted\n" if omitted else ""
    summary = f"<summary>{title}: {len(rows):,}</summary>"
    return f"<details>{summary}\n\n{''.join(fitting)}{note}\n</details>\n\n"


def _render_location(location: Location) -> str:
    line = f", line {location.line}" if location.line else ""
    return render_code_span(location.file) + line


def _render_acceptance_findings(verdict: Verdict) -> str:
    rows = [
        f"- {escape_markdown(finding.message)} ({_render_location(finding.location)}):"
        f" {escape_markdown(finding.help)}\n"
        for finding in verdict.findings[:_MAX_FINDINGS]
    ]
    return f"\nAcceptances:\n\n{''.join(rows)}" if rows else ""


def _escape_cell(text: str) -> str:
    """Escape vertical bars, which end a table cell even inside of a code span.

    Source: GitHub Flavored Markdown, section 4.10.
    """
    return text.replace("|", "\\|")


def _take_fitting(
    parts: Iterable[str], used: int, max_characters: int = _MAX_REPORT_CHARACTERS
) -> list[str]:
    """Return the first parts that fit into a limit; later parts are not even rendered.

    Args:
        parts: the rendered parts.
        used: the number of characters that are already used.
        max_characters: the limit.
    """
    fitting = []
    for part in parts:
        # A character beyond U+FFFF counts twice where lengths are those of UTF-16.
        used += len(part) + sum(character > "\uffff" for character in part)
        if used > max_characters:
            break
        fitting.append(part)
    return fitting


def render_versions(verdict: Verdict) -> str:
    """Render the proposed version of each changed toolset as a changelog entry.

    The format is that of Keep a Changelog 1.1.0. Entries have no date, since that is the date
    of the release.
    """
    if not verdict.proposals:
        return f"No toolset has changed against {render_code_span(verdict.against)}.\n"
    return "\n".join("".join(_render_entry(p)) for p in verdict.proposals)


def _render_entry(proposal: Proposal) -> Iterator[str]:
    version = escape_markdown(proposal.version or proposal.now or "Unreleased")
    yield f"## {proposal.toolset} {version}\n\n{_explain_version(proposal)}\n"
    changes_by_section: dict[str, list[Change]] = {
        section: [] for section in _CHANGELOG_SECTIONS
    }
    safe_count = 0
    for change in proposal.changes:
        section = _get_section(change)
        if section == "Changed" and change.grades.worst is Grade.SAFE:
            safe_count += 1
        else:
            changes_by_section[section].append(change)
    for section, changes in changes_by_section.items():
        if changes:
            yield f"\n### {section}\n\n"
            yield from map(_render_entry_line, changes)
    if safe_count:
        noun = "change" if safe_count == 1 else "changes"
        yield f"\n{safe_count} more safe {noun}.\n"


def _get_section(change: Change) -> str:
    for section, rules in _CHANGELOG_SECTIONS.items():
        if change.rule.id in rules:
            return section
    return "Changed"


def _explain_version(proposal: Proposal) -> str:
    """Return a sentence on the proposed version and the reason of its step.

    The maintainer removes the sentence from the changelog entry.
    """
    reason = escape_markdown(proposal.reason)
    if not proposal.version:
        return f"No version is proposed for this {proposal.step} step: {reason}."
    before = f"{proposal.before} -> " if proposal.before else ""
    current = ""
    if proposal.now and proposal.now != proposal.before:
        verdict = "high enough" if proposal.is_enough else "too low"
        current = (
            f"; `version` in toolset.yaml is {escape_markdown(proposal.now)}, {verdict}"
        )
    return f"{before}{proposal.version} ({proposal.step}): {reason}{current}."


def _render_entry_line(change: Change) -> str:
    grades = ""
    if change.grades.worst > Grade.SAFE:
        grades = f" ({format_grades(change.grades)})"
    names_tool = change.tool and f"`{change.tool}`" in change.message
    tool = (
        f"{render_code_span(change.tool)}: " if change.tool and not names_tool else ""
    )
    return f"- {tool}{escape_markdown(change.message)}{grades}\n"
