"""The version that a toolset should have after its changes.

Source: Semantic Versioning 2.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...model.model import Toolset, Workspace
from ..change import Change, Grade, raw

__all__ = ["Proposal", "proposals"]

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


def proposals(
    changes: Sequence[Change], before: Workspace, after: Workspace
) -> Iterator[Proposal]:
    """One for each toolset that has changed and that both sides have.

    What breaks callers, Python code or attachments asks for the next major version; what is
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
        return Proposal(now.name, old, current, step, "", why, changes)
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
    for audience in ("call", "code", "attachment"):
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
    version = raw(toolset, "version")
    return version if isinstance(version, str) else ""
