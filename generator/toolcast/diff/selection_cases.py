"""Compare selection cases, and which tools their messages select.

A selection case is a user's message with the tool that a search for the message must find.
The new version's cases are run with the tools of both versions, to detect how a changed text
affects the choice of a tool. Toolsets without cases are not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..model.model import Case, Toolset, ToolSpec, Workspace
from ..tool_selection.trial import DeclaredCase, list_cases, normalize_message
from .change import (
    ABSENT,
    Change,
    Grade,
    Grades,
    SpecFiles,
    pair_tools,
)
from .table import get_rule, make_change

_BREAKING = Grades(prompt=Grade.BREAKING)
_MIN_LOST_PART = 0.5
"""Fraction of a tool's cases; losing this fraction or more is a breaking change."""
_MAX_QUOTED = 3
"""Number of messages that a change quotes."""
_MAX_QUOTE_CHARACTERS = 60
"""Characters of a quoted message."""

LOST, WON = "selection/case-lost", "selection/case-won"
LOWER, HIGHER = "selection/rank-lower", "selection/rank-higher"
_OUTCOMES = {LOST: ("passes", "fails"), WON: ("fails", "passes")}
"""The old and the new outcome of messages that started or stopped passing."""


class _OutcomeChange(NamedTuple):
    """A message whose outcome differs between the old and the new version.

    Attributes:
        declared: the case of the new version.
        message: the message of the case, or one of its near misses.
        before: the old rank of the case's tool; None without a matching word.
        after: the new rank of the case's tool.
    """

    declared: DeclaredCase
    message: str
    before: int | None
    after: int | None


class _ChangeSubject(NamedTuple):
    """The properties by which messages are combined into one change.

    Attributes:
        rule_id: the id of the change kind.
        tool: the tool of the cases; None for cases that expect no tool.
        other: the tool that gained or lost the messages; empty without one.
        is_near: whether the messages are near misses of the tool.
    """

    rule_id: str
    tool: str | None
    other: str
    is_near: bool


def compare_toolsets(
    before: Toolset,
    after: Toolset,
    workspace_before: Workspace,
    workspace_after: Workspace,
) -> Iterator[Change]:
    """Yield the changes of a toolset's cases, then of their outcomes."""
    yield from _compare_cases(before, after)
    case_counts: defaultdict[str | None, int] = defaultdict(int)
    for declared in list_cases(after):
        case_counts[declared.case.tool] += 1
    for subject, outcomes in _compare_outcomes(before, after).items():
        yield _make_outcome_change(subject, after, outcomes, case_counts[subject.tool])


def _compare_outcomes(
    before: Toolset, after: Toolset
) -> Mapping[_ChangeSubject, list[_OutcomeChange]]:
    """Run the new cases in both versions; return the messages whose outcome differs."""
    outcomes: defaultdict[_ChangeSubject, list[_OutcomeChange]] = defaultdict(list)
    cases = list(list_cases(after))
    if not cases:
        return outcomes
    # Imported here: loading the router takes time, and most toolsets have no cases.
    from toolcast_runtime.router.lexical_ranking import get_ranking

    from ..tool_selection.trial import build_routed_tools, run_case

    old_tools = build_routed_tools(before.list_target_tools("registry"))
    new_tools = build_routed_tools(after.list_target_tools("registry"))
    if old_tools == new_tools:
        return outcomes
    old_names = {new.name: old.name for old, new in pair_tools(before, after)}
    old_index, new_index = get_ranking(old_tools), get_ranking(new_tools)
    for declared in cases:
        tool = declared.case.tool
        # The old version has no rank to compare for a case of an added tool.
        if tool is not None and tool not in old_names:
            continue
        old_case = declared._replace(case=_restore_names(declared.case, old_names))
        old_trials = run_case(old_case, old_index, after.selection)
        new_trials = run_case(declared, new_index, after.selection)
        for old, new in zip(old_trials, new_trials, strict=True):
            # A near miss must not select the tool: it passes or fails without a rank.
            ranks: tuple[int | None, int | None] = (None, None)
            if old.tool_rank and new.tool_rank and not new.is_near:
                ranks = old.tool_rank.rank, new.tool_rank.rank
            rule_id = _classify_outcome(not old.problems, not new.problems, *ranks)
            if rule_id is None:
                continue
            other = ""
            if rule_id in (LOST, WON) and not new.is_near:
                other = (new if rule_id == LOST else old).rival
            subject = _ChangeSubject(rule_id, tool, other, new.is_near)
            outcomes[subject].append(_OutcomeChange(declared, new.message, *ranks))
    return outcomes


def _classify_outcome(
    passed: bool, passes: bool, old_rank: int | None, new_rank: int | None
) -> str | None:
    """Return the id of the change kind; None if outcome and rank are the same."""
    if passed != passes:
        return WON if passes else LOST
    if old_rank == new_rank:
        return None
    if new_rank is None or (old_rank is not None and new_rank > old_rank):
        return LOWER
    return HIGHER


def _restore_names(case: Case, old_names: Mapping[str, str]) -> Case:
    """Return a case with the old names of tools; `never` loses the added tools."""
    tool = None if case.tool is None else old_names[case.tool]
    never = tuple(old_names[name] for name in case.never if name in old_names)
    return case._replace(tool=tool, never=never)


