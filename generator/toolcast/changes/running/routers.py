"""Changes of actions: what each value of an action router's parameter needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...model.model import Action, ToolSpec
from ..change import ABSENT, Both, Change, ChangeRule, Grade, Grades
from ..family import Family, Rules
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ROUTED, UNROUTED = RULES.pair(
    "action/router",
    "Calls are checked by what each action needs: one without it is refused.",
    Grades(call=_R, prompt=_R, code=_R),
    "action/no-router",
    "Calls are no longer checked by what each action needs, prompts no longer say it,"
    " and the actions' subcommands are gone.",
    Grades(prompt=_R, code=_B),
)
PARAMETER = RULES.alone(
    "action/parameter",
    "Another parameter selects the action.",
    Grades(call=_B, prompt=_R, code=_R),
)
ADDED, REMOVED = RULES.pair(
    "action/added",
    "There is an action more.",
    Grades(),
    "action/removed",
    "An action is gone: calls of it are refused, its subcommand is no command.",
    Grades(call=_B, prompt=_R, code=_B),
)
NEEDS, NEEDS_NOT = RULES.pair(
    "action/needs",
    "An action needs a parameter that it could do without.",
    Grades(call=_B, code=_B),
    "action/needs-no-more",
    "An action can do without a parameter.",
    Grades(),
)
NARROWED, WIDENED = RULES.pair(
    "action/one-of-narrowed",
    "An action needs one of some parameters, which are fewer than before or were not"
    " asked for.",
    Grades(call=_B, code=_B),
    "action/one-of-widened",
    "An action takes one of more parameters, or needs none of them.",
    Grades(),
)
REFUSES, ACCEPTS = RULES.pair(
    "action/refuses",
    "An action refuses a parameter that it took.",
    Grades(call=_B, code=_B),
    "action/accepts",
    "An action takes a parameter that it refused.",
    Grades(),
)


def compare(both: Both) -> Iterator[Change]:
    """The changes of a tool's actions; their summaries are texts."""
    old, new = both.before.actions, both.after.actions
    if old is None and new is None:
        return
    if old is None or new is None:
        rule = ROUTED if old is None else UNROUTED
        named = new or old
        names = [] if named is None else [action.name for action in named.values]
        yield both.files.changed(
            rule,
            ("actions",),
            "calls are checked by action" if new else "calls are not checked by action",
            ABSENT if old is None else names,
            ABSENT if new is None else names,
        )
        return
    if old.parameter != new.parameter:
        yield both.files.changed(
            PARAMETER,
            ("actions", "parameter"),
            f"{said(new.parameter)} selects the action instead of {said(old.parameter)}",
            old.parameter,
            new.parameter,
        )
    before, after = ({a.name: a for a in side.values} for side in (old, new))
    for name in [*after, *(name for name in before if name not in after)]:
        path = ("actions", "values", name)
        if name not in before:
            message = f"there is an action {said(name)}"
            yield both.files.changed(ADDED, path, message, after=name)
        elif name not in after:
            message = f"the action {said(name)} is gone"
            yield both.files.changed(REMOVED, path, message, before=name)
        else:
            yield from _action(both, before[name], after[name])


def _action(both: Both, old: Action, new: Action) -> Iterator[Change]:
    path = ("actions", "values", new.name)
    what = f"the action {said(new.name)}"
    for name in _more(new.requires, old.requires):
        message = f"{what} needs {said(name)}"
        yield both.files.changed(NEEDS, (*path, "requires"), message, after=name)
    for name in _more(old.requires, new.requires):
        message = f"{what} can do without {said(name)}"
        yield both.files.changed(NEEDS_NOT, (*path, "requires"), message, before=name)
    yield from _one_of(both, old, new)
    # Without `accepts` an action takes every parameter.
    takes = [None if a.accepts is None else set(a.parameters) for a in (old, new)]
    known = [name for name in both.after.properties if name in both.before.properties]
    selects = both.after.actions.parameter if both.after.actions else ""
    named = dict.fromkeys((*known, *old.parameters, *new.parameters))
    for name in named:
        was, is_ = (side is None or name in side for side in takes)
        if was != is_ and name != selects:
            rule, verb = (ACCEPTS, "takes") if is_ else (REFUSES, "refuses")
            values: dict[str, Any] = {"after": name} if is_ else {"before": name}
            message = f"{what} {verb} {said(name)}"
            yield both.files.changed(rule, (*path, "accepts"), message, **values)
    was, is_ = (side is None for side in takes)
    if was != is_ and _takes_any(both.before) and _takes_any(both.after):
        rule, verb = (ACCEPTS, "takes") if is_ else (REFUSES, "refuses")
        message = f"{what} {verb} parameters that the schema does not name"
        values = {"after": "*"} if is_ else {"before": "*"}
        yield both.files.changed(rule, (*path, "accepts"), message, **values)


def _takes_any(tool: ToolSpec) -> bool:
    """Whether a call may give parameters that the schema does not name."""
    return tool.parameters.get("additionalProperties") is not False


def _one_of(both: Both, old: Action, new: Action) -> Iterator[Change]:
    before, after = set(old.requires_any), set(new.requires_any)
    if before == after:
        return
    path = ("actions", "values", new.name, "requires_any")
    rules: list[ChangeRule] = []
    # To need one of none is to need none.
    if after and (not before or before - after):
        rules.append(NARROWED)
    if before and (not after or after - before):
        rules.append(WIDENED)
    words = " or ".join(map(said, new.requires_any)) or "none of them"
    message = f"the action {said(new.name)} needs {words}"
    values: dict[str, Any] = {
        "before": list(old.requires_any) or ABSENT,
        "after": list(new.requires_any) or ABSENT,
    }
    for rule in rules:
        yield both.files.changed(rule, path, message, **values)


def _more(names: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    known = set(others)
    return (name for name in dict.fromkeys(names) if name not in known)


FAMILY = Family(
    rules=RULES,
    tool_fields=frozenset(
        [
            "actions.parameter",
            "actions.values",
            "actions.values.*.requires",
            "actions.values.*.requires_any",
            "actions.values.*.accepts",
        ]
    ),
    compare_tools=compare,
)
"""What actions need, and take."""
