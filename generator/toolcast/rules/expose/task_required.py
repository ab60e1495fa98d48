"""`expose/task-required`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import task_support

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    message = "clients may call this tool as a task only, and the server has no tasks"
    help_ = "leave `taskSupport` out: long calls have `timeout`"
    yield from task_support("required", RULE, toolset, message, help_)


RULE = Rule(
    id="expose/task-required",
    severity=Severity.ERROR,
    purpose="Checks that no tool asks clients for tasks, which the server does not serve.",
    why=(
        "By MCP 2025-11-25 a client must not call a tool with `taskSupport: required` in"
        " the plain way, and the generated server declares no tasks: nobody could call it."
    ),
    bad="""\
execution: {taskSupport: required}
""",
    good="""\
execution: {taskSupport: forbidden}
""",
    check=check,
)
