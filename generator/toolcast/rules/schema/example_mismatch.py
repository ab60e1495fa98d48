"""`schema/example-mismatch`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.calls.tool_validators import problems_with_action
from toolcast_runtime.tools.tool import Action

from ...findings import Finding, Severity
from ...json_schema.values import ValueChecker
from ...model.model import Example, Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if not tool.examples:
            continue
        checkers = {
            name: ValueChecker(
                schema,
                asserts_formats=name == "parameters" and toolset.asserts_formats,
            )
            for name, schema in tool.schemas.items()
        }
        for index, example in enumerate(tool.examples):
            # An example with an error may show how wrong arguments are refused.
            if example.error is None:
                refused = checkers["parameters"].problem(example.arguments)
                problems = (
                    [refused] if refused else _problems_with_action(tool, example)
                )
                for problem in problems:
                    path = ("examples", index, "arguments")
                    message = f"the example is refused: {problem}"
                    yield RULE.at(tool, path, message, "mend the example")
            if example.has_result and "returns" in checkers:
                problem = checkers["returns"].problem(example.result)
                if problem:
                    path = ("examples", index, "result")
                    message = f"the result is not what `returns` says: {problem}"
                    yield RULE.at(tool, path, message, "mend one of the two")


def _problems_with_action(tool: ToolSpec, example: Example) -> Iterator[str]:
    if tool.actions is None:
        return
    parameter = tool.actions.parameter
    for one in tool.actions.values:
        if example.arguments.get(parameter) == one.name:
            action = Action(one.summary, one.requires, one.requires_any, one.accepts)
            yield from problems_with_action(parameter, action, example.arguments)


RULE = Rule(
    id="schema/example-mismatch",
    severity=Severity.ERROR,
    purpose="Checks that every example's arguments and result are valid.",
    why=(
        "Examples are the documentation, the help of the command line and the contract"
        " tests: a wrong one misleads readers and models, and its test fails."
    ),
    bad="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [task]
examples:
  - arguments: {tsk: Water the plants}
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [task]
examples:
  - arguments: {task: Water the plants}
""",
    check=check,
)
