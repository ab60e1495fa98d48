"""A rule: how bad what it finds is, and the function that finds it.

What a person reads of a rule stands in its family's page, beside the module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

from ..findings import Finding, Place, Severity
from ..model.definitions import Definitions
from ..model.mcp_specs import PromptSpec, ResourceSpec
from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.tree import Path
from .page import Paragraph, page
from .places import Parameter, SchemaNode, Text, ToolSchema, Where

__all__ = ["Check", "On", "Problem", "Rule", "at", "graded", "limit", "rule"]


class Problem(NamedTuple):
    """What a check finds.

    Attributes:
        place: where it is.
        message: what is wrong, lower case, names in backticks.
        help: what to do; empty when the message says it already.
        source_line: the text of the line at the place.
        severity: how bad it is, where that is not what it is for most of its rule.
    """

    place: Place
    message: str
    help: str = ""
    source_line: str = ""
    severity: Severity | None = None


On = Literal[
    "workspace",
    "toolset",
    "tool",
    "text",
    "prose",
    "schema",
    "schema node",
    "parameter",
]
"""What a check is given, once for each there is."""
Check = Callable[..., Iterator[Problem]]
"""What finds the problems of what it is given; `rule` says which arguments it takes."""
_Found = Iterator[Problem]


def at(
    owner: ToolSpec | ResourceSpec | PromptSpec | Toolset | Definitions | Workspace,
    path: Path,
    message: str,
    help: str = "",
    *,
    at_key: bool = False,
) -> Problem:
    """A problem at a path of a spec, of `toolset.yaml`, of the definitions or the project."""
    place, line = owner.source.located(path, at_key=at_key)
    return Problem(place, message, help, line)


def graded(severity: Severity, problems: Iterable[Problem]) -> Iterator[Problem]:
    """The same problems, of another severity than most of their rule."""
    return (problem._replace(severity=severity) for problem in problems)


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        id: `family/kebab-name`.
        severity: an error only where an output would be wrong, unsafe or impossible.
        module: the module of the family, beside which its page stands.
        on: what the check is given.
        check: finds the problems of that; None for what is found elsewhere.
        can_be_suppressed: false where nobody may decide that the finding does not matter:
            without it a spec would decide what code runs.
    """

    id: str
    severity: Severity
    module: str
    on: On = "workspace"
    check: Check | None = None
    can_be_suppressed: bool = True

    def problems(self, *given: Any) -> Iterator[Problem]:
        """What the check finds in what it is given."""
        return self.check(*given) if self.check is not None else iter(())

    def finding(self, problem: Problem) -> Finding:
        """A problem that the check has found, as a finding of this rule."""
        place, message, help_, line, severity = problem
        return Finding(self.id, severity or self.severity, place, message, help_, line)

    @property
    def text(self) -> Paragraph:
        """What a person reads of it.

        Raises:
            PageError: the family's page does not say it.
        """
        file = sys.modules[self.module].__file__ or ""
        return page(f"{os.path.splitext(file)[0]}.md").paragraph(self.id)


@overload
def rule(
    id: str,
    *,
    on: Literal["workspace"],
    severity: Severity,
    can_be_suppressed: bool = True,
) -> Callable[[Callable[[Workspace], _Found]], Rule]: ...


@overload
def rule(
    id: str,
    *,
    on: Literal["toolset"],
    severity: Severity,
    can_be_suppressed: bool = True,
) -> Callable[[Callable[[Toolset, Workspace], _Found]], Rule]: ...


@overload
def rule(
    id: str, *, on: Literal["tool"], severity: Severity, can_be_suppressed: bool = True
) -> Callable[[Callable[[ToolSpec, Where], _Found]], Rule]: ...


@overload
def rule(
    id: str,
    *,
    on: Literal["text", "prose"],
    severity: Severity,
    can_be_suppressed: bool = True,
) -> Callable[[Callable[[Text, Where], _Found]], Rule]: ...


@overload
def rule(
    id: str,
    *,
    on: Literal["schema"],
    severity: Severity,
    can_be_suppressed: bool = True,
) -> Callable[[Callable[[ToolSchema, Where], _Found]], Rule]: ...


@overload
def rule(
    id: str,
    *,
    on: Literal["schema node"],
    severity: Severity,
    can_be_suppressed: bool = True,
) -> Callable[[Callable[[SchemaNode, Where], _Found]], Rule]: ...


@overload
def rule(
    id: str,
    *,
    on: Literal["parameter"],
    severity: Severity,
    can_be_suppressed: bool = True,
) -> Callable[[Callable[[Parameter, Where], _Found]], Rule]: ...


def rule(
    id: str, *, on: On, severity: Severity, can_be_suppressed: bool = True
) -> Callable[[Check], Rule]:
    """Makes a rule of the function that checks what it is given.

    Args:
        id: `family/kebab-name`; the heading of its paragraph on the family's page.
        on: what the function is given, once for each there is: the `workspace` alone; a
            `toolset` and the workspace; a `tool` and where it stands; a `text`, every string
            of a tool that models read, and the prose of all else; a text that is `prose`; a
            `schema` of a tool; a `schema node`, each schema inside of one; a `parameter`.
        severity: an error only where an output would be wrong, unsafe or impossible.
        can_be_suppressed: whether a spec may say that a finding does not matter.
    """

    def made(check: Check) -> Rule:
        return Rule(id, severity, check.__module__, on, check, can_be_suppressed)

    return made


def limit(rule: Rule) -> str:
    """What pages say of a rule behind its severity."""
    return "" if rule.can_be_suppressed else ", cannot be suppressed"
