"""The plan: a value that can be saved, reviewed and applied later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..digests import compute_digest
from ..state.seal import Seal, convert_lists

_FORMAT = "toolcast-letta-plan/4"
_EXTRA_KEYS = ("format", "id")


@dataclass(frozen=True)
class Overrides:
    """Tools that the user allows a plan to delete, take over or clean up.

    Without these names, a plan that needs such an operation is blocked.

    Attributes:
        delete: tools that may be deleted although agents outside the toolset have them.
        capture: tools of other owners, or entries of a settings file, that the
            toolset's server may take over.
        drop_stale: tools that are not attached and whose rules may be removed.
        accept_loss: tools of other owners whose loss, or the loss of whose rules, is
            accepted.
    """

    delete: tuple[str, ...] = ()
    capture: tuple[str, ...] = ()
    drop_stale: tuple[str, ...] = ()
    accept_loss: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """One change to Letta.

    Attributes:
        action: `+` add, `~` change in place, `-` remove, `-/+` remove and add.
        layer: `server`, `registry`, `tool` (of an agent) or `rule`.
        name: the name of the tool, rule or server entry.
        agent: the agent's name, for `tool`, `rule`, and `server` in a settings file;
            empty for other changes.
        detail: a description of the change.
        undo: the reason if a rollback cannot undo the change; empty if it can.
    """

    action: str
    layer: str
    name: str
    agent: str = ""
    detail: str = ""
    undo: str = ""


@dataclass(frozen=True)
class Blocker:
    """A reason why the plan must not be applied.

    Attributes:
        code: a machine-readable code: `not-deployed`, `capture`, `other-agents`, ...
        message: the problem.
        help: how to solve it.
    """

    code: str
    message: str
    help: str = ""


@dataclass(frozen=True)
class AgentPlan:
    """The state of one agent before and after the plan.

    Attributes:
        name: the agent's name in the toolset.
        id: the agent's id in Letta.
        type: the agent's type in Letta; empty in a settings file, which has no types.
        home: where the agent lives, as in the settings file; None for Letta's cloud.
        tools_before: the ids of its tools, by name.
        rules_before: its tool rules.
        tools_after: the names of its tools after the plan; tools that it keeps come
            first, in their order.
        rules_after: its tool rules after the plan.
        lost: the tools of other owners that the agent lost, or whose rules it lost
            although it has the tool; each with the lost rules.
        accepted_losses: the lost tools that the user accepted by name.
        servers_before: the digest of its list of MCP servers; empty for an agent on a
            server.
        servers_after: the digest of that list after the plan.
    """

    name: str
    id: str
    type: str = ""
    home: str | None = None
    tools_before: Mapping[str, str] = field(default_factory=dict)
    rules_before: tuple[Mapping[str, Any], ...] = ()
    tools_after: tuple[str, ...] = ()
    rules_after: tuple[Mapping[str, Any], ...] = ()
    lost: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    accepted_losses: tuple[str, ...] = ()
    servers_before: str = ""
    servers_after: str = ""


@dataclass(frozen=True)
class Plan:
    """The changes that bring Letta to the state that a toolset declares.

    Attributes:
        backend: the kind of Letta: `v1` or `code`.
        toolset: the toolset's name.
        location: the URL of the Letta server, or the path of the settings file.
        version: the server's version; empty for a settings file.
        server: name and URL of the MCP server's entry in Letta.
        desired: the digest of the desired state. A plan for another desired state is
            not applied.
        entry: the fingerprint of the MCP server's entry before the plan; None if it
            does not exist.
        offered: the digest of each tool that the MCP server offers.
        registry: for each tool of the toolset, its fingerprints in the registry before
            and after the plan; None where the tool is not registered.
        agents: the toolset's agents.
        changes: the changes, in the order in which they are listed for the user.
        missing: descriptions of what agents need and the plan does not provide.
        blockers: the reasons why the plan must not be applied.
        warnings: descriptions of risks that do not block the plan.
        overrides: the overrides that the plan was made with.
        blocks: descriptions of memory blocks that differ from the specs; a separate
            command writes them after the agent has reviewed them.
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
    blocks: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The plan's identifier, derived from its content."""
        return compute_digest(asdict(self)).removeprefix("sha256:")[:12]

    @property
    def removals(self) -> tuple[Change, ...]:
        """The changes that remove something."""
        # `-/+` (remove and add) counts as a removal, too.
        return tuple(change for change in self.changes if "-" in change.action)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as a JSON object with its format and id, without secrets."""
        return {"format": _FORMAT, "id": self.id, **asdict(self)}

    def save(self, path: Path, seal: Seal) -> None:
        """Write the plan with its signature.

        Raises:
            StateError: see `Seal.save`.
        """
        # A plan contains no secret, so the umask decides who can read the file.
        seal.save(path, self.to_json(), mode=0o666)

    @classmethod
    def load(cls, path: Path, seal: Seal) -> Plan:
        """Read a saved plan, and verify its signature.

        Raises:
            StateError: see `Seal.load`.
        """
        value = seal.load(path, _FORMAT)
        return cls._from_json({k: v for k, v in value.items() if k not in _EXTRA_KEYS})

    @classmethod
    def _from_json(cls, value: Mapping[str, Any]) -> Plan:
        # JSON has no tuples and no dataclasses: convert arrays and objects back.
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
            "blocks": tuple(value["blocks"]),
            "overrides": Overrides(**convert_lists(value["overrides"])),
        }
        return cls(**{**value, **parts})
