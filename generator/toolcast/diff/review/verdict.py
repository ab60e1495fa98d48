"""Verdict on a comparison: failing and accepted changes, and proposed versions.

Versions follow Semantic Versioning 2.0.0.
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
"""The lowest failing grade for each audience; without an entry no change fails."""

DEFAULT_LIMITS: Limits = dict.fromkeys(AUDIENCES, Grade.BREAKING)
"""Changes that break any audience fail."""

_NONE = "none"
_EXAMPLES = "for example `call=breaking,prompt=risky`, or `risky`, `breaking` or `none`"
_GRADES = {Grade.RISKY.label: Grade.RISKY, Grade.BREAKING.label: Grade.BREAKING}


class InvalidLimitError(ValueError):
    """Invalid limits on the command line; the message has the reason and a help line."""


def parse_limits(text: str) -> Limits:
    """Parse `call=breaking,prompt=risky`, one grade for all audiences, or `none`.

    Raises:
        InvalidLimitError: an audience or grade is unknown, or an audience is repeated.
    """
    if text == _NONE:
        return {}
    if text in _GRADES:
        return dict.fromkeys(AUDIENCES, _GRADES[text])
    limits: dict[str, Grade] = {}
    for part in text.split(","):
        audience, _, grade = (name.strip() for name in part.partition("="))
        for name, known_names, noun in (
            (audience, AUDIENCES, "audience"),
            (grade, tuple(_GRADES), "grade"),
        ):
            if name not in known_names:
                help_text = f"{suggest_name(name, known_names)}; {_EXAMPLES}"
                raise InvalidLimitError(
                    f"`{part}` has no valid {noun}\n  help: {help_text}"
                )
        if audience in limits:
            raise InvalidLimitError(
                f"the audience `{audience}` is repeated\n  help: list each audience once, {_EXAMPLES}"
            )
        limits[audience] = _GRADES[grade]
    return limits


def list_failing_audiences(grades: Grades, limits: Limits) -> list[str]:
    """Return the audiences whose grade is at least the limit, in the order of AUDIENCES.

    An audience without a limit is never included.
    """
    return [
        audience
        for audience, grade in zip(AUDIENCES, grades, strict=True)
        if audience in limits and grade >= limits[audience]
    ]


def format_limits(limits: Limits) -> str:
    """Format limits as a value of `--fail-on`.

    Returns `none` without limits, only the grade if it is the same for all audiences,
    and otherwise pairs such as `call=breaking,prompt=risky`.
    """
    if not limits:
        return _NONE
    grades = set(limits.values())
    if len(limits) == len(AUDIENCES) and len(grades) == 1:
        return grades.pop().label
    return ",".join(
        f"{audience}={limits[audience].label}"
        for audience in AUDIENCES
        if audience in limits
    )


_FIRST_VERSION = "0.1.0"
# Limit each number to 18 digits; Semantic Versioning itself sets no limit.
_NUMBER = r"(0|[1-9][0-9]{0,17})"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
)
_VersionNumbers = tuple[int, int, int]


@dataclass(frozen=True)
class Proposal:
    """The proposed version of a toolset.

    Attributes:
        toolset: the toolset's name.
        before: the old version; empty without one.
        now: the version in the new `toolset.yaml`; empty without one.
        step: `major`, `minor` or `patch`, as the changes require.
        version: the proposed version; empty if none can be proposed.
        reason: the reason of the step, or why no version is proposed.
        changes: the changes of the toolset.
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
        """Whether the new version is at least the proposed one."""
        current, proposed = _parse_version(self.now), _parse_version(self.version)
        return current is not None and proposed is not None and current >= proposed


