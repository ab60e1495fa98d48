"""Baselines: the state before an apply, saved in files; and the lock for changes.

A baseline contains names, ids, rules, settings, and the part of memory blocks that
comes from the specs. It contains no secrets, no messages and no other memory of an agent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcast_runtime.core.safe_folder import ConcurrentRunError as FolderLockedError
from toolcast_runtime.core.safe_folder import Folder, lock_output_folder

from .seal import ForeignFileError, Seal, StateError, convert_lists

_FORMAT = "toolcast-letta-baseline/2"


class ConcurrentRunError(Exception):
    """Another apply or rollback with the same folder holds the lock."""


@dataclass(frozen=True)
class AgentBaseline:
    """The state of one agent before and after an apply.

    Attributes:
        name: the agent's name in the toolset.
        id: the agent's id in Letta.
        type: the agent's type in Letta.
        tools: the ids of its tools before the apply, by name.
        rules: its rules before the apply.
        tools_after: the names of its tools after the apply.
        rules_after: its rules after the apply.
        lost: the tools of other owners that the agent had lost before the apply, or
            whose rules it had lost, with these rules.
        accepted_losses: the lost tools that the user accepted by name.
        blocks: the specs' part of its memory blocks before the apply, by label.
    """

    name: str
    id: str
    type: str
    tools: Mapping[str, str]
    rules: tuple[Mapping[str, Any], ...]
    tools_after: tuple[str, ...] = ()
    rules_after: tuple[Mapping[str, Any], ...] = ()
    lost: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    accepted_losses: tuple[str, ...] = ()
    blocks: Mapping[str, str] = field(default_factory=dict)

    def accept_losses(self, names: tuple[str, ...]) -> AgentBaseline:
        """Return a copy in which the named tools are accepted losses, not open ones."""
        lost = {name: rules for name, rules in self.lost.items() if name not in names}
        accepted = tuple(sorted({*self.accepted_losses, *names}))
        return replace(self, lost=lost, accepted_losses=accepted)

    @property
    def tools_before(self) -> dict[str, str]:
        """The ids of the tools before the apply, with "" for a tool that was lost."""
        return {**dict.fromkeys(self.lost, ""), **self.tools}

    @property
    def rules_before(self) -> tuple[Mapping[str, Any], ...]:
        """The rules before the apply, and the rules that were lost before it."""
        return (*self.rules, *(rule for rules in self.lost.values() for rule in rules))


@dataclass(frozen=True)
class Baseline:
    """The state before an apply.

    Attributes:
        toolset: the toolset's name.
        base_url: the URL of the Letta server.
        version: the server's version.
        server: the name of the MCP server's entry.
        agents: the toolset's agents.
        settings: the settings of the toolset's registered tools, by name.
        registry: the digests of these tools, by name.
        entry: the id of the MCP server's entry; None if it did not exist.
        renamed: the new name of each tool that the apply renames.
        holders: for each tool that the apply deletes, the agents outside the toolset
            that lose it.
        saved: when the baseline was saved, in ISO 8601 and UTC.
        complete: whether the apply was completed.
    """

    toolset: str
    base_url: str
    version: str
    server: str
    agents: tuple[AgentBaseline, ...]
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    registry: Mapping[str, str] = field(default_factory=dict)
    entry: str | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    saved: str = ""
    complete: bool = False

    def find_agent(self, agent_id: str) -> AgentBaseline | None:
        """Return the state of the agent with this id; None if it is not included."""
        return next((agent for agent in self.agents if agent.id == agent_id), None)


class Baselines:
    """A folder of baselines.

    Args:
        folder: the folder; it is created when needed.
        seal: signs baselines, so that files of others and edited files are recognized.
    """

    def __init__(self, folder: Path, seal: Seal | None = None) -> None:
        self.folder = folder
        self._seal = seal or Seal()

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder; the operating system releases the lock when the process dies.

        Raises:
            ConcurrentRunError: another process has the lock.
            StateError: the folder cannot be used.
        """
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(
                    Folder.open_path(str(self.folder), create=True)
                )
                stack.enter_context(lock_output_folder(folder))
            except FolderLockedError:
                raise ConcurrentRunError(
                    f"another apply or rollback is running (lock: {self.folder})"
                ) from None
            except OSError as error:
                raise StateError(
                    f"{self.folder} cannot be used: {error.strerror or error}"
                ) from None
            yield

    def start(self, baseline: Baseline) -> Baseline:
        """Save a baseline and return it, or continue that of an interrupted apply.

        After an interrupted apply the current state is intermediate, so the older
        baseline of the same agents is continued: it has the state before all changes.

        Raises:
            StateError: the baseline cannot be saved.
        """
        for older in reversed(self.list_all(baseline.toolset, baseline.base_url)):
            # Older incomplete baselines are obsolete: an apply has been completed after
            # them.
            if older.complete:
                break
            # An interrupted apply for other agents has a baseline of its own.
            if {a.id for a in older.agents} == {a.id for a in baseline.agents}:
                return self._continue(older, baseline)
        saved = datetime.now(UTC).isoformat(timespec="microseconds")
        baseline = replace(baseline, saved=saved)
        self._write(baseline)
        return baseline

    def _continue(self, older: Baseline, newer: Baseline) -> Baseline:
        """Save and return the older state before, with the newer plan's results."""
        after = {agent.id: agent for agent in newer.agents}
        agents = tuple(
            replace(
                agent,
                tools_after=after[agent.id].tools_after,
                rules_after=after[agent.id].rules_after,
                lost=after[agent.id].lost,
                accepted_losses=after[agent.id].accepted_losses,
            )
            for agent in older.agents
        )
        continued = replace(
            older,
            agents=agents,
            renamed={**older.renamed, **newer.renamed},
            # The older value is from before the interrupted run, which can have removed
            # the tool from agents.
            holders={**newer.holders, **older.holders},
        )
        self._write(continued)
        return continued

    def finish(self, baseline: Baseline) -> None:
        """Mark the apply of a baseline as complete, in its file."""
        self._write(replace(baseline, complete=True))

    def finish_latest(
        self, toolset: str, base_url: str, accepted: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Mark the newest baseline as complete, and record accepted losses.

        Args:
            toolset: the toolset's name.
            base_url: the URL of the Letta server.
            accepted: the lost tools that were accepted, by agent id; recorded in the
                newest baseline of each agent, which stays the one to return to.
        """
        recorded: set[str] = set()
        for number, baseline in enumerate(reversed(self.list_all(toolset, base_url))):
            new = replace(
                baseline,
                complete=baseline.complete or number == 0,
                agents=tuple(
                    (
                        agent
                        if agent.id in recorded
                        else agent.accept_losses(accepted.get(agent.id, ()))
                    )
                    for agent in baseline.agents
                ),
            )
            recorded |= {agent.id for agent in baseline.agents}
            if new != baseline:
                self._write(new)

    def path(self, baseline: Baseline) -> Path:
        """Return the path of a baseline's file, which contains toolset and time."""
        # Only the digits of the time: file names need no colons, and the zone is always
        # UTC.
        stamp = "".join(char for char in baseline.saved[:26] if char.isdigit())
        return self.folder / f"{baseline.toolset}-{stamp}.json"

    def list_all(self, toolset: str, base_url: str) -> list[Baseline]:
        """Return every baseline of a toolset on a server, oldest first.

        Files that this user did not sign in their present form are left out;
        `list_foreign_files` describes them.

        Raises:
            StateError: there is no key to verify the files.
        """
        baselines = []
        for file in self._list_files(toolset):
            # `list_foreign_files` describes the files that are skipped here.
            with contextlib.suppress(ForeignFileError):
                baseline = self.load(file)
                if (baseline.toolset, baseline.base_url) == (toolset, base_url):
                    baselines.append(baseline)
        return sorted(baselines, key=lambda baseline: baseline.saved)

    def list_foreign_files(self, toolset: str) -> list[str]:
        """Return descriptions of a toolset's baseline files that are ignored, and why.

        Raises:
            StateError: there is no key to verify the files.
        """
        lines = []
        for file in self._list_files(toolset):
            try:
                self.load(file)
            except ForeignFileError as error:
                lines.append(str(error))
        return lines

    def _list_files(self, toolset: str) -> list[Path]:
        return sorted(self.folder.glob(f"{toolset}-*.json"))

    def get_latest(self, toolset: str, base_url: str) -> Baseline:
        """Return the newest baseline of a toolset on a server.

        Raises:
            StateError: there is none; the message lists ignored files.
        """
        baselines = self.list_all(toolset, base_url)
        if not baselines:
            raise StateError(
                f"{self.folder} has no baseline of {toolset} on {base_url}: nothing was"
                " applied with this folder\n  help: pass --state, or set"
                " TOOLCAST_LETTA_STATE, to the folder that was used; a server that attaches"
                " tools at startup logs its folder"
                + "".join(f"\n  {line}" for line in self.list_foreign_files(toolset))
            )
        return baselines[-1]

    def load(self, path: Path) -> Baseline:
        """Load the baseline of a file, after verifying its signature.

        Raises:
            StateError: see `Seal.load`.
        """
        value = self._seal.load(path, _FORMAT)
        del value["format"]
        for agent in value["agents"]:
            # Baselines of earlier versions do not have this field.
            agent["lost"] = convert_lists(agent.get("lost", {}))
        value["agents"] = tuple(
            AgentBaseline(**convert_lists(agent)) for agent in value["agents"]
        )
        value["holders"] = convert_lists(value["holders"])
        return Baseline(**value)

    def _write(self, baseline: Baseline) -> None:
        self._seal.save(
            self.path(baseline), {"format": _FORMAT, **asdict(baseline)}, create=True
        )
