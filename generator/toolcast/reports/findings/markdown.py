"""Findings as Markdown: for the summary of a workflow, or a comment."""

from __future__ import annotations

from collections.abc import Sequence

from ...findings import Finding, grouped, to_show
from ..escaping import code_span, markdown_text
from ..markdown_size import cell, within
from .formats import About, summary

__all__ = ["write"]


def write(findings: Sequence[Finding], about: About) -> str:
    """A table with a row each, those that are alike once, errors first."""
    if not findings:
        return f"### Tool specs\n\nNo findings in {about.tools:,} tools.\n"
    head = (
        f"### Tool specs\n\n**{summary(findings)}**\n\n"
        "| | Finding | Place |\n| --- | --- | --- |\n"
    )
    shown = findings if about.every else grouped(findings)
    rows = [_row(one) for one in sorted(to_show(shown), key=lambda one: -one.severity)]
    kept = within(rows, len(head))
    left = len(rows) - len(kept)
    told = f"\n{left:,} more: `toolcast check` shows them.\n" if left else ""
    return head + "".join(kept) + told


def _row(finding: Finding) -> str:
    place = finding.place
    line = f":{place.line}:{place.column}" if place.line else ""
    words = markdown_text(finding.message)
    if finding.help:
        words += f"<br>{markdown_text(finding.help)}"
    if finding.alike:
        words += f"<br>and {len(finding.alike):,} more like it"
    words += f"<br>{code_span(finding.rule)}"
    where = code_span(place.file + line)
    return f"| {finding.severity.word} | {cell(words)} | {cell(where)} |\n"
