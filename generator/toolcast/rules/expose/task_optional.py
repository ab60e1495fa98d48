"""`expose/task-optional`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import task_support

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    message = "the tool is listed as one for tasks, and the server has none"
    help_ = "leave `taskSupport` out; plain calls work either way"
    yield from task_support("optional", RULE, toolset, message, help_)


RULE = Rule(
    id="expose/task-optional",
    severity=Severity.NOTE,
    purpose="Checks that no tool offers tasks, which the server does not serve.",
    why=(
        "The list shows what the spec says, and the server declares no tasks: a client"
        " that goes by the tool alone asks for one in vain."
    ),
    bad="""\
execution: {taskSupport: optional}
""",
    good="""\
execution: {taskSupport: forbidden}
""",
    check=check,
)
