"""The verdict on a comparison: which changes fail, who accepted them, and the version that follows.

Source of versions: Semantic Versioning 2.0.0.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...findings import Finding, Location, Severity
from ...model.model import Toolset, Workspace
from ...parsing.tree import Source
from ...suggestions import suggest_name
from ..change import (
    AUDIENCES,
    Change,
    ChangeRule,
    Grade,
    Grades,
    get_spec_value,
    locate_path,
)
from ..comparison import Comparison
from ..effects import Effect
from .acceptances import Acceptance, check_acceptances, find_acceptance
from .check_findings import NO_FINDINGS, CheckFindings

Limits = Mapping[str, Grade]
"""The least grade that fails, by audience; one that is not named fails at none."""

DEFAULT_LIMITS: Limits = dict.fromkeys(AUDIENCES, Grade.BREAKING)
"""A change that breaks anybody fails."""

_NONE = "none"
_EXAMPLES = "as `call=breaking,prompt=risky`, or `risky`, `breaking` or `none` alone"
_WORDS = {Grade.RISKY.word: Grade.RISKY, Grade.BREAKING.word: Grade.BREAKING}


class InvalidLimitError(ValueError):
    """Invalid limits on the command line; the message has the reason and a help line."""


def parse_limits(text: str) -> Limits:
    """The limits of `call=breaking,prompt=risky`, of one grade for all, or of `none`.

    Raises:
        InvalidLimitError: an audience or a grade is none, or is named twice.
    """
    if text == _NONE:
        return {}
    if text in _WORDS:
        return dict.fromkeys(AUDIENCES, _WORDS[text])
    found: dict[str, Grade] = {}
    for part in text.split(","):
        audience, _, grade = (word.strip() for word in part.partition("="))
        for word, known, noun in (
            (audience, AUDIENCES, "audience"),
            (grade, tuple(_WORDS), "grade"),
        ):
            if word not in known:
                help_ = f"{suggest_name(word, known)}; {_EXAMPLES}"
                raise InvalidLimitError(f"`{part}` names no {noun}\n  help: {help_}")
        if audience in found:
            raise InvalidLimitError(f"`{audience}` is named twice")
        found[audience] = _WORDS[grade]
    return found


def list_failing_audiences(grades: Grades, at: Limits) -> list[str]:
    """The audiences for which grades are at their limit or above."""
    named = zip(AUDIENCES, grades, strict=True)
    return [name for name, grade in named if name in at and grade >= at[name]]


def format_limits(at: Limits) -> str:
    """The limits as `--fail-on` takes them."""
    if not at:
        return _NONE
    grades = set(at.values())
    if len(at) == len(AUDIENCES) and len(grades) == 1:
        return grades.pop().word
    return ",".join(f"{name}={at[name].word}" for name in AUDIENCES if name in at)


_FIRST = "0.1.0"
_NUMBER = r"(0|[1-9][0-9]{0,17})"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
)
_Numbers = tuple[int, int, int]


@dataclass(frozen=True)
class Proposal:
    """What is said of one toolset's version.

    Attributes:
        toolset: the toolset's name.
        before: the version that it had; empty for none.
        now: the version that it has; empty for none.
        step: `major`, `minor` or `patch`, as its changes ask for.
        version: the version that it should have; empty where none can be proposed.
        reason: why this step, or why there is no version.
        changes: its changes.
    """

    toolset: str
    before: str
    now: str
    step: str
    version: str
    reason: str
    changes: tuple[Change, ...]

    @property
    def is_enough(self) -> bool:
        """Whether the version has been raised as far as the changes ask for, or further."""
        have, need = _numbers(self.now), _numbers(self.version)
        return have is not None and need is not None and have >= need


def propose_versions(
    changes: Sequence[Change], before: Workspace, after: Workspace
) -> Iterator[Proposal]:
    """One for each toolset that has changed and that both sides have.

    What breaks callers, Python code or access asks for the next major version; what is
    new, risky, or breaks a prompt for the next minor one; anything else for a patch. Below
    1.0.0 a step less is taken: major means minor, and minor means patch.
    """
    former = {toolset.name: toolset for toolset in before.toolsets}
    for toolset in after.toolsets:
        own = tuple(change for change in changes if toolset.name in _toolsets(change))
        if own:
            yield _proposal(_former(toolset, own, former), toolset, own)


def _toolsets(change: Change) -> tuple[str, ...]:
    """The toolsets that a change is about: a tool that moved is missing in another one."""
    if change.rule.id == "tool/moved":
        return (change.toolset, str(change.before))
    return (change.toolset,)


def _former(
    toolset: Toolset, changes: Sequence[Change], former: dict[str, Toolset]
) -> Toolset | None:
    """The toolset as it was, under its old name where it was renamed."""
    for change in changes:
        if change.rule.id == "toolset/renamed":
            return former.get(str(change.before))
    return former.get(toolset.name)


def _proposal(
    before: Toolset | None, now: Toolset, changes: tuple[Change, ...]
) -> Proposal:
    step, reason = _step(changes)
    old = "" if before is None else _said(before)
    current = _said(now)
    if before is None:
        return Proposal(now.name, "", current, step, current, "it is new", changes)
    numbers = _numbers(old)
    if numbers is None:
        why = _no_version(old)
        first = "" if old else _FIRST
        return Proposal(now.name, old, current, step, first, why, changes)
    if numbers[0] == 0 and step != "patch":
        below = {"major": "minor", "minor": "patch"}[step]
        reason += f"; below 1.0.0 that is a {below} step"
        step = below
    version = ".".join(map(str, _raised(numbers, step)))
    return Proposal(now.name, old, current, step, version, reason, changes)


def _no_version(text: str) -> str:
    if not text:
        return "toolset.yaml had no `version`"
    if _VERSION.fullmatch(text):
        return f"`{text}` is a pre-release, in which anything may change"
    return f"`{text}` is no semantic version"


def _numbers(text: str) -> _Numbers | None:
    found = _VERSION.fullmatch(text)
    if found is None or found[4]:
        return None
    return int(found[1]), int(found[2]), int(found[3])


def _step(changes: Sequence[Change]) -> tuple[str, str]:
    for audience in ("call", "code", "access"):
        breaking = [
            one for one in changes if getattr(one.grades, audience) is Grade.BREAKING
        ]
        if breaking:
            return "major", f"`{breaking[0].rule.id}` is breaking for {audience}"
    for one in changes:
        if one.grades.worst > Grade.SAFE:
            return "minor", f"`{one.rule.id}` is {one.grades.worst.word}"
    for one in changes:
        if one.rule.id.endswith("added"):
            return "minor", f"`{one.rule.id}`: something is new"
    return "patch", "every change is safe"


def _raised(numbers: _Numbers, step: str) -> _Numbers:
    major, minor, patch = numbers
    steps = {
        "major": (major + 1, 0, 0),
        "minor": (major, minor + 1, 0),
        "patch": (major, minor, patch + 1),
    }
    return steps[step]


def _said(toolset: Toolset) -> str:
    """The `version` of a toolset.yaml; empty where it says none."""
    version = get_spec_value(toolset, "version")
    return version if isinstance(version, str) else ""


@dataclass(frozen=True)
class ChangeVerdict:
    """A change, and what is decided about it.

    Attributes:
        change: the change.
        place: where to show it in the project as it is now: of what is gone, the nearest that
            is there.
        accepted: the entry that accepts it; None when nobody did.
        fails: the audiences for which it is at the limit or above, and not accepted.
    """

    change: Change
    location: Location
    accepted: Acceptance | None
    fails: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        """How bad it is for formats that know no grades: an error is what fails."""
        if self.fails:
            return Severity.ERROR
        if self.change.grades.worst > Grade.SAFE and self.accepted is None:
            return Severity.WARNING
        return Severity.NOTE

    @property
    def owner(self) -> str:
        """What has changed: `toolset/tool`, the toolset, or toolcast.yaml."""
        names = (self.change.toolset, self.change.tool)
        return "/".join(filter(None, names)) or "toolcast.yaml"


@dataclass(frozen=True)
class Verdict:
    """What a comparison comes to.

    Attributes:
        against: what a person calls the state that the project is compared with.
        changes: each with what is decided about it, in the comparison's order.
        effects: what follows from all changes together.
        findings: of acceptances that accept nothing.
        limits: which grades fail.
        proposals: the version that each changed toolset should have.
        brought: the findings of rules that the specs have now and had not before.
        mended: those that they had before and have no more.
        is_first: the state that the project is compared with has no specs.
    """

    against: str
    changes: tuple[ChangeVerdict, ...]
    effects: tuple[Effect, ...]
    findings: tuple[Finding, ...]
    limits: Limits
    proposals: tuple[Proposal, ...]
    is_first: bool = False
    added: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()

    @property
    def failing(self) -> int:
        """How many changes fail."""
        return sum(bool(one.fails) for one in self.changes)

    @property
    def accepted(self) -> int:
        """How many changes are accepted."""
        return sum(one.accepted is not None for one in self.changes)


def judge(
    comparison: Comparison,
    workspaces: tuple[Workspace, Workspace],
    against: str,
    *,
    limits: Limits,
    acceptances: Sequence[Acceptance],
    known: Mapping[str, ChangeRule],
    today: datetime.date,
    is_first: bool = False,
    check_findings: CheckFindings = NO_FINDINGS,
) -> Verdict:
    """Decides about the changes of a comparison.

    Args:
        comparison: what has changed.
        sides: both states, the old one first.
        against: what a person calls the old one.
        limits: which grades fail.
        acceptances: the entries of toolcast.accept.yaml.
        known: all kinds of changes by their ids.
        today: the day by which acceptances end.
        is_first: the old one has no specs.
        found: the findings of `check` that the change brings, and those that it mends.
    """
    sources = {
        (toolset.name, tool.name): tool.source
        for toolset in workspaces[1].toolsets
        for tool in toolset.tools
    }
    sources |= {(one.name, ""): one.source for one in workspaces[1].toolsets}
    judged = []
    changes = comparison.changes
    for change in changes:
        accepted = find_acceptance(change, acceptances, today)
        fails = () if accepted else tuple(list_failing_audiences(change.grades, limits))
        place = _place_now(change, sources, workspaces[1].source)
        judged.append(ChangeVerdict(change, place, accepted, fails))
    return Verdict(
        against,
        tuple(judged),
        tuple(comparison.effects),
        tuple(check_acceptances(acceptances, changes, known, today)),
        limits,
        tuple(propose_versions(changes, *workspaces)),
        is_first,
        tuple(check_findings.added),
        tuple(check_findings.fixed),
    )


def _place_now(
    change: Change, sources: Mapping[tuple[str, str], Source], workspace: Source
) -> Location:
    """Where a change is shown in the project as it is now."""
    if not change.is_in_old_version:
        return change.location
    toolset = sources.get((change.toolset, ""))
    if change.tool and (change.toolset, change.tool) not in sources:
        # A comment in the toolset's own file is the nearest to a tool that is gone.
        return Location((toolset or workspace).file, 1, 1, 2)
    source = sources.get((change.toolset, change.tool))
    if source is None:
        return locate_path(workspace, ("toolsets",))
    return locate_path(source, change.path)