def propose_versions(
    changes: Sequence[Change], before: Workspace, after: Workspace
) -> Iterator[Proposal]:
    """Yield the proposed version of each toolset that has changes.

    Changes that break callers, Python code or access require a major version. Additions,
    risky changes, and changes that break prompts require a minor version; all others a
    patch. Below 1.0.0, a major step becomes minor and a minor step becomes patch.
    """
    old_toolsets = {toolset.name: toolset for toolset in before.toolsets}
    for toolset in after.toolsets:
        own_changes = tuple(
            change for change in changes if toolset.name in _list_toolsets(change)
        )
        if own_changes:
            old_toolset = _find_old_toolset(toolset, own_changes, old_toolsets)
            yield _build_proposal(old_toolset, toolset, own_changes)


def _list_toolsets(change: Change) -> tuple[str, ...]:
    """Return the toolsets of a change: two if a tool moved from one to the other."""
    if change.rule.id == "tool/moved":
        return (change.toolset, str(change.before))
    return (change.toolset,)


def _find_old_toolset(
    toolset: Toolset, changes: Sequence[Change], old_toolsets: dict[str, Toolset]
) -> Toolset | None:
    """Return the old version of a toolset, also after a rename; None if it is new."""
    for change in changes:
        if change.rule.id == "toolset/renamed":
            return old_toolsets.get(str(change.before))
    return old_toolsets.get(toolset.name)


def _build_proposal(
    before: Toolset | None, after: Toolset, changes: tuple[Change, ...]
) -> Proposal:
    step, reason = _get_step(changes)
    new_version = _get_version(after)
    # An added toolset has no old version to increment: its declared version is proposed.
    if before is None:
        return Proposal(
            after.name,
            "",
            new_version,
            step,
            new_version,
            "the toolset is new",
            changes,
        )
    old_version = _get_version(before)
    numbers = _parse_version(old_version)
    if numbers is None:
        reason = _describe_unusable_version(old_version)
        proposed = "" if old_version else _FIRST_VERSION
        return Proposal(
            after.name, old_version, new_version, step, proposed, reason, changes
        )
    # Semantic Versioning (item 4) permits any change below 1.0.0, so steps are smaller.
    if numbers[0] == 0 and step != "patch":
        step = {"major": "minor", "minor": "patch"}[step]
        reason += f"; below 1.0.0 that is a {step} step"
    proposed = ".".join(map(str, _increment_version(numbers, step)))
    return Proposal(
        after.name, old_version, new_version, step, proposed, reason, changes
    )


def _describe_unusable_version(version: str) -> str:
    """Return the reason why no version can be derived from an old version."""
    if not version:
        return "toolset.yaml had no `version`"
    if _VERSION.fullmatch(version):
        return f"`{version}` is a pre-release, which can change in any way"
    return f"`{version}` is not a semantic version"


def _parse_version(text: str) -> _VersionNumbers | None:
    """Return the numbers of a version; None for a pre-release or an invalid version."""
    match = _VERSION.fullmatch(text)
    if match is None or match[4]:
        return None
    return int(match[1]), int(match[2]), int(match[3])


def _get_step(changes: Sequence[Change]) -> tuple[str, str]:
    """Return the step that changes require (`major`, `minor` or `patch`), and the reason."""
    # A change that is breaking only for the audience `prompt` needs just a minor step.
    for audience in ("call", "code", "access"):
        for change in changes:
            if getattr(change.grades, audience) is Grade.BREAKING:
                return "major", f"`{change.rule.id}` is breaking for {audience}"
    for change in changes:
        if change.grades.worst > Grade.SAFE:
            return "minor", f"`{change.rule.id}` is {change.grades.worst.label}"
    for change in changes:
        if change.rule.id.endswith("added"):
            return "minor", f"`{change.rule.id}` is an addition"
    return "patch", "every change is safe"


def _increment_version(numbers: _VersionNumbers, step: str) -> _VersionNumbers:
    major, minor, patch = numbers
    if step == "major":
        return (major + 1, 0, 0)
    if step == "minor":
        return (major, minor + 1, 0)
    return (major, minor, patch + 1)


def _get_version(toolset: Toolset) -> str:
    """Return the field `version` of a `toolset.yaml`; empty if it is not a string."""
    version = get_spec_value(toolset, "version")
    return version if isinstance(version, str) else ""


