"""A diff as JUnit XML: what fails at --fail-on is a failure, what is accepted is skipped.

Source: `junit-10.xsd` of Jenkins' xUnit plugin, which other CI systems read, too.
"""

from __future__ import annotations

from ...changes.change import ABSENT
from ...changes.review.verdict import Judged, Verdict
from ...wording import dotted
from ..escaping import xml_text
from ..json_values import one_line
from .formats import DiffAbout, by_owner, grades_of

__all__ = ["write"]


def write(verdict: Verdict, about: DiffAbout) -> str:
    """A suite for each tool, in it a case for each change."""
    suites = [_suite(owner, group) for owner, group in by_owner(verdict.changes)]
    if not suites:
        name = xml_text(f"no change against {verdict.against}")
        suites = [
            '  <testsuite name="toolcast.yaml" tests="1" failures="0" errors="0"'
            f' skipped="0">\n    <testcase name="{name}" classname="toolcast.diff"/>\n'
            "  </testsuite>\n"
        ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="toolcast diff">\n'
        + "".join(suites)
        + "</testsuites>\n"
    )


def _suite(owner: str, changes: list[Judged]) -> str:
    failures = sum(bool(one.fails) for one in changes)
    skipped = sum(one.accepted is not None for one in changes)
    return (
        f'  <testsuite name="{xml_text(owner)}" tests="{len(changes)}"'
        f' failures="{failures}" errors="0" skipped="{skipped}">\n'
        + "".join(map(_case, changes))
        + "  </testsuite>\n"
    )


def _case(one: Judged) -> str:
    change = one.change
    name = xml_text(f"{change.rule.id} {dotted(change.path)}".rstrip())
    owner = xml_text(one.owner.replace("/", "."))
    head = f'    <testcase name="{name}" classname="{owner}"'
    if one.accepted is not None:
        reason = xml_text(f"accepted: {one.accepted.reason}")
        return f'{head}>\n      <skipped message="{reason}"/>\n    </testcase>\n'
    if not one.fails:
        return f"{head}/>\n"
    message = xml_text(change.message)
    kind = xml_text(
        ", ".join(f"{name} {grades_of(change)[name]}" for name in one.fails)
    )
    place = one.place
    where = f"{place.file}:{place.line}:{place.column}" if place.line else place.file
    rows = [change.message, where]
    for word, value in (("before", change.before), ("after", change.after)):
        if value is not ABSENT:
            rows.append(f"{word}: {one_line(value, 1000)}")
    rows += [change.reason] if change.reason else []
    rows.append(f"fingerprint: {change.fingerprint}")
    text = "\n".join(map(xml_text, rows))
    return (
        f'{head}>\n      <failure message="{message}" type="{kind}">{text}</failure>\n'
        "    </testcase>\n"
    )
