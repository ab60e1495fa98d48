"""The texts of specs that models read: a tool's, a toolset's, and those of Agent Skills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...facts.client_kinds import Limited
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ...suggestions import dotted
from ..change import ABSENT, Change, ToolPair, files_of, quoted, raw
from .text_change import Owner, TextSides, changes_within, text_changes

__all__ = ["compare_tools", "compare_toolsets"]


def compare_tools(both: ToolPair) -> Iterator[Change]:
    """The changes of a tool's texts, those of its skill among them."""
    owner = Owner(
        both.files,
        (both.toolset_before, both.toolset_after),
        (both.workspace_before, both.workspace_after),
        (both.before, both.after),
    )
    for text in (*_of_tool(both), *_of_skill(both.before, both.after)):
        yield from text_changes(text, owner)
    # How the texts of schemas were edited is told with their schemas.
    for text in _of_schemas(both):
        yield from changes_within(text, owner)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's texts, those of its sections and its skill among them."""
    owner = Owner(files_of(before, after), (before, after), (was, now))
    texts = (_of_toolset, _of_sections, _of_skill)
    for text in (text for find in texts for text in find(before, after)):
        yield from text_changes(text, owner)


def _of_tool(both: ToolPair) -> Iterator[TextSides]:
    before, after = both.before, both.after
    is_description = before.description is None and after.description is None
    limited = Limited.DESCRIPTION if is_description else None
    yield TextSides(("summary",), "the summary", before.summary, after.summary, limited)
    if not is_description:
        yield TextSides(
            ("description",),
            "the description",
            before.model_description,
            after.model_description,
            Limited.DESCRIPTION,
            (raw(before, "description"), raw(after, "description")),
        )
    for field in ("when_to_use", "guidance"):
        old, new = getattr(before, field), getattr(after, field)
        yield TextSides((field,), f"`{field}`", old, new)
    yield from _actions(before, after)
    if before.cli is not None and after.cli is not None:
        comments = before.cli.comment, after.cli.comment
        # Without a comment the summary stands there, whose changes are its own.
        if comments != (None, None) and before.cli.keyword and after.cli.keyword:
            yield TextSides(
                ("cli", "comment"),
                "the comment in the CLI block",
                before.summary if comments[0] is None else comments[0],
                after.summary if comments[1] is None else comments[1],
            )
    if before.deprecated is not None and after.deprecated is not None:
        old, new = (
            side.get("reason") for side in (before.deprecated, after.deprecated)
        )
        path = ("deprecated", "reason")
        yield TextSides(path, "the reason of the deprecation", old, new)


def _of_schemas(both: ToolPair) -> Iterator[TextSides]:
    """The descriptions in a tool's schemas that differ."""
    for field in ("parameters", "returns"):
        if getattr(both.before, field) == getattr(both.after, field):
            continue
        old, new = (
            {} if schema is None else schema.subschemas
            for schema in (
                both.before.schemas.get(field),
                both.after.schemas.get(field),
            )
        )
        for path in dict.fromkeys((*new, *old)):
            before, after = (_description(side.get(path)) for side in (old, new))
            if before != after:
                where = (field, *path, "description")
                subject = f"the description at {quoted(dotted((field, *path)))}"
                yield TextSides(where, subject, before, after)


def _description(schema: Mapping[str, Any] | None) -> str | None:
    text = schema.get("description") if schema is not None else None
    return text if isinstance(text, str) else None


def _actions(before: ToolSpec, after: ToolSpec) -> Iterator[TextSides]:
    """The summaries of the actions that both sides have."""
    if before.actions is None or after.actions is None:
        return
    known = {action.name: action for action in before.actions.values}
    for action in after.actions.values:
        old = known.get(action.name)
        if old is not None:
            path = ("actions", "values", action.name, "summary")
            subject = f"the summary of the action `{action.name}`"
            yield TextSides(path, subject, old.summary, action.summary)


def _of_toolset(before: Toolset, after: Toolset) -> Iterator[TextSides]:
    yield TextSides(
        ("instructions",),
        "the server's instructions",
        before.instructions,
        after.instructions,
        Limited.INSTRUCTIONS,
    )
    headings = before.preamble_heading, after.preamble_heading
    yield TextSides(("preamble", "heading"), "the preamble's heading", *headings)
    intros = before.preamble_intro, after.preamble_intro
    yield TextSides(("preamble", "intro"), "the preamble's intro", *intros)
    if "cli" in before.targets and "cli" in after.targets:
        old, new = before.targets["cli"], after.targets["cli"]
        path: Path = ("targets", "cli", "heading")
        headings = old.get("heading", ""), new.get("heading", "")
        yield TextSides(path, "the heading of the CLI block", *headings)
        path = ("targets", "cli", "intro")
        intros = old.get("intro", ""), new.get("intro", "")
        yield TextSides(path, "the intro of the CLI block", *intros)
        was, is_ = ("\n".join(side.get("closing", ())) for side in (old, new))
        path = ("targets", "cli", "closing")
        subject = "the closing of the CLI block"
        raws = old.get("closing", ABSENT), new.get("closing", ABSENT)
        yield TextSides(path, subject, was, is_, None, raws)


def _of_sections(before: Toolset, after: Toolset) -> Iterator[TextSides]:
    """The texts of the sections that both sides have."""
    known = {section.name: section for section in before.sections}
    for section in after.sections:
        old = known.get(section.name)
        if old is None:
            continue
        of = f"of the section {quoted(section.name)}"
        path = ("sections", section.name)
        headings = old.heading, section.heading
        yield TextSides((*path, "heading"), f"the heading {of}", *headings)
        # Without a label the heading stands there, whose changes are its own.
        is_written = any(one.label != one.heading for one in (old, section))
        if is_written:
            labels = old.label, section.label
            yield TextSides((*path, "label"), f"the label {of}", *labels)
        yield TextSides((*path, "intro"), f"the intro {of}", old.intro, section.intro)
        footers = old.footer, section.footer
        yield TextSides((*path, "footer"), f"the footer {of}", *footers)


def _of_skill(
    before: Toolset | ToolSpec, after: Toolset | ToolSpec
) -> Iterator[TextSides]:
    old, new = before.skill or {}, after.skill or {}
    for field in ("description", "guidance"):
        subject = f"the skill's {field}"
        yield TextSides(("skill", field), subject, old.get(field), new.get(field))
