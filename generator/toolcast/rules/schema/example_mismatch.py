"""`schema/example-mismatch`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.values import ValueChecker
from ...model.model import Action, Example, Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if not tool.examples:
            continue
        checkers = {name: ValueChecker(schema) for name, schema in tool.schemas.items()}
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
    chosen = example.arguments.get(tool.actions.parameter)
    action = next((a for a in tool.actions.values if a.name == chosen), None)
    if action is not None:
        yield from _missing(tool.actions.parameter, action, example)


def _missing(parameter: str, action: Action, example: Example) -> Iterator[str]:
    given = example.arguments
    for name in action.requires:
        if name not in given:
            yield f"it lacks `{name}`, which `{action.name}` requires"
    if action.requires_any and not any(name in given for name in action.requires_any):
        choices = ", ".join(f"`{name}`" for name in action.requires_any)
        yield f"it lacks all of {choices}, of which `{action.name}` needs one"
    if action.accepts is not None:
        for name in given:
            if name != parameter and name not in action.parameters:
                yield f"it has `{name}`, which `{action.name}` does not take"


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