@dataclass(frozen=True)
class ChangeVerdict:
    """A change with the decision about it.

    Attributes:
        change: the change.
        location: the location in the new version; for a removed value, of the nearest part
            that still exists.
        accepted: the entry that accepts the change, or None.
        fails: the audiences for which the change fails; empty if it is accepted.
    """

    change: Change
    location: Location
    accepted: Acceptance | None
    fails: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        """The severity in formats without grades; a failing change is an error."""
        if self.fails:
            return Severity.ERROR
        if self.change.grades.worst > Grade.SAFE and self.accepted is None:
            return Severity.WARNING
        return Severity.NOTE

    @property
    def owner(self) -> str:
        """The changed part: `toolset/tool`, the toolset, or toolcast.yaml."""
        names = (self.change.toolset, self.change.tool)
        return "/".join(filter(None, names)) or "toolcast.yaml"


@dataclass(frozen=True)
class Verdict:
    """The result of a comparison: decisions, findings and proposed versions.

    Attributes:
        against: the name of the old version for reports, for example `origin/main`.
        changes: the changes with their decisions, in the comparison's order.
        effects: the effects of all changes together.
        findings: the findings about acceptances.
        limits: for each audience, the lowest grade that fails.
        proposals: the proposed versions of changed toolsets.
        is_first: whether the old version has no specs.
        added: the findings of `toolcast check` that only the new version has.
        fixed: the findings of `toolcast check` that only the old version has.
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
        """The number of failing changes."""
        return sum(bool(verdict.fails) for verdict in self.changes)

    @property
    def accepted(self) -> int:
        """The number of accepted changes."""
        return sum(verdict.accepted is not None for verdict in self.changes)


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
    """Decide which changes of a comparison fail, and propose versions.

    Args:
        comparison: the comparison.
        workspaces: the old and the new version of the workspace.
        against: the old version in reports.
        limits: for each audience, the lowest grade that fails.
        acceptances: the entries of toolcast.accept.yaml.
        known: all kinds of changes by id.
        today: the date with which the acceptances' expiry dates are compared.
        is_first: whether the old version has no specs.
        check_findings: the findings of `toolcast check` that only one version has.
    """
    new_workspace = workspaces[1]
    sources = {}
    for toolset in new_workspace.toolsets:
        sources[toolset.name, ""] = toolset.source
        for tool in toolset.tools:
            sources[toolset.name, tool.name] = tool.source
    verdicts = []
    changes = comparison.changes
    for change in changes:
        accepted = find_acceptance(change, acceptances, today)
        # An accepted change never fails, whatever its grades.
        fails = [] if accepted else list_failing_audiences(change.grades, limits)
        location = _locate_change(change, sources, new_workspace.source)
        verdicts.append(ChangeVerdict(change, location, accepted, tuple(fails)))
    return Verdict(
        against,
        tuple(verdicts),
        tuple(comparison.effects),
        tuple(check_acceptances(acceptances, changes, known, today)),
        limits,
        tuple(propose_versions(changes, *workspaces)),
        is_first,
        tuple(check_findings.added),
        tuple(check_findings.fixed),
    )


def _locate_change(
    change: Change, sources: Mapping[tuple[str, str], Source], workspace: Source
) -> Location:
    """Return the location of a change in the new version of the project.

    Args:
        change: the change.
        sources: the new spec files by toolset and tool; `toolset.yaml` by an empty tool name.
        workspace: the new toolcast.yaml.
    """
    if not change.is_in_old_version:
        return change.location
    toolset = sources.get((change.toolset, ""))
    if change.tool and (change.toolset, change.tool) not in sources:
        # The spec of a removed tool does not exist: use the start of its toolset.yaml.
        return Location((toolset or workspace).file, 1, 1, 2)
    source = sources.get((change.toolset, change.tool))
    if source is None:
        return locate_path(workspace, ("toolsets",))
    return locate_path(source, change.path)
