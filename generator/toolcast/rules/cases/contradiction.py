"""`cases/contradiction`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...selection.trial import cases_of, messages_of
from ..rule import Rule

__all__ = ["RULE"]

_HELP = "decide what the message means, and say it once"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds cases that cannot all pass."""
    meant: dict[str, str | None] = {}
    for said in messages_of(toolset):
        if said.is_near:
            continue
        first = meant.setdefault(said.same_words, said.tool)
        if first != said.tool:
            text = f"the message means {_name(first)} in another case"
            yield RULE.at(said.owner, said.path, text, _HELP)
    for said in messages_of(toolset):
        is_meant = said.tool is not None and meant.get(said.same_words) == said.tool
        if said.is_near and is_meant:
            text = f"a near miss of `{said.tool}` means it in another case"
            yield RULE.at(said.owner, said.path, text, _HELP)
    for declared in cases_of(toolset):
        case, path = declared.case, declared.path
        if case.tool in case.never:
            where = (*path, "never", case.never.index(case.tool))
            text = f"`{case.tool}` is meant, and must never be chosen"
            yield RULE.at(declared.owner, where, text, _HELP)
        if case.tool is None and case.near:
            text = "a case that means no tool has no near misses"
            help_ = "make each of them a case of its own"
            yield RULE.at(declared.owner, (*path, "near"), text, help_)


def _name(tool: str | None) -> str:
    return f"`{tool}`" if tool else "no tool"


RULE = Rule(
    id="cases/contradiction",
    severity=Severity.ERROR,
    purpose="Checks that selection cases do not contradict each other.",
    why="One of two cases that cannot both pass fails for ever, whatever the specs say.",
    bad="""\
cases: [{message: Remember the milk., near: [remember the milk]}]
""",
    good="""\
cases: [{message: Remember the milk., near: [Find what I remembered.]}]
""",
    check=check,
)