def _make_outcome_change(
    subject: _ChangeSubject,
    toolset: Toolset,
    outcomes: list[_OutcomeChange],
    case_count: int,
) -> Change:
    """Return one change for messages with the same subject.

    Args:
        subject: the common properties of the messages.
        toolset: the new version of the toolset.
        outcomes: the messages.
        case_count: the number of all cases of the tool.
    """
    rule_id, tool, _, is_near = subject
    declared = outcomes[0].declared
    is_breaking = (
        rule_id == LOST
        and tool is not None
        and not is_near
        and len(outcomes) >= _MIN_LOST_PART * case_count
    )
    old_outcome, new_outcome = _OUTCOMES.get(rule_id, (None, None))
    quotes = ", ".join(_format_quote(outcome) for outcome in outcomes[:_MAX_QUOTED])
    remaining = len(outcomes) - _MAX_QUOTED
    if remaining > 0:
        quotes += f" and {remaining} more"
    source = declared.owner.source
    return SpecFiles(toolset.name, tool or "", source, source).build_change(
        get_rule(rule_id),
        declared.path,
        f"{_describe_outcomes(subject, len(outcomes), case_count)}: {quotes}",
        {outcome.message: old_outcome or outcome.before for outcome in outcomes},
        {outcome.message: new_outcome or outcome.after for outcome in outcomes},
        grades=_BREAKING if is_breaking else None,
        reason="these are at least half of its cases" if is_breaking else "",
    )


def _describe_outcomes(subject: _ChangeSubject, count: int, case_count: int) -> str:
    """Return a clause about messages, without the messages themselves."""
    rule_id, tool, other, is_near = subject
    is_lost = rule_id == LOST
    adverb = "now" if is_lost else "no longer"
    plural, verb = ("", "selects") if count == 1 else ("s", "select")
    if tool is None:
        return f"{count} message{plural} that must select no tool {adverb} {verb} `{other}`"
    if is_near:
        messages = "near miss" if count == 1 else "near misses"
        return f"{count} {messages} of `{tool}` {adverb} {verb} it"
    cases = f"{count} of its {case_count} case{'' if case_count == 1 else 's'}"
    if is_lost:
        return f"`{tool}` loses {cases}" + (f" to `{other}`" if other else "")
    if rule_id == WON:
        return f"`{tool}` wins {cases}" + (f" from `{other}`" if other else "")
    return f"`{tool}` ranks {'lower' if rule_id == LOWER else 'higher'} for {cases}"


def _format_quote(outcome: _OutcomeChange) -> str:
    """Return a message in quotes, with its old and new rank if they differ."""
    text = " ".join(outcome.message.split())
    if len(text) > _MAX_QUOTE_CHARACTERS:
        text = f"{text[: _MAX_QUOTE_CHARACTERS - 3]}..."
    ranks = ""
    if outcome.before != outcome.after:
        ranks = f" ({outcome.before or 'not found'} -> {outcome.after or 'not found'})"
    return f'"{text}"{ranks}'


def _compare_cases(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Yield the added, removed and changed cases.

    The cases in the spec of an added or removed tool are part of that change.
    """
    old_names = {new.name: old.name for old, new in pair_tools(before, after)}
    old_cases = _index_cases(before, {*old_names.values()})
    new_cases = _index_cases(after, {*old_names})
    for message, new in new_cases.items():
        old = old_cases.get(message)
        if old is None:
            yield _make_case_change("added", after, new, ABSENT, _encode_case(new.case))
        elif _get_requirements(old) != _get_requirements(new):
            values = _encode_case(old.case), _encode_case(new.case)
            yield _make_case_change("changed", after, new, *values)
    for message, old in old_cases.items():
        if message not in new_cases:
            value = _encode_case(old.case)
            yield _make_case_change("removed", after, old, value, ABSENT)


def _index_cases(toolset: Toolset, tools: set[str]) -> dict[str, DeclaredCase]:
    """Return the cases of a toolset and of some of its tools by normalized message."""
    return {
        normalize_message(declared.case.message): declared
        for declared in list_cases(toolset)
        if isinstance(declared.owner, Toolset) or declared.owner.name in tools
    }


def _get_requirements(declared: DeclaredCase) -> dict[str, Any]:
    """Return a case's fields; without the tool if the case is in the tool's own spec."""
    fields = _encode_case(declared.case)
    # A case in a tool's own spec expects that tool, so a rename does not change the case.
    if isinstance(declared.owner, ToolSpec):
        fields["tool"] = None
    return fields


def _encode_case(case: Case) -> dict[str, Any]:
    return case._asdict() | {"never": list(case.never), "near": list(case.near)}


def _make_case_change(
    event: str, toolset: Toolset, declared: DeclaredCase, before: Any, after: Any
) -> Change:
    owner = declared.owner
    text = " ".join(declared.case.message.split())
    name = owner.name if isinstance(owner, ToolSpec) else ""
    files = SpecFiles(toolset.name, name, owner.source, owner.source)
    rule_id = f"selection/case-{event}"
    return make_change(files, rule_id, declared.path, before, after, message=text)
