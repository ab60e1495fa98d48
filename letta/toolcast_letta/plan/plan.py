"""A plan as a value that can be saved: what is to be done, why not, and what it was made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..digests import compute_digest
from ..state.seal import Seal, convert_lists

_FORMAT = "toolcast-letta-plan/3"
_NOT_FIELDS = ("format", "id")


@dataclass(frozen=True)
class Overrides:
    """What a person has named, so that it may be done to what is not the toolset's.

    Attributes:
        delete: tools that may go although other agents have them.
        capture: tools, or entries of a settings file, of other owners that the toolset's
            server may take over.
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
        agent: the agent, for `tool` and `rule`, and for the `server` of a settings file.
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
class Blocker:
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
        type: Letta's type; empty where agents have none.
        home: where it lives, as a settings file says it; None for Letta's cloud.
        tools_before: ids of its tools by name.
        rules_before: its rules.
        tools_after: the names of its tools, those of others first, in their order.
        rules_after: its rules.
        servers_before: digest of its list of servers; empty where it has none.
        servers_after: digest of the list that it gets.
    """

    name: str
    id: str
    type: str = ""
    home: str | None = None
    tools_before: Mapping[str, str] = field(default_factory=dict)
    rules_before: tuple[Mapping[str, Any], ...] = ()
    tools_after: tuple[str, ...] = ()
    rules_after: tuple[Mapping[str, Any], ...] = ()
    servers_before: str = ""
    servers_after: str = ""


@dataclass(frozen=True)
class Plan:
    """What applying would do.

    Attributes:
        backend: the kind of Letta, `v1` or `code`.
        toolset: the toolset.
        place: the URL of the Letta server, or the path of the settings file.
        version: that server's version; empty for a settings file.
        server: name and URL of the MCP server's entry.
        desired: digest of everything that the toolset wants; a plan for other specs is old.
        entry: fingerprint of the registry's entry before; None when there was none.
        offered: digest of each tool that the MCP server offered.
        registry: each tool of the toolset in the registry: fingerprint before and after,
            None where it is not there.
        agents: each agent.
        changes: what is to be done, in order.
        missing: what agents should have and this plan does not give them, a line each.
        blockers: why it must not be done.
        warnings: what a person should know.
        overrides: what was named.
    """

    backend: str
    toolset: str
    location: str
    version: str
    server: Mapping[str, str]
    desired: str
    entry: str | None
    offered: Mapping[str, str]
    registry: Mapping[str, tuple[str | None, str | None]]
    agents: tuple[AgentPlan, ...]
    changes: tuple[Change, ...] = ()
    missing: tuple[str, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    warnings: tuple[str, ...] = ()
    overrides: Overrides = field(default_factory=Overrides)

    @property
    def id(self) -> str:
        """Names the plan by what it says."""
        return compute_digest(asdict(self)).removeprefix("sha256:")[:12]

    @property
    def removals(self) -> tuple[Change, ...]:
        """The changes that take something away."""
        return tuple(change for change in self.changes if "-" in change.action)

    def to_json(self) -> dict[str, Any]:
        """The plan for a file or a machine; it holds no secret."""
        return {"format": _FORMAT, "id": self.id, **asdict(self)}

    def save(self, path: Path, seal: Seal) -> None:
        """Writes the plan, sealed.

        Raises:
            StateError: as of `Seal.save`.
        """
        seal.save(path, self.to_json(), mode=0o666)

    @classmethod
    def load(cls, path: Path, seal: Seal) -> Plan:
        """Reads a saved plan.

        Raises:
            StateError: as of `Seal.load`.
        """
        value = seal.load(path, _FORMAT)
        return cls._from_json({k: v for k, v in value.items() if k not in _NOT_FIELDS})

    @classmethod
    def _from_json(cls, value: Mapping[str, Any]) -> Plan:
        pairs = value["registry"].items()
        parts = {
            "registry": {name: (pair[0], pair[1]) for name, pair in pairs},
            "agents": tuple(
                AgentPlan(**convert_lists(agent)) for agent in value["agents"]
            ),
            "changes": tuple(Change(**change) for change in value["changes"]),
            "blockers": tuple(Blocker(**blocker) for blocker in value["blockers"]),
            "missing": tuple(value["missing"]),
            "warnings": tuple(value["warnings"]),
            "overrides": Overrides(**convert_lists(value["overrides"])),
        }
        return cls(**{**value, **parts})
