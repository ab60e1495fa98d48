"""`spec/actions`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ...wording import Suggestions, did_you_mean, quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.actions is not None:
            yield from _parameter(tool, tool.actions.parameter)
            yield from _needs(tool)


def _parameter(tool: ToolSpec, parameter: str) -> Iterator[Finding]:
    if parameter not in tool.properties:
        path = ("actions", "parameter")
        message = f"`{parameter}` is not a parameter"
        meant = did_you_mean(parameter, tool.properties)
        yield RULE.at(tool, path, message, meant)
        return
    schema = tool.properties[parameter]
    values = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        yield RULE.at(
            tool,
            ("actions", "parameter"),
            f"`{parameter}` has no `enum` of texts to choose an action from",
            (
                f"add `enum: {_listed([a.name for a in tool.actions.values])}` to it"
                if tool.actions
                else ""
            ),
        )
        return
    names = [action.name for action in tool.actions.values] if tool.actions else []
    allowed, described = frozenset(values), frozenset(names)
    suggestions = Suggestions(values)
    for name in names:
        if name not in allowed:
            place = ("actions", "values", name)
            message = f"`{name}` is not in the `enum` of `{parameter}`"
            meant = suggestions.near(name) or f"it has {quoted_list(values[:20])}"
            yield RULE.at(tool, place, message, meant, at_key=True)
    for index, value in enumerate(values):
        if value not in described:
            yield RULE.at(
                tool,
                ("parameters", "properties", parameter, "enum", index),
                f"`actions` says nothing about `{value}`",
                f"add `{value}: {{}}` to `actions.values`",
            )


def _needs(tool: ToolSpec) -> Iterator[Finding]:
    suggestions = Suggestions(tool.properties)
    for action in tool.actions.values if tool.actions else ():
        lists = {
            "requires": action.requires,
            "requires_any": action.requires_any,
            "accepts": action.accepts or (),
        }
        for key, names in lists.items():
            for index, name in enumerate(names):
                if name not in tool.properties:
                    path = ("actions", "values", action.name, key, index)
                    message = f"`{name}` is not a parameter"
                    meant = suggestions.near(name)
                    yield RULE.at(tool, path, message, meant)


def _listed(names: list[str]) -> str:
    return f"[{', '.join(names)}]"


RULE = Rule(
    id="spec/actions",
    severity=Severity.ERROR,
    purpose="Checks that `actions` and the parameters say the same.",
    why=(
        "An action without rules is run with whatever comes, one that the schema lacks can"
        " never be called, and a required parameter that does not exist makes every call of"
        " its action fail."
    ),
    bad="""\
parameters:
  type: object
  properties:
    action: {type: string, enum: [list, delete]}
    note_id: {type: string}
  required: [action]
actions:
  parameter: action
  values:
    list: {}
    remove: {requires: [note]}
""",
    good="""\
parameters:
  type: object
  properties:
    action: {type: string, enum: [list, delete]}
    note_id: {type: string}
  required: [action]
actions:
  parameter: action
  values:
    list: {}
    delete: {requires: [note_id]}
""",
    check=check,
)
