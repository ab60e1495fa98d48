"""The rules `cases/...`; `cases.md` says what each is for."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity
from ..model.model import Toolset, Workspace
from ..tool_selection.trial import list_case_messages, list_cases
from .rule import Problem, problem_at, rule
from .unknown_names import unknown_names

unknown_tool = unknown_names("cases/unknown-tool", "case_tool")

_HELP = "decide what the message means, and say it once"


@rule("cases/contradiction", on="toolset", severity=Severity.ERROR)
def contradicting(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds cases that cannot all pass."""
    meant: dict[str, str | None] = {}
    for attempt in list_case_messages(toolset):
        if attempt.is_near:
            continue
        first = meant.setdefault(attempt.normalized, attempt.tool)
        if first != attempt.tool:
            text = f"the message means {_name(first)} in another case"
            yield problem_at(attempt.owner, attempt.path, text, _HELP)
    for attempt in list_case_messages(toolset):
        is_meant = (
            attempt.tool is not None and meant.get(attempt.normalized) == attempt.tool
        )
        if attempt.is_near and is_meant:
            text = f"a near miss of `{attempt.tool}` means it in another case"
            yield problem_at(attempt.owner, attempt.path, text, _HELP)
    for declared in list_cases(toolset):
        case, path = declared.case, declared.path
        if case.tool in case.never:
            where = (*path, "never", case.never.index(case.tool))
            text = f"`{case.tool}` is meant, and must never be chosen"
            yield problem_at(declared.owner, where, text, _HELP)
        if case.tool is None and case.near:
            text = "a case that means no tool has no near misses"
            help_ = "make each of them a case of its own"
            yield problem_at(declared.owner, (*path, "near"), text, help_)


def _name(tool: str | None) -> str:
    return f"`{tool}`" if tool else "no tool"


@rule("cases/contradiction", on="toolset", severity=Severity.WARNING)
def repeated(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds messages that stand twice, for the same tool and in the same sense."""
    seen: set[tuple[str, str | None, bool]] = set()
    for attempt in list_case_messages(toolset):
        key = attempt.normalized, attempt.tool, attempt.is_near
        if key in seen:
            message = "the same message stands in another case already"
            help_ = "delete one of them; each counts once among those that pass"
            yield problem_at(attempt.owner, attempt.path, message, help_)
        seen.add(key)
