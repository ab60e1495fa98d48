"""Changes of the texts of a toolset that models read, and of what stands around its tools."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.costs.client_kinds import Limited
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..change import (
    ABSENT,
    Both,
    Change,
    Grade,
    Grades,
    files_of,
    raw,
)
from ..family import Family, Rules
from ..json_values import said
from .text_change import Owner, TextSides, text_changes

__all__ = ["FAMILY"]

_RISKY = Grades(prompt=Grade.RISKY)

RULES = Rules()
SECTION_ADDED, SECTION_REMOVED = RULES.pair(
    "section/added",
    "The prompt docs may have a section more, with its heading and texts.",
    _RISKY,
    "section/removed",
    "A section of the prompt docs is gone, with what its texts said of all its tools.",
    Grades(prompt=Grade.BREAKING),
)
SECTIONS_MOVED = RULES.alone(
    "section/order",
    "The sections of the prompt docs stand in another order.",
    Grades(),
)
TOOL_SECTION = RULES.alone(
    "section/tool-moved",
    "A tool stands in another section of the prompt docs, below other texts.",
    _RISKY,
)
TOOL_ORDER = RULES.alone(
    "section/tool-order",
    "A tool has another place among the tools of its section, and in lists.",
    Grades(),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's texts and sections."""
    files = files_of(before, after)
    owner = Owner(files, (before, after), (was, now))
    for text in (*_texts(before, after), *_sections(before, after)):
        yield from text_changes(text, owner)
    old, new = ({s.name: s for s in side.sections} for side in (before, after))
    for name in new:
        if name not in old:
            path, message = ("sections", name), f"there is a section {said(name)}"
            heading = new[name].heading
            yield files.changed(SECTION_ADDED, path, message, after=heading)
    for name in old:
        if name not in new:
            path, message = ("sections", name), f"the section {said(name)} is gone"
            heading = old[name].heading
            yield files.changed(SECTION_REMOVED, path, message, before=heading)
    orders = [n for n in old if n in new], [n for n in new if n in old]
    if orders[0] != orders[1]:
        yield files.changed(
            SECTIONS_MOVED,
            ("sections",),
            "the sections stand in another order",
            before=orders[0],
            after=orders[1],
        )


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's place."""
    old, new = both.before.section, both.after.section
    if old != new:
        yield both.files.changed(
            TOOL_SECTION,
            ("section",),
            f"the tool stands {_in(new)} instead of {_in(old)}",
            before=ABSENT if old is None else old,
            after=ABSENT if new is None else new,
        )
    orders = raw(both.before, "order"), raw(both.after, "order")
    if orders[0] != orders[1]:
        words = ["none" if o is ABSENT else said(o) for o in orders]
        message = f"the place among the tools is {words[1]} instead of {words[0]}"
        path = ("order",)
        yield both.files.changed(
            TOOL_ORDER, path, message, before=orders[0], after=orders[1]
        )


def _in(section: str | None) -> str:
    return "in no section" if section is None else f"in the section {said(section)}"


def _texts(before: Toolset, after: Toolset) -> Iterator[TextSides]:
    yield TextSides(
        ("instructions",),
        "the server's instructions",
        before.instructions,
        after.instructions,
        Limited.INSTRUCTIONS,
    )
    headings = before.preamble_heading, after.preamble_heading
    yield _caption(("preamble", "heading"), "the preamble's heading", *headings)
    intros = before.preamble_intro, after.preamble_intro
    yield TextSides(("preamble", "intro"), "the preamble's intro", *intros)
    if "cli" in before.targets and "cli" in after.targets:
        old, new = before.targets["cli"], after.targets["cli"]
        path: Path = ("targets", "cli", "heading")
        headings = old.get("heading", ""), new.get("heading", "")
        yield _caption(path, "the heading of the CLI block", *headings)
        path = ("targets", "cli", "intro")
        intros = old.get("intro", ""), new.get("intro", "")
        yield TextSides(path, "the intro of the CLI block", *intros)
        was, is_ = ("\n".join(side.get("closing", ())) for side in (old, new))
        path = ("targets", "cli", "closing")
        subject = "the closing of the CLI block"
        raws = old.get("closing", ABSENT), new.get("closing", ABSENT)
        yield TextSides(path, subject, was, is_, None, raws)


def _caption(path: Path, subject: str, before: str, after: str) -> TextSides:
    return TextSides(path, subject, before, after, is_caption=True)


def _sections(before: Toolset, after: Toolset) -> Iterator[TextSides]:
    """The texts of the sections that both sides have."""
    known = {section.name: section for section in before.sections}
    for section in after.sections:
        old = known.get(section.name)
        if old is None:
            continue
        of = f"of the section {said(section.name)}"
        path = ("sections", section.name)
        headings = old.heading, section.heading
        yield _caption((*path, "heading"), f"the heading {of}", *headings)
        # Without a label the heading stands there, whose changes are its own.
        is_written = any(one.label != one.heading for one in (old, section))
        if is_written:
            labels = old.label, section.label
            yield _caption((*path, "label"), f"the label {of}", *labels)
        yield TextSides((*path, "intro"), f"the intro {of}", old.intro, section.intro)
        footers = old.footer, section.footer
        yield TextSides((*path, "footer"), f"the footer {of}", *footers)


FAMILY = Family(
    rules=RULES,
    tool_fields=frozenset(["section", "order"]),
    toolset_fields=frozenset(
        [
            "instructions",
            "preamble.heading",
            "preamble.intro",
            "sections",
            "sections.*.heading",
            "sections.*.label",
            "sections.*.intro",
            "sections.*.footer",
            "targets.cli.heading",
            "targets.cli.intro",
            "targets.cli.closing",
        ]
    ),
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""The texts of toolsets, and where their tools stand; kinds of edits are `tool_texts`'."""
