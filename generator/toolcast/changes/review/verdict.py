"""The verdict on a comparison: each change with its place, who accepted it, whether it fails."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...findings import Finding, Place, Severity
from ...model.model import Workspace
from ...reading.tree import Source
from ..change import Change, Grade, place_of
from ..comparison import Comparison
from ..effects import Effect
from .acceptances import Acceptance, acceptance_of, stale
from .check_findings import NOTHING_FOUND, CheckFindings
from .limits import Limits, failing
from .versions import Proposal, proposals

__all__ = ["Judged", "Verdict", "judge"]


@dataclass(frozen=True)
class Judged:
    """A change, and what is decided about it.

    Attributes:
        change: the change.
        place: where to show it in the project as it is now: of what is gone, the nearest that
            is there.
        accepted: the entry that accepts it; None when nobody did.
        fails: the audiences for which it is at the limit or above, and not accepted.
    """

    change: Change
    place: Place
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
    changes: tuple[Judged, ...]
    effects: tuple[Effect, ...]
    findings: tuple[Finding, ...]
    limits: Limits
    proposals: tuple[Proposal, ...]
    is_first: bool = False
    brought: tuple[Finding, ...] = ()
    mended: tuple[Finding, ...] = ()

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
    sides: tuple[Workspace, Workspace],
    against: str,
    *,
    limits: Limits,
    acceptances: Sequence[Acceptance],
    known: Collection[str],
    today: datetime.date,
    is_first: bool = False,
    found: CheckFindings = NOTHING_FOUND,
) -> Verdict:
    """Decides about the changes of a comparison.

    Args:
        comparison: what has changed.
        sides: both states, the old one first.
        against: what a person calls the old one.
        limits: which grades fail.
        acceptances: the entries of toolcast.accept.yaml.
        known: the ids of all rules of changes.
        today: the day by which acceptances end.
        is_first: the old one has no specs.
        found: the findings of `check` that the change brings, and those that it mends.
    """
    sources = {
        (toolset.name, tool.name): tool.source
        for toolset in sides[1].toolsets
        for tool in toolset.tools
    }
    sources |= {(one.name, ""): one.source for one in sides[1].toolsets}
    judged = []
    changes = comparison.changes
    for change in changes:
        accepted = acceptance_of(change, acceptances, today)
        fails = () if accepted else tuple(failing(change.grades, limits))
        place = _place_now(change, sources, sides[1].source)
        judged.append(Judged(change, place, accepted, fails))
    return Verdict(
        against,
        tuple(judged),
        tuple(comparison.effects),
        tuple(stale(acceptances, changes, known, today)),
        limits,
        tuple(proposals(changes, *sides)),
        is_first,
        tuple(found.brought),
        tuple(found.mended),
    )


def _place_now(
    change: Change, sources: Mapping[tuple[str, str], Source], workspace: Source
) -> Place:
    """Where a change is shown in the project as it is now."""
    if not change.is_gone:
        return change.place
    toolset = sources.get((change.toolset, ""))
    if change.tool and (change.toolset, change.tool) not in sources:
        # A comment in the toolset's own file is the nearest to a tool that is gone.
        return Place((toolset or workspace).file, 1, 1, 2)
    source = sources.get((change.toolset, change.tool))
    if source is None:
        return place_of(workspace, ("toolsets",))
    return place_of(source, change.path)
