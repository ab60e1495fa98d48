"""What was there before an apply, kept in files, and the lock that lets one run at a time.

A baseline holds names, ids, rules and settings. It holds no secret, no message and no memory
of an agent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcast_runtime.core.safe_folder import ConcurrentRunError as Locked
from toolcast_runtime.core.safe_folder import Folder, lock_output_folder

from ..plan.current_state import AgentState
from .seal import ForeignFileError, Seal, StateError, convert_lists

_FORMAT = "toolcast-letta-baseline/2"


class ConcurrentRunError(Exception):
    """Another apply or rollback that is running in the same folder."""


@dataclass(frozen=True)
class AgentBaseline:
    """One agent as it was, and as that apply left it.

    Attributes:
        name: the toolset's name for it.
        id: Letta's id.
        type: Letta's type.
        tools: the ids of its tools by name.
        rules: its rules.
        tools_after: the names of the tools that the apply gave it.
        rules_after: the rules that the apply gave it.
    """

    name: str
    id: str
    type: str
    tools: Mapping[str, str]
    rules: tuple[Mapping[str, Any], ...]
    tools_after: tuple[str, ...] = ()
    rules_after: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_state(
        cls,
        name: str,
        state: AgentState,
        tools_after: tuple[str, ...],
        rules_after: tuple[Mapping[str, Any], ...],
    ) -> AgentBaseline:
        """The baseline of an agent's state, and of what an apply makes of it."""
        tools = dict(state.tools)
        return cls(
            name, state.id, state.type, tools, state.rules, tools_after, rules_after
        )


@dataclass(frozen=True)
class Baseline:
    """What was there.

    Attributes:
        toolset: the toolset.
        base_url: the Letta server.
        version: its version.
        server: the name of the MCP server's entry.
        agents: each agent.
        settings: settings of the toolset's registered tools, by name.
        registry: digests of what agents saw of them, by name.
        entry: the id of the MCP server's entry; None when there was none.
        renamed: the new name of each tool that the apply renames.
        holders: other agents that lose a tool by it, by the tool's name.
        saved: when, ISO 8601 in UTC.
        complete: whether that apply came to its end.
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
        """The agent of an id."""
        return next((agent for agent in self.agents if agent.id == agent_id), None)


class Baselines:
    """The folder of the baselines.

    Args:
        folder: created when it is needed.
        seal: tells what was saved by this user from what was edited or brought along.
    """

    def __init__(self, folder: Path, seal: Seal | None = None) -> None:
        self.folder = folder
        self._seal = seal or Seal()

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the folder's lock; the system gives it back when the process dies.

        Raises:
            ConcurrentRunError: somebody else holds it.
        """
        with contextlib.ExitStack() as held:
            try:
                folder = held.enter_context(
                    Folder.open_path(str(self.folder), create=True)
                )
                held.enter_context(lock_output_folder(folder))
            except Locked:
                raise ConcurrentRunError(
                    f"another apply or rollback is under way ({self.folder})"
                ) from None
            except OSError as error:
                raise StateError(
                    f"{self.folder} cannot be used: {error.strerror or error}"
                ) from None
            yield

    def begin(self, baseline: Baseline) -> Baseline:
        """Keeps what is there now, or what was there before a run that was interrupted.

        The second is the better reference: what is there now is half-way.

        Raises:
            StateError: it cannot be kept.
        """
        for older in reversed(self.list_all(baseline.toolset, baseline.base_url)):
            if older.complete:
                break
            if {a.id for a in older.agents} == {a.id for a in baseline.agents}:
                return self._continue(older, baseline)
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        kept = replace(baseline, saved=now)
        self._write(kept)
        return kept

    def _continue(self, older: Baseline, now: Baseline) -> Baseline:
        """What was there before the interrupted run, with what this one makes of it."""
        after = {agent.id: agent for agent in now.agents}
        agents = tuple(
            replace(
                agent,
                tools_after=after[agent.id].tools_after,
                rules_after=after[agent.id].rules_after,
            )
            for agent in older.agents
        )
        kept = replace(
            older,
            agents=agents,
            renamed={**older.renamed, **now.renamed},
            holders={**now.holders, **older.holders},
        )
        self._write(kept)
        return kept

    def finish(self, baseline: Baseline) -> None:
        """Notes that the apply came to its end."""
        self._write(replace(baseline, complete=True))

    def finish_latest(self, toolset: str, base_url: str) -> None:
        """Notes that an apply which was interrupted has nothing left to do."""
        kept = self.list_all(toolset, base_url)
        if kept and not kept[-1].complete:
            self.finish(kept[-1])

    def path(self, baseline: Baseline) -> Path:
        """The file of a baseline."""
        stamp = "".join(char for char in baseline.saved[:26] if char.isdigit())
        return self.folder / f"{baseline.toolset}-{stamp}.json"

    def list_all(self, toolset: str, base_url: str) -> list[Baseline]:
        """Every baseline of a toolset on a server, oldest first.

        What this user did not save as it is now is left out: `strangers` names it.

        Raises:
            StateError: there is no key to tell one from the other.
        """
        found = []
        for file in self._files(toolset):
            with contextlib.suppress(ForeignFileError):
                found.append(self.load(file))
        mine = [b for b in found if (b.toolset, b.base_url) == (toolset, base_url)]
        return sorted(mine, key=lambda baseline: baseline.saved)

    def list_foreign_files(self, toolset: str) -> list[str]:
        """Why files that look like a toolset's baselines are not taken for ones.

        Raises:
            StateError: as of `all`.
        """
        lines = []
        for file in self._files(toolset):
            try:
                self.load(file)
            except ForeignFileError as error:
                lines.append(str(error))
        return lines

    def _files(self, toolset: str) -> list[Path]:
        return sorted(self.folder.glob(f"{toolset}-*.json"))

    def get_latest(self, toolset: str, base_url: str) -> Baseline:
        """The newest one.

        Raises:
            StateError: there is none.
        """
        found = self.list_all(toolset, base_url)
        if not found:
            raise StateError(
                f"there is no baseline of {toolset} on {base_url} in {self.folder}:"
                " nothing was applied from here. A server that attaches at its start keeps"
                " them where its log says; --state or TOOLCAST_LETTA_STATE names the folder"
                + "".join(f"\n  {line}" for line in self.list_foreign_files(toolset))
            )
        return found[-1]

    def load(self, path: Path) -> Baseline:
        """The baseline of a file.

        Raises:
            StateError: as of `Seal.load`.
        """
        value = self._seal.load(path, _FORMAT)
        del value["format"]
        value["agents"] = tuple(
            AgentBaseline(**convert_lists(agent)) for agent in value["agents"]
        )
        value["holders"] = convert_lists(value["holders"])
        return Baseline(**value)

    def _write(self, baseline: Baseline) -> None:
        self._seal.save(
            self.path(baseline), {"format": _FORMAT, **asdict(baseline)}, create=True
        )
