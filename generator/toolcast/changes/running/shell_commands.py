"""Changes of a tool's command in a shell."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.cli_commands import CliPositional, parse_usage
from ...model.model import ToolSpec
from ..change import ABSENT, Both, Change, Grade, Grades
from ..family import Family, Rules
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ADDED, REMOVED = RULES.pair(
    "shell/added",
    "A tool has a command.",
    Grades(prompt=_R),
    "shell/removed",
    "A tool's command is gone: scripts that run it fail.",
    Grades(prompt=_B, code=_B),
)
KEYWORD = RULES.alone(
    "shell/keyword",
    "A tool's command is called otherwise: scripts that run it fail.",
    Grades(prompt=_R, code=_B),
)
USAGE = RULES.alone(
    "shell/usage",
    "A command takes other arguments by place, or in another order: scripts that give them"
    " fail or mean something else.",
    Grades(prompt=_R, code=_B),
)
EXTENDED, CUT = RULES.pair(
    "shell/usage-extended",
    "A command takes an argument more by place, behind the others and optional; scripts"
    " that give it as an option fail.",
    Grades(prompt=_R, code=_R),
    "shell/usage-cut",
    "A command takes an optional argument less by place: scripts that give it fail.",
    Grades(prompt=_R, code=_B),
)


def compare(both: Both) -> Iterator[Change]:
    """The changes of a tool's command; its comment is a text."""
    old, new = _keyword(both.before), _keyword(both.after)
    if old != new:
        rule = ADDED if old is None else REMOVED if new is None else KEYWORD
        message = (
            f"there is a command {said(new)}"
            if old is None
            else (
                f"the command {said(old)} is gone"
                if new is None
                else f"the command {said(old)} is called {said(new)}"
            )
        )
        yield both.files.changed(
            rule,
            ("cli", "keyword"),
            message,
            ABSENT if old is None else old,
            ABSENT if new is None else new,
        )
    if old is None or new is None:
        return
    usages = [_usage(side) for side in (both.before, both.after)]
    # White space between arguments says nothing.
    before, after = (parse_usage(usage) for usage in usages)
    if before != after:
        if _is_more(after, before):
            rule, word = EXTENDED, "takes more arguments by place"
        elif _is_more(before, after):
            rule, word = CUT, "takes fewer arguments by place"
        else:
            rule, word = USAGE, "takes other arguments by place"
        yield both.files.changed(
            rule,
            ("cli", "usage"),
            f"the command {word}: {said(usages[1])} instead of {said(usages[0])}",
            usages[0] or ABSENT,
            usages[1] or ABSENT,
        )


def _is_more(more: tuple[CliPositional, ...], less: tuple[CliPositional, ...]) -> bool:
    """Whether whoever gives the fewer arguments still can, where they take more."""
    is_same = more[: len(less)] == less
    return is_same and all(one.optional for one in more[len(less) :])


def _keyword(tool: ToolSpec) -> str | None:
    return None if tool.cli is None else tool.cli.keyword


def _usage(tool: ToolSpec) -> str:
    return (tool.cli.usage if tool.cli else None) or ""


FAMILY = Family(
    rules=RULES,
    tool_fields=frozenset(["cli.keyword", "cli.usage"]),
    compare_tools=compare,
)
"""Commands of a shell, as scripts and models use them."""
