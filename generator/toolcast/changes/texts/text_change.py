"""What an edit of one text does to the models that read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...facts.costs.client_kinds import Limited, crossed, limits_here
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ..change import ABSENT, Change, ChangeRule, Grades, SpecFiles
from ..json_values import said
from . import text_rules
from .named_tools import named_in, names_of, unknown_in
from .text_words import (
    content_words,
    first_sentence,
    leading_words,
    marks_and_words,
    words_by_stem,
)

__all__ = ["Owner", "TextSides", "kind_of_edit", "naming_changes", "text_changes"]

_SHRUNK = 0.6
"""A text that keeps less than this part of its length has shrunk."""
_FEW = 40
"""So many characters more or less are not counted as a part: short texts vary more."""
_SHOWN = 4
"""So many words that come in or go are named."""
_KEPT = 0.5
"""A first sentence of whose words less than this part are left may have lost its purpose."""
_LEADING = 2
"""Of the three words that lead a first sentence so many still say what it is for."""


class Owner(NamedTuple):
    """Whose texts are compared.

    Attributes:
        files: the file on both sides.
        toolsets: the toolset as it was, and as it is.
        workspaces: those of the two.
        tools: the tool as it was, and as it is; None for a toolset's texts.
    """

    files: SpecFiles
    toolsets: tuple[Toolset, Toolset]
    workspaces: tuple[Workspace, Workspace]
    tools: tuple[ToolSpec, ToolSpec] | None = None

    @property
    def names(self) -> list[str]:
        """What the tool was called, and is called; empty for a toolset's texts."""
        return [tool.name for tool in self.tools] if self.tools else ["", ""]


class TextSides(NamedTuple):
    """One text on both sides.

    Attributes:
        path: where it stands.
        subject: what messages call it: `the description`.
        before: what models read, None where they read nothing.
        after: the same for now.
        limited: the limits that clients have for such texts.
        raw: the values of the field; they differ from the texts where it has a default.
        is_caption: a heading or label, which has no purpose to lose.
    """

    path: Path
    subject: str
    before: str | None
    after: str | None
    limited: Limited | None = None
    raw: tuple[Any, Any] | None = None
    is_caption: bool = False


def text_changes(text: TextSides, owner: Owner) -> Iterator[Change]:
    """How a text was edited, then which tools it names now, then which limits it crossed."""
    old, new = text.before or "", text.after or ""
    if old == new:
        return
    rule, message = kind_of_edit(text)
    before, after = text.raw or (
        old if text.before else ABSENT,
        new if text.after else ABSENT,
    )
    changed = owner.files.changed
    grades, reason = None, ""
    if _with_names_now(old, owner) == new:
        grades, reason = Grades(), "only names of renamed tools differ"
    yield changed(
        rule,
        text.path,
        message,
        before=before,
        after=after,
        grades=grades,
        reason=reason,
    )
    for rule, message, named_before, named_after in _naming(text, owner):
        yield changed(rule, text.path, message, before=named_before, after=named_after)
    if text.limited is not None:
        for rule, message, limit in _limits(text, text.limited, owner):
            sizes = [{"characters": len(side), **limit} for side in (old, new)]
            yield changed(rule, text.path, message, before=sizes[0], after=sizes[1])


def naming_changes(text: TextSides, owner: Owner) -> Iterator[Change]:
    """Which tools a text names now and did not before, and the other way round."""
    for rule, message, before, after in _naming(text, owner):
        yield owner.files.changed(rule, text.path, message, before, after)


def kind_of_edit(text: TextSides) -> tuple[ChangeRule, str]:
    """What an edit does to a text, and a message that says it."""
    old, new = text.before or "", text.after or ""
    subject = text.subject
    if not old:
        return text_rules.ADDED, f"{subject} is new"
    if not new:
        return text_rules.REMOVED, f"{subject} is gone"
    if marks_and_words(old) == marks_and_words(new):
        message = f"{subject} differs in white space, case or punctuation alone"
        return text_rules.RESTYLED, message
    if text.is_caption:
        return text_rules.REWORDED, f"{subject} has {_words(old, new)}"
    lost, kept = _lost(old, new)
    stated, _ = _lost(new, old)
    if lost:
        rest = f"of what its first sentence said, {kept} are left" if kept else ""
        rest = rest or "nothing of what its first sentence said is left"
        if stated:
            return text_rules.PURPOSE_REPLACED, f"{subject} says something else: {rest}"
        return text_rules.PURPOSE_LOST, f"{subject} has lost its purpose: {rest}"
    if stated:
        message = f"the first sentence of {subject} says what was not said before"
        return text_rules.PURPOSE_STATED, message
    part = round(100 * (len(new) - len(old)) / len(old))
    is_far = abs(len(new) - len(old)) > _FEW
    if is_far and len(new) < _SHRUNK * len(old):
        return text_rules.SHRUNK, f"{subject} is {-part} % shorter"
    if is_far and len(old) < _SHRUNK * len(new):
        return text_rules.GREW, f"{subject} is {part} % longer"
    return text_rules.REWORDED, f"{subject} has {_words(old, new)}"


