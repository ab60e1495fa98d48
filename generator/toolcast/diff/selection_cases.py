"""Which messages lead to another tool than before.

The cases of the new side are tried among the tools of both sides, so that a change of one
tool's words shows what they win and lose. Where nobody has written a case, nothing is tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..model.model import Case, Toolset, ToolSpec, Workspace
from ..tool_selection.trial import DeclaredCase, cases_of, same_words
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
# A tool that loses so much of what is said to it is another tool to who talks to it.
_LOST_TOOL = 0.5
_MAX_QUOTED = 3
"""Messages of cases that a change quotes."""
_MAX_QUOTE_CHARACTERS = 60
"""Characters of a quoted message."""

LOST, WON = "selection/case-lost", "selection/case-won"
LOWER, HIGHER = "selection/rank-lower", "selection/rank-higher"
_PASSING = {LOST: ("passes", "fails"), WON: ("fails", "passes")}


class _OutcomeChange(NamedTuple):
    """A message whose outcome differs between the sides.

    Attributes:
        declared: the case of the new side.
        message: what is said.
        before: the rank that the tool had; None where no word spoke for it.
        after: the rank that it has.
    """

    declared: DeclaredCase
    message: str
    before: int | None
    after: int | None


class _ChangeSubject(NamedTuple):
    """What messages have in common that are told as one change.

    Attributes:
        rule: the id of the kind of change.
        tool: the tool that is meant; None where none is.
        other: the tool that wins them, or had them; empty where no other one does.
        is_near: they are near misses of the tool.
    """

    rule: str
    tool: str | None
    other: str
    is_near: bool


def compare_toolsets(
    before: Toolset, after: Toolset, _before: Workspace, _after: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's cases, then of what they lead to."""
    yield from _declared(before, after)
    moved = _moved(before, after)
    meant: defaultdict[str | None, int] = defaultdict(int)
    for declared in cases_of(after):
        meant[declared.case.tool] += 1
    for about, messages in moved.items():
        yield _outcome(about, after, messages, meant[about.tool])


def _moved(
    before: Toolset, after: Toolset
) -> Mapping[_ChangeSubject, list[_OutcomeChange]]:
    """The messages that lead elsewhere, by what they have in common."""
    found: defaultdict[_ChangeSubject, list[_OutcomeChange]] = defaultdict(list)
    declared = list(cases_of(after))
    if not declared:
        return found
    # The router's modules cost time, which who has no cases need not spend.
    from toolcast_runtime.router.lexical_ranking import get_ranking

    from ..tool_selection.trial import routed, trials_of

    old_tools, new_tools = (
        routed(t.list_target_tools("registry")) for t in (before, after)
    )
    if old_tools == new_tools:
        return found
    former = {new.name: old.name for old, new in pair_tools(before, after)}
    old_index, new_index = get_ranking(old_tools), get_ranking(new_tools)
    for one in declared:
        if one.case.tool is not None and one.case.tool not in former:
            continue
        gates = after.selection
        was = trials_of(one._replace(case=_renamed(one.case, former)), old_index, gates)
        for old, new in zip(was, trials_of(one, new_index, gates), strict=True):
            # A near miss has no rank that would be better: it passes or not.
            ranks: tuple[int | None, int | None] = (None, None)
            if old.standing and new.standing and not new.is_near:
                ranks = old.standing.rank, new.standing.rank
            rule = _rule(not old.problems, not new.problems, *ranks)
            if rule is not None:
                other = ""
                if rule in (LOST, WON) and not new.is_near:
                    other = (new if rule is LOST else old).rival
                about = _ChangeSubject(rule, one.case.tool, other, new.is_near)
                found[about].append(_OutcomeChange(one, new.message, *ranks))
    return found


def _rule(
    passed: bool, passes: bool, before: int | None, after: int | None
) -> str | None:
    if passed != passes:
        return WON if passes else LOST
    if before == after:
        return None
    if after is None or (before is not None and after > before):
        return LOWER
    return HIGHER


def _renamed(case: Case, former: Mapping[str, str]) -> Case:
    tool = None if case.tool is None else former[case.tool]
    never = tuple(former[name] for name in case.never if name in former)
    return case._replace(tool=tool, never=never)


