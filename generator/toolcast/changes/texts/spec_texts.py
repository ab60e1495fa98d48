"""The texts of specs that models read: a tool's, a toolset's, and those of Agent Skills."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ...facts.client_kinds import Limited
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ...suggestions import dotted
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
from ..field_rows import entries, value
from ..json_values import said
from .text_change import RULES as EDITS
from .text_change import Owner, TextSides, changes_within, text_changes

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING
_RISKY = Grades(prompt=_R)

RULES = Rules()
SECTION_ADDED, SECTION_REMOVED = RULES.pair(
    "section/added",
    "The prompt docs may have a section more, with its heading and texts.",
    _RISKY,
    "section/removed",
    "A section of the prompt docs is gone, with what its texts said of all its tools.",
    _RISKY,
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
SKILL_ADDED, SKILL_REMOVED = RULES.pair(
    "skill/added",
    "A tool has a skill of its own: agents may take it up beside the toolset's.",
    _RISKY,
    "skill/removed",
    "A tool has no skill of its own any more; what agents knew by it is gone.",
    Grades(prompt=_R, attachment=_R),
)
SKILL_NAME = RULES.alone(
    "skill/name",
    "A skill has another name, and so another folder and address: who keeps or has approved"
    " it has the old one.",
    Grades(prompt=_R, attachment=_B),
)
SKILL_HEAD = RULES.alone(
    "skill/front-matter",
    "A SKILL.md begins with another license, other needs, or others of the metadata that"
    " programs read.",
    Grades(attachment=_R),
)
SKILL_PER = RULES.alone(
    "skill/per",
    "The toolset has a skill where each tool had one, or the other way round.",
    Grades(prompt=_R, attachment=_B),
)

_SKILL = (
    value("skill.name", "the skill's name", SKILL_NAME),
    value("skill.license", "the skill's license", SKILL_HEAD),
    value("skill.compatibility", "what the skill needs", SKILL_HEAD),
    value("skill.metadata", "the skill's metadata", SKILL_HEAD),
    value("skill.openclaw", "what OpenClaw reads of the skill", SKILL_HEAD),
)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's texts, of its skill, and of its place in the prompt docs."""
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
    old, new = both.before.section, both.after.section
    if old != new:
        yield both.files.changed(
            TOOL_SECTION,
            ("section",),
            f"the tool stands {_in(new)} instead of {_in(old)}",
            ABSENT if old is None else old,
            ABSENT if new is None else new,
        )
    has_skill = [side.skill is not None for side in (both.before, both.after)]
    if has_skill[0] != has_skill[1]:
        rule, words = (
            (SKILL_ADDED, "has a") if has_skill[1] else (SKILL_REMOVED, "has no")
        )
        sides = [raw(side, "skill") for side in (both.before, both.after)]
        message = f"the tool {words} skill of its own"
        yield both.files.changed(rule, ("skill",), message, *sides)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's texts and sections, and of its skill."""
    files = files_of(before, after)
    owner = Owner(files, (before, after), (was, now))
    texts = (_of_toolset, _of_sections, _of_skill)
    for text in (text for find in texts for text in find(before, after)):
        yield from text_changes(text, owner)
    yield from _tool_orders(before, after, files)


def _of_tool(both: Both) -> Iterator[TextSides]:
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


def _of_schemas(both: Both) -> Iterator[TextSides]:
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
                subject = f"the description at {said(dotted((field, *path)))}"
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
        of = f"of the section {said(section.name)}"
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


FAMILY = Family(
    rules=(*EDITS, *RULES),
    tool_rows=_SKILL,
    toolset_rows=(
        *_SKILL,
        value("targets.skills.per", "what has skills", SKILL_PER, default="toolset"),
        entries(
            "sections",
            "the sections",
            SECTION_ADDED,
            SECTION_REMOVED,
            moved=SECTIONS_MOVED,
        ),
    ),
    tool_fields=frozenset(
        [
            "summary",
            "description",
            "when_to_use",
            "when_to_use.text",
            "guidance",
            "actions.values.*.summary",
            "cli.comment",
            "deprecated.reason",
            "skill.description",
            "section",
            "order",
        ]
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
            "skill.description",
            "skill.guidance",
        ]
    ),
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""The texts that models read; those of schemas have a family of their own."""
