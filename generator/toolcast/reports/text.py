"""Text reports of findings and changes, for terminals with 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ..diff.change import AUDIENCES, Grade
from ..encoders.markdown import encode_code_block
from ..encoders.python import text_width
from ..findings import Finding, Severity, group_similar, limit_findings
from ..suggestions import format_list
from .change_items import (
    build_change_items,
    count_owners,
    describe_shared_definitions,
    format_differing_values,
    format_grade_counts,
    group_effects,
)
from .escaping import escape_log_line, printable
from .item import ReportContext, ReportItem, build_finding_items

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.verdict import Verdict

_WIDTH = 80
_EXPLAIN_COLUMN = 60
_MAX_SIMILAR_LOCATIONS = 2
"""Locations of similar findings that are printed."""
_MAX_VALUE_CHARACTERS = 160
"""Characters of a change's old or new value."""
_MAX_RISKY_MESSAGES = 5
"""Messages of one kind of risky change that are printed; of others, only the locations."""
_SEVERITY_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_GRADE_COLORS = {Grade.BREAKING.label: "31", Grade.RISKY.label: "33"}


def render_findings(findings: Sequence[Finding], context: ReportContext) -> str:
    """Render findings with their source lines; similar ones are grouped by default."""
    if not context.shows_all:
        findings = group_similar(findings)
    items = build_finding_items(limit_findings(findings))
    return "".join(_render_finding(item, context.has_color) for item in items)


def _render_finding(item: ReportItem, has_color: bool) -> str:
    severity = item.severity.label
    if has_color:
        severity = f"\x1b[{_SEVERITY_COLORS[item.severity]}m{severity}\x1b[0m"
    location = escape_log_line(printable(str(item.location)))
    text = f"{location}: {severity}: {item.rule}: {printable(item.message)}\n"
    if item.location.line and item.source_line.strip():
        text += _render_source_line(item)
    help_text = f"  help: {printable(item.help)}" if item.help else ""
    text += f"{help_text.ljust(_EXPLAIN_COLUMN)}  toolcast explain {item.rule}\n"
    if item.others:
        locations = ", ".join(
            escape_log_line(printable(other))
            for other in item.others[:_MAX_SIMILAR_LOCATIONS]
        )
        text += (
            f"  and {len(item.others):,} similar findings, the next at {locations};"
            " `toolcast check --all` lists them\n"
        )
    return text


def _render_source_line(item: ReportItem) -> str:
    """Return the source line with carets below the location.

    Of a line with more than 100 characters, 100 around the location are shown.
    """
    location, line = item.location, item.source_line
    start = location.column - 1
    end = max(location.end_column - 1, start + 1)
    first = max(0, start - 40) if len(line) > 100 else 0
    last = min(len(line), first + 100)
    before = printable(line[first:start])
    marked = printable(line[start : min(end, last)])
    after = printable(line[min(end, last) : last])
    number = str(location.line)
    # Count display columns instead of characters, because wide characters occupy two.
    carets = "^" * max(1, text_width(marked))
    return (
        f"  {number} | {before}{marked}{after}\n"
        f"  {' ' * len(number)} | {' ' * text_width(before)}{carets}\n"
    )


def render_changes(verdict: Verdict, context: ReportContext) -> str:
    """Render the changes by kind, the worst first, then effects, findings and a summary."""
    items = build_change_items(
        verdict.changes, shows_all=context.shows_all, shows_texts=context.shows_texts
    )
    blocks = []
    for heading, group in groupby(items, key=_heading_key):
        if heading:
            blocks.append("".join(_render_change_group(list(group), context)))
    safe_items = [item for item in items if not _heading_key(item)]
    if safe_items:
        blocks.append("".join(_render_safe_changes(safe_items)))
    if verdict.effects:
        blocks.append("".join(_render_effects(verdict.effects)))
    if verdict.findings:
        blocks.append(render_findings(verdict.findings, context))
    if verdict.added:
        blocks.append("".join(_render_check_findings("new", verdict.added)))
    if verdict.fixed:
        blocks.append("".join(_render_check_findings("fixed", verdict.fixed)))
    return "\n".join([*blocks, "".join(_render_summary(verdict))])


def _heading_key(item: ReportItem) -> tuple[str, ...]:
    """Return a key that is equal for items below one heading; () for safe changes."""
    if item.grades == Grade.SAFE.label and not item.is_failing:
        return ()
    return (
        item.grades,
        item.rule,
        item.help,
        item.acceptance_reason,
        str(item.is_failing),
    )


