"""`spec/confirm-condition`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolcast_runtime.consent.confirmation import may_give_up
from toolcast_runtime.validation.checker import Checker
from toolcast_runtime.validation.declared_names import DeclaredNames

from ...findings import Finding, Severity
from ...json_schema.graph import JsonSchema
from ...json_schema.metaschema import problems_with_schema
from ...model.definitions import shared_name
from ...model.model import Toolset, ToolSpec, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]

_PATH = ("confirm", "when")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.confirm is not None and tool.confirm.when is not None:
            yield from _of_condition(tool, JsonSchema(tool.confirm.when))


def _of_condition(tool: ToolSpec, condition: JsonSchema) -> Iterator[Finding]:
    if condition.dialect is None:
        help_ = "without `$schema` it is 2020-12"
        yield RULE.at(tool, (*_PATH, "$schema"), "the dialect is not known", help_)
    for path, message, help_ in problems_with_schema(condition):
        yield RULE.at(tool, (*_PATH, *path), message, help_)
    if condition.is_valid and not _is_applied(condition):
        message = "the condition cannot be applied, so that a person is always asked"
        help_ = "it stands alone: no `$ref` out of it, no loop, no broken pattern"
        if any(shared_name(one.text) is not None for one in condition.references):
            help_ = (
                "only `parameters` and `returns` are given shared definitions: write out"
                " what is meant"
            )
        yield RULE.at(tool, _PATH, message, help_)
    if may_give_up(condition.value):
        message = (
            "a pattern of the condition may give up, so that a person is always asked"
        )
        yield RULE.at(tool, _PATH, message, "say it without look-around and `\\1`")
    declared = DeclaredNames(tool.parameters)
    for name in declared.lacks(sorted(DeclaredNames(condition.value).names)):
        meant = did_you_mean(name, declared.names) or "name one of the parameters"
        message = f"the condition is about `{name[:80]}`, which is no parameter"
        yield RULE.at(tool, _PATH, message, meant)
    if not (condition.is_valid and JsonSchema(tool.parameters).is_valid):
        return
    for name in _left_out(tool.parameters, condition.value):
        message = (
            f"nobody is asked about a call that leaves `{name[:80]}` out, although its"
            " default is what a person is to be asked about"
        )
        help_ = "take it out of `required` of the condition"
        yield RULE.at(tool, (*_PATH, "required"), message, help_)


def _left_out(parameters: Mapping[str, Any], condition: Any) -> Iterator[str]:
    """Parameters that a call may leave out and the condition requires, with their default."""
    if not isinstance(condition, Mapping):
        return
    meant = condition.get("properties", {})
    for name in condition.get("required", ()):
        declared = parameters.get("properties", {}).get(name)
        if (
            isinstance(declared, Mapping)
            and "default" in declared
            and name not in parameters.get("required", ())
            and _allows(meant.get(name, True), declared["default"])
        ):
            yield name


def _allows(schema: Any, value: Any) -> bool:
    try:
        return Checker(schema).matches(value) is not False
    except ValueError:
        return True


def _is_applied(condition: JsonSchema) -> bool:
    """Whether the runtime can tell of any arguments what the condition says of them."""
    if not condition.is_sound:
        return False
    try:
        Checker(condition.value)
    except ValueError:
        return False
    return True


RULE = Rule(
    id="spec/confirm-condition",
    severity=Severity.ERROR,
    purpose="Checks that `confirm.when` is a valid schema about parameters of the tool.",
    why=(
        "A condition about a parameter that is not there allows every call, or none: a"
        " person is asked about what nobody meant, or not about what somebody did."
    ),
    bad="""\
parameters:
  type: object
  properties:
    amount: {type: number}
confirm:
  message: Pay this back?
  when: {properties: {amuont: {minimum: 100}}, required: [amuont]}
""",
    good="""\
parameters:
  type: object
  properties:
    amount: {type: number}
confirm:
  message: Pay this back?
  when: {properties: {amount: {minimum: 100}}}
""",
    check=check,
)
