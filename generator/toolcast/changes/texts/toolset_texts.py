"""Changes of the texts of a toolset that models read, and of what stands around its tools."""

from __future__ import annotations

from collections import defaultdict
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
    SpecFiles,
    files_of,
    raw,
    tools_of_both,
)
from ..family import Family, Rules
from ..field_rows import entries
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
    "section/order", "The sections of the prompt docs stand in another order.", Grades()
)
TOOL_SECTION = RULES.alone(
    "section/tool-moved",
    "A tool stands in another section of the prompt docs, below other texts.",
    _RISKY,
)
TOOL_ORDER = RULES.alone(
    "section/tool-order",
    "Tools have other numbers, which say in what order they stand in their section and in"
    " lists.",
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
    yield from _tool_orders(before, after, files)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's place."""
    old, new = both.before.section, both.after.section
    if old != new:
        yield both.files.changed(
            TOOL_SECTION,
            ("section",),
            f"the tool stands {_in(new)} instead of {_in(old)}",
            ABSENT if old is None else old,
            ABSENT if new is None else new,
        )


def _tool_orders(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    """The changes of tools' numbers: one that is new among many may renumber them all."""
    tools = tools_of_both(before, after)
    numbers = {new.name: (raw(old, "order"), raw(new, "order")) for old, new in tools}
    changed = {name: pair for name, pair in numbers.items() if pair[0] != pair[1]}
    if len(changed) == 1:
        for old, new in tools:
            if new.name in changed:
                numbered = SpecFiles(files.toolset, new.name, old.source, new.source)
                was, is_ = changed[new.name]
                words = ["none" if n is ABSENT else said(n) for n in (was, is_)]
                message = f"the tool's number in its section is {words[1]} instead of {words[0]}"
                yield numbered.changed(TOOL_ORDER, ("order",), message, was, is_)
    elif changed:
        stood = {tool.name: place for place, tool in enumerate(before.tools)}
        places: defaultdict[str | None, list[int]] = defaultdict(list)
        for old, new in tools:
            if old.section == new.section:
                places[new.section].append(stood[old.name])
        is_same = all(section == sorted(section) for section in places.values())
        order = "in the order that they had" if is_same else "in another order"
        yield files.changed(
            TOOL_ORDER,
            ("order",),
            f"{len(changed)} tools have other numbers, and the tools stand {order}",
            before={n: was for n, (was, _) in changed.items() if was is not ABSENT},
            after={n: is_ for n, (_, is_) in changed.items() if is_ is not ABSENT},
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
    toolset_rows=(
        entries(
            "sections",
            "the sections",
            SECTION_ADDED,
            SECTION_REMOVED,
            moved=SECTIONS_MOVED,
        ),
    ),
    toolset_fields=frozenset(
        [
            "instructions",
            "preamble.heading",
            "preamble.intro",
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
