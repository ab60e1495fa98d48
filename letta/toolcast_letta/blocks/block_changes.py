"""Memory blocks as the specs want them: what would change, and writing exactly that."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from toolcast.model.model import Toolset

from ..plan.desired_state import DesiredState
from ..settings import LettaSettings
from ..state.seal import Seal
from ..v1.api import LettaApi
from .block_text import BlockTextError, block_text, with_part

_FORMAT = "toolcast-letta-blocks/1"


class BlockError(Exception):
    """A block cannot be read, planned or written; the text says why, a line a reason."""


@dataclass(frozen=True)
class BlockChange:
    """One block of one agent.

    Attributes:
        agent: the toolset's name for the agent.
        agent_id: Letta's id of it.
        label: the block's label.
        before: its value.
        after: what it should be.
    """

    agent: str
    agent_id: str
    label: str
    before: str
    after: str

    @property
    def changes(self) -> bool:
        """Whether it is not as it should be."""
        return self.before != self.after


def block_changes(
    api: LettaApi, toolset: Toolset, settings: LettaSettings, desired: DesiredState
) -> list[BlockChange]:
    """Every block that the toolset declares, of the agents that are wanted.

    Raises:
        BlockError: a block is not there, cannot take the text, or its marks are broken.
        LettaError: a request failed.
    """
    ids = {agent.name: agent.id for agent in desired.agents}
    found: list[BlockChange] = []
    problems: list[str] = []
    for agent in settings.agents:
        for block in agent.blocks if agent.name in ids else ():
            what = f"the block `{block.label}` of {agent.name}"
            there = api.block(ids[agent.name], block.label)
            if there is None:
                problems.append(f"{what} is not there: create it in Letta first")
                continue
            value, limit = there
            try:
                after = with_part(
                    value, block_text(toolset, block.content), toolset.name
                )
            except BlockTextError as error:
                problems.append(f"{what}: {error}")
                continue
            if len(after) > limit:
                problems.append(
                    f"{what} would have {len(after)} characters, and its limit is {limit}"
                )
            found.append(
                BlockChange(agent.name, ids[agent.name], block.label, value, after)
            )
    if problems:
        raise BlockError("\n".join(problems))
    return found


def shown(changes: Sequence[BlockChange]) -> Iterator[str]:
    """What would be written, as a difference of lines."""
    for change in changes:
        if not change.changes:
            yield f"{change.agent}: `{change.label}` is as the specs say"
            continue
        yield from difflib.unified_diff(
            change.before.splitlines(),
            change.after.splitlines(),
            f"{change.agent}: {change.label} (now)",
            f"{change.agent}: {change.label} (from the specs)",
            lineterm="",
        )


def save_changes(
    changes: Sequence[BlockChange], toolset: str, place: str, path: Path, seal: Seal
) -> None:
    """Keeps what was shown, for whoever reviews it and for writing it.

    Raises:
        StateError: as of `Seal.save`.
    """
    value = {
        "format": _FORMAT,
        "toolset": toolset,
        "place": place,
        "blocks": [asdict(change) for change in changes],
    }
    seal.save(path, value)


def load_changes(path: Path, toolset: str, place: str, seal: Seal) -> list[BlockChange]:
    """What was saved.

    Raises:
        BlockError: it is for something else.
        StateError: as of `Seal.load`.
    """
    value = seal.load(path, _FORMAT)
    if (value["toolset"], value["place"]) != (toolset, place):
        raise BlockError(f"{path} is for {value['toolset']} at {value['place']}")
    return [BlockChange(**one) for one in value["blocks"]]


def write_changes(
    api: LettaApi, agreed: Sequence[BlockChange], now: Sequence[BlockChange]
) -> list[str]:
    """Writes exactly what was agreed to; what is written already stays.

    Args:
        agreed: what was shown and saved.
        now: the same blocks as they are now.

    Returns:
        what was written, a line each.

    Raises:
        BlockError: a block, or what the specs say, has changed since then; nothing was
            written. Or a block is not as it was sent.
    """
    there = {(one.agent_id, one.label): one for one in now}
    problems = []
    for change in agreed:
        current = there.get((change.agent_id, change.label))
        what = f"`{change.label}` of {change.agent}"
        if current is None:
            problems.append(f"the specs do not have {what} any more")
        elif current.after != change.after:
            problems.append(
                f"{what} was shown with another text, or changed since then"
            )
        elif current.before not in (change.before, change.after):
            problems.append(f"somebody has changed {what} since it was shown")
    if problems:
        raise BlockError("\n".join([*problems, "show them again"]))
    done = []
    for change in agreed:
        current = there[change.agent_id, change.label]
        if not current.changes:
            continue
        api.write_block(change.agent_id, change.label, change.after)
        if (api.block(change.agent_id, change.label) or ("", 0))[0] != change.after:
            raise BlockError(
                f"`{change.label}` of {change.agent} is not as it was sent"
            )
        done.append(f"{change.agent}: `{change.label}` written")
    return done
