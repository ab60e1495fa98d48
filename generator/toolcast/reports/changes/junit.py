"""A diff as JUnit XML: what fails at --fail-on is a failure, what is accepted is skipped.

Source: `junit-10.xsd` of Jenkins' xUnit plugin, which other CI systems read, too.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from ...changes.change import ABSENT
from ...changes.review.verdict import Judged, Verdict
from ...wording import dotted
from ..escaping import printable
from ..findings.formats import About
from ..json_values import one_line
from .formats import by_owner, grades_of

__all__ = ["write"]


def write(verdict: Verdict, about: About) -> str:
    """A suite for each tool, in it a case for each change."""
    root = Element("testsuites", name="toolcast diff")
    for owner, changes in by_owner(verdict.changes):
        suite = _suite(root, owner, changes)
        for one in changes:
            _case(suite, one)
    if not verdict.changes:
        name = printable(f"no change against {verdict.against}")
        suite = _suite(root, "toolcast.yaml", [])
        suite.set("tests", "1")
        SubElement(suite, "testcase", name=name, classname="toolcast.diff")
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return text.decode("utf-8") + "\n"


def _suite(root: Element, owner: str, changes: list[Judged]) -> Element:
    return SubElement(
        root,
        "testsuite",
        name=printable(owner),
        tests=str(len(changes)),
        failures=str(sum(bool(one.fails) for one in changes)),
        errors="0",
        skipped=str(sum(one.accepted is not None for one in changes)),
    )


def _case(suite: Element, one: Judged) -> None:
    change = one.change
    name = printable(f"{change.rule.id} {dotted(change.path)}".rstrip())
    owner = printable(one.owner.replace("/", "."))
    case = SubElement(suite, "testcase", name=name, classname=owner)
    if one.accepted is not None:
        SubElement(
            case, "skipped", message=printable(f"accepted: {one.accepted.reason}")
        )
    elif one.fails:
        grades = grades_of(change)
        kind = ", ".join(f"{name} {grades[name]}" for name in one.fails)
        failure = SubElement(
            case, "failure", message=printable(change.message), type=kind
        )
        failure.text = "\n".join(map(printable, _told(one)))


def _told(one: Judged) -> Iterator[str]:
    change, place = one.change, one.place
    yield change.message
    yield f"{place.file}:{place.line}:{place.column}" if place.line else place.file
    for word, value in (("before", change.before), ("after", change.after)):
        if value is not ABSENT:
            yield f"{word}: {one_line(value, 1000)}"
    if change.reason:
        yield change.reason
    yield f"fingerprint: {change.fingerprint}"
