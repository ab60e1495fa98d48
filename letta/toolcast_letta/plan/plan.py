"""A plan as a value that can be saved: changes, objections, and the world it was made for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["AgentPlan", "Change", "Objection", "Permits", "Plan", "PlanFileError"]

_FORMAT = "toolcast-letta-plan/1"


class PlanFileError(Exception):
    """A file holds no plan; the text says why."""


@dataclass(frozen=True)
class Permits:
    """What a person has named, so that it may be done to what is not the toolset's.

    Attributes:
        delete: tools that may go although other agents have them.
        capture: tools of other owners that the toolset's server may take over.
        drop_stale: tools that are not attached, whose rules may go.
    """

    delete: tuple[str, ...] = ()
    capture: tuple[str, ...] = ()
    drop_stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """One thing that applying changes.

    Attributes:
        action: `+` add, `~` change in place, `-` remove, `-/+` remove and add.
        layer: `server`, `registry`, `tool` (of an agent) or `rule`.
        name: of the tool, rule or entry.
        agent: the agent, for `tool` and `rule`.
        detail: what exactly.
        undo: why it cannot be undone; empty when it can.
    """

    action: str
    layer: str
    name: str
    agent: str = ""
    detail: str = ""
    undo: str = ""


@dataclass(frozen=True)
class Objection:
    """Why the plan must not be applied.

    Attributes:
        code: a word for machines: `not-deployed`, `capture`, `other-agents`, ...
        message: what is wrong.
        help: what to do.
    """

    code: str
    message: str
    help: str = ""


@dataclass(frozen=True)
class AgentPlan:
    """One agent before and after.

    Attributes:
        name: the toolset's name for it.
        id: Letta's id.
        type: Letta's type.
        before: ids of its tools by name.
        rules_before: its rules.
        after: the names of its tools, those of others first, in their order.
        rules_after: its rules.
    """

    name: str
    id: str
    type: str
    before: Mapping[str, str]
    rules_before: tuple[Mapping[str, Any], ...]
    after: tuple[str, ...]
    rules_after: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Plan:
    """What applying would do.

    Attributes:
        toolset: the toolset.
        base_url: the Letta server that it was made for.
        version: that server's version.
        server: name and URL of the MCP server's entry.
        wish: digest of everything that the toolset wants; a plan for other specs is old.
        entry: fingerprint of the entry before; None when there was none.
        live: digest of each tool that the MCP server offered.
        registry: each tool of the toolset in the registry: fingerprint before and after,
            None where it is not there.
        agents: each agent.
        changes: what is to be done, in order.
        objections: why it must not be done.
        warnings: what a person should know.
        permits: what was named.
    """

    toolset: str
    base_url: str
    version: str
    server: Mapping[str, str]
    wish: str
    entry: str | None
    live: Mapping[str, str]
    registry: Mapping[str, tuple[str | None, str | None]]
    agents: tuple[AgentPlan, ...]
    changes: tuple[Change, ...] = ()
    objections: tuple[Objection, ...] = ()
    warnings: tuple[str, ...] = ()
    permits: Permits = field(default_factory=Permits)

    @property
    def id(self) -> str:
        """Names the plan by what it says."""
        text = json.dumps(asdict(self), sort_keys=True, default=list)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def destroys(self) -> tuple[Change, ...]:
        """The changes that take something away."""
        return tuple(change for change in self.changes if "-" in change.action)

    def to_json(self) -> dict[str, Any]:
        """The plan for a file or a machine; it holds no secret."""
        return {"format": _FORMAT, "id": self.id, **asdict(self)}

    def save(self, path: Path) -> None:
        """Writes the plan."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Reads a saved plan.

        Raises:
            PlanFileError: the file cannot be read, holds no plan, or was changed.
        """
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise PlanFileError(f"{path} cannot be read: {error}") from None
        if not isinstance(value, dict) or value.get("format") != _FORMAT:
            raise PlanFileError(f"{path} is no plan that this version saved")
        try:
            plan = cls._of(value)
        except (KeyError, TypeError, ValueError):
            raise PlanFileError(f"{path} is no whole plan") from None
        if plan.id != value.get("id"):
            raise PlanFileError(f"{path} was changed after it was saved")
        return plan

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> Plan:
        return cls(
            value["toolset"],
            value["base_url"],
            value["version"],
            dict(value["server"]),
            value["wish"],
            value["entry"],
            dict(value["live"]),
            {name: (pair[0], pair[1]) for name, pair in value["registry"].items()},
            tuple(
                AgentPlan(
                    **{
                        **agent,
                        "rules_before": tuple(agent["rules_before"]),
                        "after": tuple(agent["after"]),
                        "rules_after": tuple(agent["rules_after"]),
                    }
                )
                for agent in value["agents"]
            ),
            tuple(Change(**change) for change in value["changes"]),
            tuple(Objection(**objection) for objection in value["objections"]),
            tuple(value["warnings"]),
            Permits(**{key: tuple(names) for key, names in value["permits"].items()}),
        )
