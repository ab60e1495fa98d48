"""Rules and the problems that their check functions report.

The documentation of a rule is a section of its family's Markdown page (see `rule_docs`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import (
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    Required,
    TypedDict,
    Unpack,
    overload,
)

from ..findings import Finding, Location, Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Definitions, PromptSpec, ResourceSpec
from ..parsing.tree import Path
from .rule_docs import Paragraph, load_page
from .subjects import Parameter, Scope, Texts, ToolSchema


class Problem(NamedTuple):
    """A problem that a check function reports, without the rule's id and severity.

    Attributes:
        location: file, line and columns of the problem.
        message: description of the problem in lower case, with names in backticks.
        help: imperative instruction how to fix it.
        source_line: text of the line at the location.
    """

    location: Location
    message: str
    help: str = ""
    source_line: str = ""


SubjectKind = Literal[
    "workspace",
    "toolset",
    "tool",
    "texts",
    "prose",
    "schema",
    "parameter",
]
"""The kinds of values that a check can receive."""
Check = Callable[..., Iterator[Problem]]
"""A function that yields the problems of one subject; `rule` documents its arguments."""


def problem_at(
    owner: ToolSpec | ResourceSpec | PromptSpec | Toolset | Definitions | Workspace,
    path: Path,
    message: str,
    help: str = "",
    *,
    at_key: bool = False,
) -> Problem:
    """Return a problem that is located at a path in the owner's file.

    Without such a path, the location is that of its nearest parent.

    Args:
        owner: the object whose file contains the path.
        path: keys and indexes in that file.
        message: see `Problem`.
        help: see `Problem`.
        at_key: locate the last key of the path instead of its value.
    """
    location, line = owner.source.locate(path, at_key=at_key)
    return Problem(location, message, help, line)


@dataclass(frozen=True)
class Rule:
    """A rule with one check function, or one part of a rule with several of them.

    Attributes:
        id: `family/kebab-name`.
        severity: `ERROR` only if an output would be wrong, unsafe or impossible.
        page: path of the family's Markdown page, which documents the rule.
        on: kind of the check's subject.
        check: the check function; None if another package reports the findings.
        target: the target whose subjects the check receives; empty for all subjects.
        can_be_suppressed: whether specs may suppress findings of the rule. False where a
            suppression would, for example, allow a spec to run arbitrary code.
        other_parts: the other parts of the rule. Each reports with its own severity.
    """

    id: str
    severity: Severity
    page: str
    on: SubjectKind = "workspace"
    check: Check | None = None
    target: str = ""
    can_be_suppressed: bool = True
    other_parts: tuple[Rule, ...] = ()

    @property
    def parts(self) -> tuple[Rule, ...]:
        """This rule and its other parts."""
        return (self, *self.other_parts)

    def problems(self, *subject: Any) -> Iterator[Problem]:
        """Yield the problems of one subject; none if the rule has no check.

        Other parts of the rule are not run.
        """
        return self.check(*subject) if self.check is not None else iter(())

    def finding(self, problem: Problem) -> Finding:
        """Return a problem as a finding with this rule's id and severity."""
        return Finding(self.id, self.severity, *problem)

    @property
    def text(self) -> Paragraph:
        """The documentation of the rule.

        Raises:
            PageError: the family's page has no section for the rule.
        """
        return load_page(self.page).paragraph(self.id)


def get_family_page(id: str) -> str:
    """Return the path of the Markdown page that documents a built-in rule's family."""
    return os.path.join(os.path.dirname(__file__), f"{id.partition('/')[0]}.md")


def get_module_page(module: str) -> str:
    """Return the path of the page next to a rule module: `rules.md` for `rules.py`."""
    return f"{os.path.splitext(sys.modules[module].__file__ or '')[0]}.md"


_Arguments = ParamSpec("_Arguments")
_Decorator = Callable[[Callable[_Arguments, Iterator[Problem]]], Rule]


class _RuleMetadata(TypedDict, total=False):
    severity: Required[Severity]
    target: str
    can_be_suppressed: bool


# One overload per signature of checks, so that type checkers verify the decorated function.
@overload
def rule(
    id: str, *, on: Literal["workspace"], **metadata: Unpack[_RuleMetadata]
) -> _Decorator[[Workspace]]: ...


@overload
def rule(
    id: str, *, on: Literal["toolset"], **metadata: Unpack[_RuleMetadata]
) -> _Decorator[[Toolset, Workspace]]: ...


@overload
def rule(
    id: str, *, on: Literal["tool"], **metadata: Unpack[_RuleMetadata]
) -> _Decorator[[ToolSpec, Scope]]: ...


@overload
def rule(
    id: str, *, on: Literal["texts", "prose"], **metadata: Unpack[_RuleMetadata]
) -> _Decorator[[Texts, Scope]]: ...


@overload
def rule(
    id: str, *, on: Literal["schema"], **metadata: Unpack[_RuleMetadata]
) -> _Decorator[[ToolSchema, Scope]]: ...


@overload
def rule(
    id: str, *, on: Literal["parameter"], **metadata: Unpack[_RuleMetadata]
) -> _Decorator[[Parameter, Scope]]: ...


def rule(
    id: str,
    *,
    on: SubjectKind,
    severity: Severity,
    target: str = "",
    can_be_suppressed: bool = True,
) -> Callable[[Check], Rule]:
    """Return a decorator that makes a check function a rule, or a part of a rule.

    Several functions with the same id are the parts of one rule.

    Args:
        id: `family/kebab-name`, which is also a heading of the family's page.
        on: the kind of subject; the function is called once for each. `workspace`: the
            function receives the workspace. `toolset`: a toolset and the workspace. Functions
            for other kinds receive the subject and its `Scope`. `tool`: a tool. `texts`: all
            strings of a toolset's tools, and the prose of its other specs. `prose`: the prose
            of all specs of a toolset. `schema`: the schema of a tool's parameters or result.
            `parameter`: a parameter of a tool.
        severity: `ERROR` only if an output would be wrong, unsafe or impossible. If a rule
            has several functions, its documentation states the severity of the first.
        target: call the function only for toolsets with this target and for tools that are
            not excluded from it; no effect on `workspace`.
        can_be_suppressed: whether `suppress` of a spec may list the rule.
    """

    def build_rule(check: Check) -> Rule:
        page = get_module_page(check.__module__)
        return Rule(id, severity, page, on, check, target, can_be_suppressed)

    return build_rule


def format_suppression_note(rule: Rule) -> str:
    """Return ", cannot be suppressed" for such a rule, and an empty string for others."""
    return "" if rule.can_be_suppressed else ", cannot be suppressed"
