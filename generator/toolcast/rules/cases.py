"""Rules of the family `cases`: test cases for the selection of tools.

`cases.md` explains each rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity
from ..model.model import Toolset, Workspace
from ..tool_selection.trial import list_case_messages, list_cases
from .rule import Problem, problem_at, rule
from .unknown_names import unknown_names

unknown_tool = unknown_names("cases/unknown-tool", "case_tool")

_HELP = "decide which tool the message means, and remove the other case"


@rule("cases/contradiction", on="toolset", severity=Severity.ERROR)
def check_contradictions(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report cases that cannot all pass.

    These are equal messages with different tools, a near miss of a tool that another case
    expects for the same message, an expected tool in `never`, and near misses without a tool.
    """
    expected_tools: dict[str, str | None] = {}
    for attempt in list_case_messages(toolset):
        if attempt.is_near:
            continue
        first = expected_tools.setdefault(attempt.normalized_text, attempt.tool)
        if first != attempt.tool:
            message = f"in another case, the same message means {_format_tool(first)}"
            yield problem_at(attempt.owner, attempt.path, message, _HELP)
    for attempt in list_case_messages(toolset):
        expected = expected_tools.get(attempt.normalized_text)
        if attempt.is_near and attempt.tool is not None and expected == attempt.tool:
            message = (
                f"a near miss of `{attempt.tool}` is a message for it in another case"
            )
            yield problem_at(attempt.owner, attempt.path, message, _HELP)
    for declared in list_cases(toolset):
        case, path = declared.case, declared.path
        if case.tool in case.never:
            never_path = (*path, "never", case.never.index(case.tool))
            message = f"`{case.tool}` is expected, but `never` excludes it"
            help_ = "remove it from `never`, or expect another tool"
            yield problem_at(declared.owner, never_path, message, help_)
        if case.tool is None and case.near:
            message = "a case that expects no tool cannot have near misses"
            help_ = "make each near miss a case of its own"
            yield problem_at(declared.owner, (*path, "near"), message, help_)


def _format_tool(tool: str | None) -> str:
    return f"`{tool}`" if tool else "no tool"


@rule("cases/contradiction", on="toolset", severity=Severity.WARNING)
def check_duplicates(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report each message that repeats an earlier one with the same expected tool."""
    seen: set[tuple[str, str | None, bool]] = set()
    for attempt in list_case_messages(toolset):
        key = attempt.normalized_text, attempt.tool, attempt.is_near
        if key in seen:
            message = "another case already has the same message"
            help_ = "remove one of them: a repeated message counts only once"
            yield problem_at(attempt.owner, attempt.path, message, help_)
        seen.add(key)