def _render_change_group(
    items: Sequence[ReportItem], context: ReportContext
) -> Iterator[str]:
    first = items[0]
    heading = printable(f"{first.grades}: {first.rule}")
    if context.has_color:
        for grade, code in _GRADE_COLORS.items():
            heading = heading.replace(f"{grade} for", f"\x1b[{code}m{grade}\x1b[0m for")
    yield f"{heading}\n"
    if first.help:
        yield from _wrap(f"({first.help})", "  ")
    if first.acceptance_reason:
        yield from _wrap(f"accepted: {first.acceptance_reason}", "  ")
    is_complete = (
        first.is_failing or context.shows_all or first.grades.startswith("breaking")
    )
    shown_items = items if is_complete else items[:_MAX_RISKY_MESSAGES]
    for item in shown_items:
        yield from _render_change(item, has_location=is_complete)
    omitted = items[len(shown_items) :]
    if omitted:
        labels = [label for item in omitted for label in item.others or (item.owner,)]
        # A label may have the changed fields in parentheses after the tool.
        counts = Counter(label.partition(" (")[0] for label in labels)
        tools = [f"{tool} ({n})" if n > 1 else tool for tool, n in counts.items()]
        yield from _wrap(f"and {len(labels)} more: {', '.join(tools)}", "  ", 2)


def _render_change(item: ReportItem, *, has_location: bool) -> Iterator[str]:
    location = item.old_location or item.location
    owner, line = item.owner, ""
    if not has_location and location.line:
        line = f":{location.line}"
        if location.file.endswith(("/toolset.yaml", "toolcast.yaml")):
            # The line is in toolset.yaml or toolcast.yaml, which the owner does not name.
            owner = location.file
    if item.others:
        yield from _wrap(f"{count_owners(item.others)}: {item.message}", "  ", 2)
        yield from _wrap(", ".join(item.others), "    ")
    else:
        yield from _wrap(f"{owner}{line}: {item.message}", "  ", 2)
    old, new = format_differing_values(item.values, _MAX_VALUE_CHARACTERS)
    if old and new:
        yield from _wrap(f"{old} -> {new}", "    ", 2)
    elif old:
        yield from _wrap(f"was {old}", "    ", 2)
    elif new:
        yield from _wrap(new, "    ", 2)
    if item.texts:
        for text in str(encode_code_block("\n".join(item.texts))).splitlines():
            yield from _wrap(text, "    ")
    if has_location and not item.others:
        was_at = "was at " if item.old_location else ""
        location_text = escape_log_line(f"    {was_at}{printable(str(location))}")
        yield f"{location_text}  {item.fingerprint}\n"


def _render_safe_changes(items: Sequence[ReportItem]) -> Iterator[str]:
    yield "safe\n"
    for item in items:
        owners = ", ".join(item.others) or item.owner
        message = f": {item.message}" if item.message else ""
        reason = f" ({item.help})" if item.help else ""
        yield from _wrap(f"{item.rule}: {owners}{message}{reason}", "  ", 2)


def _render_effects(effects: Sequence[Effect]) -> Iterator[str]:
    yield "effects on clients (! is worse)\n"
    for is_worse, owners, message in group_effects(effects):
        indent = "  ! " if is_worse else "    "
        yield from _wrap(f"{', '.join(owners)}: {message}", indent, 2)


def _render_check_findings(
    adjective: str, findings: Sequence[Finding]
) -> Iterator[str]:
    noun = "finding" if len(findings) == 1 else "findings"
    yield f"{len(findings)} {adjective} {noun} of `toolcast check`\n"
    for item in build_finding_items(limit_findings(group_similar(findings))):
        more = f" and {len(item.others):,} similar findings" if item.others else ""
        label = f"{item.location}: {item.severity.label}: {item.rule}"
        yield from _wrap(f"{label}: {item.message}{more}", "  ", 2)


def _wrap(text: str, indent: str, hanging_indent: int = 0) -> Iterator[str]:
    for line in textwrap.wrap(
        printable(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * (len(indent) + hanging_indent),
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield f"{escape_log_line(line)}\n"


def _render_summary(verdict: Verdict) -> Iterator[str]:
    against = printable(verdict.against)
    if verdict.is_first:
        yield f"{against} has no specs: everything is new\n"
        return
    if not verdict.changes:
        yield f"no change against {against}\n"
        return
    changes = _count(len(verdict.changes), "change")
    places = _count(len({judged.owner for judged in verdict.changes}), "place")
    grades = "; ".join(
        f"{audience} {counts or 'safe'}"
        for audience, counts in format_grade_counts(verdict).items()
    )
    yield from _wrap(f"{changes} in {places} against {against}: {grades}", "")
    for file, clause in describe_shared_definitions(verdict):
        yield from _wrap(f"{file}: {clause}", "")
    yield from _wrap(_describe_failures(verdict), "")
    worst = max(verdict.changes, key=lambda judged: judged.change.grades.worst)
    yield f"`toolcast explain {worst.change.rule.id}` explains this kind of change\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _describe_failures(verdict: Verdict) -> str:
    # Imported here because reports of findings do not need the code that compares versions.
    from ..diff.review.verdict import DEFAULT_LIMITS, format_limits

    limits = ""
    if verdict.limits != DEFAULT_LIMITS:
        limits = f" --fail-on {format_limits(verdict.limits)}"
    accepted = f"; {verdict.accepted} accepted" if verdict.accepted else ""
    if not verdict.failing:
        return f"nothing fails{limits}{accepted}"
    failing = {audience for judged in verdict.changes for audience in judged.fails}
    audiences = format_list([name for name in AUDIENCES if name in failing])
    verb = "fails" if verdict.failing == 1 else "fail"
    return f"{verdict.failing} {verb}{limits}, for {audiences}{accepted}"