def _outcome(
    about: _ChangeSubject, toolset: Toolset, messages: list[_OutcomeChange], meant: int
) -> Change:
    """The change that some messages of a tool come to."""
    rule, tool = about.rule, about.tool
    first = messages[0].declared
    is_most = rule is LOST and tool is not None and not about.is_near
    is_most = is_most and len(messages) >= _LOST_TOOL * meant
    was, is_now = _PASSING.get(rule, (None, None))
    quotes = ", ".join(_quote(one) for one in messages[:_MAX_QUOTED])
    more = len(messages) - _MAX_QUOTED
    if more > 0:
        quotes += f" and {more} more"
    source = first.owner.source
    return SpecFiles(toolset.name, tool or "", source, source).build_change(
        get_rule(rule),
        first.path,
        f"{_told_of(about, len(messages), meant)}: {quotes}",
        {one.message: was or one.before for one in messages},
        {one.message: is_now or one.after for one in messages},
        grades=_BREAKING if is_most else None,
        reason="these are half of its cases or more" if is_most else "",
    )


def _told_of(about: _ChangeSubject, number: int, meant: int) -> str:
    rule, tool, other, is_near = about
    lost = rule is LOST
    if tool is None:
        verb = "lead" if lost else "no longer lead"
        return f"{number} that mean no tool {verb} to `{other}`"
    if is_near:
        misses = "near miss" if number == 1 else "near misses"
        return (
            f"{number} {misses} of `{tool}` {'now' if lost else 'no longer'} lead to it"
        )
    cases = f"{number} of its {meant} case{'' if meant == 1 else 's'}"
    if rule is LOST:
        return f"`{tool}` loses {cases}" + (f" to `{other}`" if other else "")
    if rule is WON:
        return f"`{tool}` wins {cases}" + (f" from `{other}`" if other else "")
    return f"`{tool}` stands {'lower' if rule is LOWER else 'higher'} for {cases}"


def _quote(one: _OutcomeChange) -> str:
    text = " ".join(one.message.split())
    if len(text) > _MAX_QUOTE_CHARACTERS:
        text = f"{text[: _MAX_QUOTE_CHARACTERS - 3]}..."
    ranks = ""
    if one.before != one.after:
        ranks = f" ({one.before or 'unfound'} -> {one.after or 'unfound'})"
    return f'"{text}"{ranks}'


def _declared(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Cases that are new, gone, or say something else.

    Those of a tool that comes or goes come or go with it.
    """
    former = {new.name: old.name for old, new in pair_tools(before, after)}
    old = {
        same_words(one.case.message): one
        for one in cases_of(before)
        if isinstance(one.owner, Toolset) or one.owner.name in former.values()
    }
    new = {
        same_words(one.case.message): one
        for one in cases_of(after)
        if isinstance(one.owner, Toolset) or one.owner.name in former
    }
    for message, one in new.items():
        if message not in old:
            yield _of_case("added", after, one, ABSENT, _value(one.case))
        elif _said(old[message]) != _said(one):
            values = _value(old[message].case), _value(one.case)
            yield _of_case("changed", after, one, *values)
    for message, one in old.items():
        if message not in new:
            yield _of_case("removed", after, one, _value(one.case), ABSENT)


def _said(one: DeclaredCase) -> dict[str, Any]:
    """What a spec says of a case: one that means its own tool does not name it."""
    is_own = isinstance(one.owner, ToolSpec) and one.case.tool == one.owner.name
    return _value(one.case) | ({"tool": None} if is_own else {})


def _value(case: Case) -> dict[str, Any]:
    return case._asdict() | {"never": list(case.never), "near": list(case.near)}


def _of_case(
    event: str, toolset: Toolset, one: DeclaredCase, before: Any, after: Any
) -> Change:
    text = " ".join(one.case.message.split())
    name = one.owner.name if isinstance(one.owner, ToolSpec) else ""
    files = SpecFiles(toolset.name, name, one.owner.source, one.owner.source)
    id_ = f"selection/case-{event}"
    return make_change(files, id_, one.path, before, after, message=text)
