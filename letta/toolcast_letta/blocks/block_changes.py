"""Memory blocks as the specs want them: what would change, and writing exactly that."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from toolcast.model.model import Toolset
from toolcast_runtime.files.folder import Folder
from toolcast_runtime.files.regular_file import read_regular

from ..plan.desired_state import DesiredState
from ..settings import LettaSettings
from ..state.seal import Seal, SealError
from ..v1.api import LettaApi
from .block_text import BlockTextError, block_text, with_part

__all__ = [
    "BlockChange",
    "BlockError",
    "block_changes",
    "load_changes",
    "save_changes",
    "shown",
    "write_changes",
]

_FORMAT = "toolcast-letta-blocks/1"
_LARGEST = 16 * 1024 * 1024


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
        OSError: the file cannot be written.
        SealError: there is no key to seal it with.
    """
    value = {
        "format": _FORMAT,
        "toolset": toolset,
        "place": place,
        "blocks": [asdict(change) for change in changes],
    }
    sealed = {**value, "seal": seal.of(value)}
    text = json.dumps(sealed, indent=2, ensure_ascii=False)
    with Folder.at(str(path.parent)) as folder:
        # It holds what an agent remembers.
        data = f"{text}\n".encode("utf-8", "surrogatepass")
        folder.write(path.name, data, mode=0o600)


def load_changes(path: Path, toolset: str, place: str, seal: Seal) -> list[BlockChange]:
    """What was saved.

    Raises:
        BlockError: the file cannot be read, was changed, or is for something else.
    """
    try:
        value = json.loads(read_regular(str(path), _LARGEST))
        given = value.pop("seal", None)
        if value["format"] != _FORMAT:
            raise ValueError("another format")
        changes = [BlockChange(**one) for one in value["blocks"]]
        is_ours = seal.fits(value, given)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BlockError(f"{path} cannot be read: {why}") from None
    except SealError as error:
        raise BlockError(str(error)) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BlockError(f"{path} holds no blocks that this version saved") from None
    if not is_ours:
        raise BlockError(
            f"{path} was changed after it was saved, or somebody else did it"
        )
    if (value["toolset"], value["place"]) != (toolset, place):
        raise BlockError(f"{path} is for {value['toolset']} at {value['place']}")
    return changes


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
