"""The versions that toolsets should have, and their entries for a changelog, as Markdown.

Source of the form: Keep a Changelog 1.1.0. An entry has no date, which is that of a release.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..changes.change import Change, Grade
from ..changes.review.verdict import Proposal, Verdict
from .change_items import graded
from .escaping import code_span, markdown_text

__all__ = ["write"]

_PARTS = ("Removed", "Deprecated", "Changed", "Added")


def write(verdict: Verdict) -> str:
    """An entry for each toolset that has changed."""
    if not verdict.proposals:
        return f"No toolset has changed against {code_span(verdict.against)}.\n"
    return "\n".join("".join(_entry(one)) for one in verdict.proposals)


def _entry(one: Proposal) -> Iterator[str]:
    name = markdown_text(one.version or one.now or "Unreleased")
    yield f"## {one.toolset} {name}\n\n{_comment(one)}\n"
    parts: dict[str, list[Change]] = {part: [] for part in _PARTS}
    safe = 0
    for change in one.changes:
        part = _part(change)
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


def _part(change: Change) -> str:
    if change.rule.id in ("tool/added", "toolset/added"):
        return "Added"
    if change.rule.id in ("tool/removed", "toolset/removed"):
        return "Removed"
    if change.rule.id.endswith("/deprecated"):
        return "Deprecated"
    return "Changed"


def _line(change: Change) -> str:
    words = f" ({graded(change.grades)})" if change.grades.worst > Grade.SAFE else ""
    names_itself = change.tool and f"`{change.tool}`" in change.message
    tool = f"{code_span(change.tool)}: " if change.tool and not names_itself else ""
    return f"- {tool}{markdown_text(change.message)}{words}\n"
