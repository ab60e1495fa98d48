"""Changes of the other keys that MCP's list has of a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..change import ABSENT, Both, Change, Grade, Grades, raw
from ..family import Family, Rules
from ..field_rows import entries, items
from ..json_equality import same
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ICONS = RULES.alone(
    "listed/icons", "A tool has other icons, which people see.", Grades()
)
META_ADDED, META_REMOVED = RULES.pair(
    "listed/meta-added",
    "A key of `_meta` is new: clients that know it handle the tool otherwise.",
    Grades(attachment=_R),
    "listed/meta-removed",
    "A key of `_meta` is gone: clients that know it handle the tool otherwise.",
    Grades(attachment=_R),
)
META_CHANGED = RULES.alone(
    "listed/meta-changed",
    "A key of `_meta` has another value: clients that know it handle the tool otherwise.",
    Grades(attachment=_R),
)
EXTRA_ADDED, EXTRA_REMOVED = RULES.pair(
    "listed/extra-added",
    "A key outside of MCP is new in the list; strict clients may refuse it.",
    Grades(attachment=_R),
    "listed/extra-removed",
    "A key outside of MCP is gone from the list; who reads it misses it.",
    Grades(attachment=_R),
)
EXTRA_CHANGED = RULES.alone(
    "listed/extra-changed",
    "A key outside of MCP has another value in the list.",
    Grades(attachment=_R),
)
OMITTED, LISTED = RULES.pair(
    "listed/description-omitted",
    "MCP's list no longer has the tool's description: models there do not read it.",
    Grades(prompt=_B),
    "listed/description-listed",
    "MCP's list has the tool's description, which it left out.",
    Grades(prompt=_R),
)
PLAIN_REFUSED, PLAIN_TAKEN = RULES.pair(
    "listed/plain-call-refused",
    "The tool is called as a task only: clients without tasks cannot call it.",
    Grades(call=_B, attachment=_B),
    "listed/plain-call-taken",
    "Clients without tasks can call the tool.",
    Grades(),
)
TASK_REFUSED, TASK_TAKEN = RULES.pair(
    "listed/task-refused",
    "The tool is not called as a task any more: clients that do it fail.",
    Grades(call=_B, attachment=_R),
    "listed/task-taken",
    "The tool can be called as a task.",
    Grades(),
)
EXECUTION = RULES.alone(
    "listed/execution",
    "A key of `execution` beside `taskSupport` is new, gone, or another one.",
    Grades(attachment=_R),
)
NULL, NULL_NO_MORE = RULES.pair(
    "listed/null",
    "A key of MCP's list is null instead of absent: strict clients refuse the whole list.",
    Grades(attachment=_R),
    "listed/null-no-more",
    "A key of MCP's list that was null is absent.",
    Grades(),
)

_ROWS = (
    items("mcp.omit", "what MCP's list leaves out", OMITTED, LISTED),
    entries("meta", "the keys of `_meta`", META_ADDED, META_REMOVED, META_CHANGED),
    entries(
        "mcp.extra",
        "the keys that MCP's list has beyond MCP",
        EXTRA_ADDED,
        EXTRA_REMOVED,
        EXTRA_CHANGED,
    ),
)
_NULLABLE = "title description returns annotations icons meta execution".split()


def compare(both: Both) -> Iterator[Change]:
    """The changes of a tool's keys in MCP's list."""
    yield from _icons(both)
    yield from _tasks(both)
    yield from _nulls(both)


def _icons(both: Both) -> Iterator[Change]:
    before, after = (raw(side, "icons") for side in (both.before, both.after))
    shown = [value if isinstance(value, list) else [] for value in (before, after)]
    if not same(*shown):
        message = "the tool has other icons"
        yield both.files.changed(ICONS, ("icons",), message, before, after)


def _tasks(both: Both) -> Iterator[Change]:
    """The changes of `execution`. Source: MCP 2025-11-25, ToolExecution."""
    old, new = (_mapping(raw(side, "execution")) for side in (both.before, both.after))
    before, after = (side.get("taskSupport", ABSENT) for side in (old, new))
    values = {"before": before, "after": after}
    path = ("execution", "taskSupport")
    plain = [value != "required" for value in (before, after)]
    if plain[0] != plain[1]:
        rule = PLAIN_TAKEN if plain[1] else PLAIN_REFUSED
        words = "with and without a task" if plain[1] else "as a task only"
        yield both.files.changed(rule, path, f"the tool is called {words}", **values)
    task = [value in ("required", "optional") for value in (before, after)]
    if task[0] != task[1]:
        rule = TASK_TAKEN if task[1] else TASK_REFUSED
        words = "can be" if task[1] else "is not"
        yield both.files.changed(
            rule, path, f"the tool {words} called as a task", **values
        )
    for key in dict.fromkeys((*old, *new)):
        if key == "taskSupport":
            continue
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if not same(before, after):
            yield both.files.changed(
                EXECUTION,
                ("execution", key),
                f"{said(key)} of `execution` differs",
                before,
                after,
            )


def _nulls(both: Both) -> Iterator[Change]:
    for field in _NULLABLE:
        before, after = raw(both.before, field), raw(both.after, field)
        if (before is None) == (after is None):
            continue
        rule, words = (
            (NULL, "is null") if after is None else (NULL_NO_MORE, "is not null")
        )
        message = f"`{field}` {words} in MCP's list"
        yield both.files.changed(rule, (field,), message, before, after)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


FAMILY = Family(
    rules=RULES,
    tool_rows=_ROWS,
    tool_fields={"icons", "execution"},
    compare_tools=compare,
)
"""Keys of MCP's list that are neither texts nor schemas nor annotations."""
