"""A rule: how bad what it finds is, and the function that finds it.

What a person reads of a rule stands in its family's page, beside the module.
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
    """What a check finds.

    Attributes:
        place: where it is.
        message: what is wrong, lower case, names in backticks.
        help: what to do; empty when the message says it already.
        source_line: the text of the line at the place.
    """

    location: Location
    message: str
    help: str = ""
    source_line: str = ""


On = Literal[
    "workspace",
    "toolset",
    "tool",
    "texts",
    "prose",
    "schema",
    "parameter",
]
"""What a check is given, once for each there is."""
Check = Callable[..., Iterator[Problem]]
"""What finds the problems of what it is given; `rule` says which arguments it takes."""


def problem_at(
    owner: ToolSpec | ResourceSpec | PromptSpec | Toolset | Definitions | Workspace,
    path: Path,
    message: str,
    help: str = "",
    *,
    at_key: bool = False,
) -> Problem:
    """A problem at a path of a spec, of `toolset.yaml`, of the definitions or the project."""
    place, line = owner.source.locate(path, at_key=at_key)
    return Problem(place, message, help, line)


@dataclass(frozen=True)
class Rule:
    """One rule, or a part of one: what is found by several checks has as many parts.

    Attributes:
        id: `family/kebab-name`.
        severity: an error only where an output would be wrong, unsafe or impossible.
        page: the file of the family's page, which has a paragraph of it.
        on: what the check is given.
        check: finds the problems of that; None for what is found elsewhere.
        target: the check is given only what is in this target; empty for everything.
        can_be_suppressed: false where nobody may decide that the finding does not matter:
            without it a spec would decide what code runs.
        others: the other parts, by whose severity their problems are told.
    """

    id: str
    severity: Severity
    page: str
    on: On = "workspace"
    check: Check | None = None
    target: str = ""
    can_be_suppressed: bool = True
    others: tuple[Rule, ...] = ()

    @property
    def parts(self) -> tuple[Rule, ...]:
        """Itself and the other parts."""
        return (self, *self.others)

    def problems(self, *given: Any) -> Iterator[Problem]:
        """What the check finds in what it is given."""
        return self.check(*given) if self.check is not None else iter(())

    def finding(self, problem: Problem) -> Finding:
        """A problem that the check has found, as a finding of this rule."""
        return Finding(self.id, self.severity, *problem)

    @property
    def text(self) -> Paragraph:
        """What a person reads of it.

        Raises:
            PageError: the family's page does not say it.
        """
        return load_page(self.page).paragraph(self.id)


def get_family_page(id: str) -> str:
    """The page of the built-in family that an id begins with."""
    return os.path.join(os.path.dirname(__file__), f"{id.partition('/')[0]}.md")


def get_module_page(module: str) -> str:
    """The file of the page of a family, which stands beside its module."""
    return f"{os.path.splitext(sys.modules[module].__file__ or '')[0]}.md"


_Given = ParamSpec("_Given")
_Makes = Callable[[Callable[_Given, Iterator[Problem]]], Rule]


class _RuleMetadata(TypedDict, total=False):
    severity: Required[Severity]
    target: str
    can_be_suppressed: bool


@overload
def rule(
    id: str, *, on: Literal["workspace"], **said: Unpack[_RuleMetadata]
) -> _Makes[[Workspace]]: ...


@overload
def rule(
    id: str, *, on: Literal["toolset"], **said: Unpack[_RuleMetadata]
) -> _Makes[[Toolset, Workspace]]: ...


@overload
def rule(
    id: str, *, on: Literal["tool"], **said: Unpack[_RuleMetadata]
) -> _Makes[[ToolSpec, Scope]]: ...


@overload
def rule(
    id: str, *, on: Literal["texts", "prose"], **said: Unpack[_RuleMetadata]
) -> _Makes[[Texts, Scope]]: ...


@overload
def rule(
    id: str, *, on: Literal["schema"], **said: Unpack[_RuleMetadata]
) -> _Makes[[ToolSchema, Scope]]: ...


@overload
def rule(
    id: str, *, on: Literal["parameter"], **said: Unpack[_RuleMetadata]
) -> _Makes[[Parameter, Scope]]: ...


def rule(
    id: str,
    *,
    on: On,
    severity: Severity,
    target: str = "",
    can_be_suppressed: bool = True,
) -> Callable[[Check], Rule]:
    """Makes a rule of the function that checks what it is given; several parts make one.

    Args:
        id: `family/kebab-name`; the heading of its paragraph on the family's page.
        on: what the function is given, once for each there is: the `workspace` alone; a
            `toolset` and the workspace; a `tool` and where it stands; the `texts` of a toolset,
            every string of its tools that models read, and the prose of all else; the `prose`
            of all; a `schema` of a tool; a `parameter`.
        severity: an error only where an output would be wrong, unsafe or impossible; of
            several parts, pages tell that of the first.
        target: the function is given only toolsets that have the target, and tools that are
            in it; what a project has as a whole is in none.
        can_be_suppressed: whether a spec may say that a finding does not matter.
    """

    def made(check: Check) -> Rule:
        file = get_module_page(check.__module__)
        return Rule(id, severity, file, on, check, target, can_be_suppressed)

    return made


def format_suppression_note(rule: Rule) -> str:
    """What pages say of a rule behind its severity."""
    return "" if rule.can_be_suppressed else ", cannot be suppressed"
