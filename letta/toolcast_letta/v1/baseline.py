"""What was there before an apply, kept in files, and the lock that lets one run at a time.

A baseline holds names, ids, rules and settings. It holds no secret, no message and no memory
of an agent.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcast.folder import Folder
from toolcast.output.lock import AnotherRun as Locked
from toolcast.output.lock import locked
from toolcast_runtime.files.regular_file import read_regular

from ..plan.current_state import AgentState

__all__ = ["AgentBaseline", "AnotherRun", "Baseline", "BaselineError", "Baselines"]

_FORMAT = "toolcast-letta-baseline/1"
_LARGEST = 16 * 1024 * 1024


class AnotherRun(Exception):
    """Another apply or rollback is under way in the same folder."""


class BaselineError(Exception):
    """There is no baseline, or a file holds none; the text says which."""


@dataclass(frozen=True)
class AgentBaseline:
    """One agent as it was: the ids of its tools by name, and its rules."""

    name: str
    id: str
    type: str
    tools: Mapping[str, str]
    rules: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, name: str, state: AgentState) -> AgentBaseline:
        """The baseline of an agent's state."""
        return cls(name, state.id, state.type, dict(state.tools), state.rules)


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
    saved: str = ""
    complete: bool = False

    def agent(self, agent_id: str) -> AgentBaseline | None:
        """The agent of an id."""
        return next((agent for agent in self.agents if agent.id == agent_id), None)


class Baselines:
    """The folder of the baselines.

    Args:
        folder: created when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the folder's lock; the system gives it back when the process dies.

        Raises:
            AnotherRun: somebody else holds it.
        """
        with contextlib.ExitStack() as held:
            folder = held.enter_context(Folder.at(str(self.folder), create=True))
            try:
                held.enter_context(locked(folder))
            except Locked:
                raise AnotherRun(
                    f"another apply or rollback is under way ({self.folder})"
                ) from None
            yield

    def begin(self, baseline: Baseline) -> Baseline:
        """Keeps what is there now, or what was there before a run that was interrupted.

        The second is the better reference: what is there now is half-way.
        """
        for older in reversed(self.all(baseline.toolset, baseline.base_url)):
            if older.complete:
                break
            if {a.id for a in older.agents} == {a.id for a in baseline.agents}:
                return older
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        kept = replace(baseline, saved=now)
        self._write(kept)
        return kept

    def finish(self, baseline: Baseline) -> None:
        """Notes that the apply came to its end."""
        self._write(replace(baseline, complete=True))

    def close(self, toolset: str, base_url: str) -> None:
        """Notes that an apply which was interrupted has nothing left to do."""
        kept = self.all(toolset, base_url)
        if kept and not kept[-1].complete:
            self.finish(kept[-1])

    def path(self, baseline: Baseline) -> Path:
        """The file of a baseline."""
        stamp = "".join(char for char in baseline.saved[:26] if char.isdigit())
        return self.folder / f"{baseline.toolset}-{stamp}.json"

    def all(self, toolset: str, base_url: str) -> list[Baseline]:
        """Every baseline of a toolset on a server, oldest first."""
        found = [self.load(file) for file in self.folder.glob(f"{toolset}-*.json")]
        mine = [b for b in found if (b.toolset, b.base_url) == (toolset, base_url)]
        return sorted(mine, key=lambda baseline: baseline.saved)

    def latest(self, toolset: str, base_url: str) -> Baseline:
        """The newest one.

        Raises:
            BaselineError: there is none.
        """
        found = self.all(toolset, base_url)
        if not found:
            raise BaselineError(
                f"there is no baseline of {toolset} on {base_url} in {self.folder}:"
                " nothing was applied from here"
            )
        return found[-1]

    def load(self, path: Path) -> Baseline:
        """The baseline of a file.

        Raises:
            BaselineError: it cannot be read, or holds none.
        """
        try:
            value = json.loads(read_regular(str(path), _LARGEST))
            if value["format"] != _FORMAT:
                raise ValueError("another format")
            del value["format"]
            value["agents"] = tuple(
                AgentBaseline(**{**agent, "rules": tuple(agent["rules"])})
                for agent in value["agents"]
            )
            return Baseline(**value)
        except OSError as error:
            raise BaselineError(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BaselineError(f"{path} holds no baseline") from None

    def _write(self, baseline: Baseline) -> None:
        text = json.dumps({"format": _FORMAT, **asdict(baseline)}, indent=2)
        with Folder.at(str(self.folder), create=True) as folder:
            data = f"{text}\n".encode()
            name = self.path(baseline).name
            folder.write(name, data, mode=0o600, durable=True)
