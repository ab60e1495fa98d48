"""Changes of what a person is asked before a tool does its work."""

from __future__ import annotations

from collections.abc import Iterator

from ..change import ABSENT, Both, Change, Grade, Grades
from ..family import Family, Rules
from ..json_equality import same
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ASKED, UNASKED = RULES.pair(
    "run/person-asked",
    "A person is asked before calls: where nobody can be asked they are refused.",
    Grades(call=_B, code=_B, attachment=_R),
    "run/person-not-asked",
    "Nobody is asked any more before calls: a model decides alone.",
    Grades(attachment=_B),
)
ALWAYS, SOMETIMES = RULES.pair(
    "run/person-asked-always",
    "A person is asked before every call, and was before some.",
    Grades(call=_B, code=_B, attachment=_R),
    "run/person-asked-sometimes",
    "A person is asked before some calls, and was before every one.",
    Grades(attachment=_B),
)
CONDITION = RULES.alone(
    "run/person-asked-otherwise",
    "A person is asked before other calls: some are refused, some are no longer asked about.",
    Grades(call=_B, code=_B, attachment=_B),
)
MESSAGE = RULES.alone(
    "run/person-message",
    "A person reads another question before saying yes.",
    Grades(attachment=_R),
)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of `confirm`."""
    old, new = both.before.confirm, both.after.confirm
    path = ("confirm",)
    if old is None or new is None:
        if new is not None:
            message = f"a person is asked before calls: {said(new.message)}"
            yield both.files.changed(ASKED, path, message, after=new.as_json)
        elif old is not None:
            message = "nobody is asked any more before calls"
            yield both.files.changed(UNASKED, path, message, before=old.as_json)
        return
    if old.message != new.message:
        yield both.files.changed(
            MESSAGE,
            (*path, "message"),
            f"a person is asked {said(new.message)} instead of {said(old.message)}",
            before=old.message,
            after=new.message,
        )
    if same(old.when, new.when):
        return
    rule = ALWAYS if new.when is None else SOMETIMES if old.when is None else CONDITION
    words = {
        ALWAYS: "a person is asked before every call",
        SOMETIMES: f"a person is asked only before calls that {said(new.when)} allows",
        CONDITION: f"a person is asked before calls that {said(new.when)} allows",
    }
    yield both.files.changed(
        rule,
        (*path, "when"),
        words[rule],
        before=ABSENT if old.when is None else old.when,
        after=ABSENT if new.when is None else new.when,
    )


FAMILY = Family(
    rules=RULES,
    tool_fields=frozenset(["confirm.message", "confirm.when"]),
    compare_tools=compare_tools,
)
"""Whether a person is asked, what, and about which calls."""
