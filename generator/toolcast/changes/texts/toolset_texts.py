"""Changes of the texts of a toolset that models read."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.costs.client_kinds import Limited
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..change import ABSENT, Change, files_of
from ..json_values import said
from .text_change import Owner, TextSides, text_changes

__all__ = ["compare_toolsets"]


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's texts."""
    owner = Owner(files_of(before, after), (before, after), (was, now))
    for text in (*_texts(before, after), *_sections(before, after)):
        yield from text_changes(text, owner)


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