def _words(before: str, after: str) -> str:
    """Which words come in and go, the first few of them."""
    old, new = words_by_stem(before), words_by_stem(after)
    came = [word for stem, word in new.items() if stem not in old]
    gone = [word for stem, word in old.items() if stem not in new]
    parts = [
        f"{verb} {_few(words)}"
        for verb, words in (("with", came), ("without", gone))
        if words
    ]
    return f"other words, {' and '.join(parts)}" if parts else "almost the same words"


def _few(words: list[str]) -> str:
    more = len(words) - _SHOWN
    shown = ", ".join(map(said, words[:_SHOWN]))
    return f"{shown} and {more} more" if more > 0 else shown


def _lost(before: str, after: str) -> tuple[bool, str]:
    """Whether the purpose that the first sentence said is gone, and how many words are left.

    It is there while half of the sentence's words are. It is there, too, where the new first
    sentence has two of the three words that led the old one, and says little else that is
    new: then details and praise are gone.
    """
    purpose = content_words(first_sentence(before))
    if not purpose:
        return False, ""
    left = len(purpose & content_words(after))
    words = f"{left} of {len(purpose)} words" if left else ""
    if left >= _KEPT * len(purpose):
        return False, words
    now = content_words(first_sentence(after))
    leads = len(leading_words(first_sentence(before)) & now) >= _LEADING
    return not (leads and len(now & content_words(before)) >= _KEPT * len(now)), words


_Naming = tuple[ChangeRule, str, Any, Any]


def _naming(text: TextSides, owner: Owner) -> Iterator[_Naming]:
    present = _names_now(owner)
    known = [names_of(toolset) for toolset in owner.toolsets]
    named: list[set[str]] = []
    unknown: list[set[str]] = []
    for side, words in enumerate((text.before or "", text.after or "")):
        own = owner.names[side]
        other = named_in(words, known[1 - side], own)
        named.append(
            {present.get(name, name) for name in named_in(words, known[side], own)}
        )
        # The tools of the other side alone are as unknown as a name of none.
        toolset, workspace = owner.toolsets[side], owner.workspaces[side]
        unknown.append(
            {*unknown_in(words, toolset, workspace)}
            | {name for name in other if name not in {*known[side], *present.values()}}
        )
    (before, after), (old, new) = named, unknown
    subject = text.subject
    for name in sorted(after - before - old):
        message = f"{subject} names the tool {said(name)}"
        yield text_rules.NAMES_TOOL, message, ABSENT, name
    for name in sorted(before - after - new):
        message = f"{subject} no longer names the tool {said(name)}"
        yield text_rules.NAMES_TOOL_NO_MORE, message, name, ABSENT
    for name in sorted(new - old):
        message = f"{subject} names {said(name)}, and there is no such tool"
        yield text_rules.NAMES_UNKNOWN, message, ABSENT, name
    for name in sorted(old - new):
        message = f"{subject} no longer names an unknown tool {said(name)}"
        yield text_rules.NAMES_UNKNOWN_NO_MORE, message, name, ABSENT


def _names_now(owner: Owner) -> dict[str, str]:
    """What the tools with former names are called now."""
    return {old: t.name for t in owner.toolsets[1].tools for old in t.renamed_from}


def _with_names_now(text: str, owner: Owner) -> str:
    """A text with the present names of its toolset's renamed tools."""
    names = {old: new for old, new in _names_now(owner).items() if old in text}
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", names[name], text)
    return text


def _limits(
    text: TextSides, limited: Limited, owner: Owner
) -> Iterator[tuple[ChangeRule, str, dict[str, Any]]]:
    before, after = len(text.before or ""), len(text.after or "")
    is_over = after > before
    tools = owner.tools or (None, None)
    sides = zip(owner.toolsets, tools, strict=True)
    old, new = (limits_here(toolset, tool, limited) for toolset, tool in sides)
    # That a client is another program, with other limits, is a change of its own.
    for limit in crossed([limit for limit in new if limit in old], before, after):
        size = f"{text.subject} has {after:,} characters"
        if limit.is_refused:
            rule = text_rules.TOO_LONG if is_over else text_rules.NOT_TOO_LONG
            takes = f"{limit.client} takes {limit.most:,}"
        else:
            rule = text_rules.CUT_OFF if is_over else text_rules.NOT_CUT_OFF
            takes = f"{limit.client} shows {limit.most:,}"
        values = {"client": limit.client, "limit": limit.most}
        yield rule, f"{size}; {takes} ({limit.source})", values
