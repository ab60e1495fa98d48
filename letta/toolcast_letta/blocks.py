"""Memory blocks of agents: what the specs say in them, what would change, and writing that.

An agent reads its memory as the truth. So a text says what is, in the words of the specs'
summaries, and never what the agent should do. The block is the agent's own: only what stands
between two marks is written, and the rest stays as it is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from toolcast.extension_api import Toolset, ToolSpec

from .plan.desired_state import DesiredState
from .specs import tool_part
from .state.seal import Seal
from .v1.api import LettaApi

_FORMAT = "toolcast-letta-blocks/1"


class BlockError(Exception):
    """A block cannot be read, planned or written; the text says why, a line a reason."""


class BlockTextError(Exception):
    """A block's text cannot be put together; the message says why."""


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
    api: LettaApi, toolset: Toolset, desired: DesiredState
) -> list[BlockChange]:
    """Every block that the toolset declares, of the agents that are wanted.

    Raises:
        BlockError: a block is not there, cannot take the text, or its marks are broken.
        LettaError: a request failed.
    """
    found: list[BlockChange] = []
    problems: list[str] = []
    for agent in desired.agents:
        for block in agent.blocks:
            what = f"the block `{block.label}` of {agent.name}"
            there = api.block(agent.id, block.label)
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
            found.append(BlockChange(agent.name, agent.id, block.label, value, after))
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


def block_text(toolset: Toolset, content: str) -> str:
    """The toolset's part of a block, with its marks; the same for every agent.

    Args:
        content: `tools`, those that are attached; or `data`, the tables that they read and write.

    Raises:
        BlockTextError: a spec's text holds one of the marks.
    """
    attached = [tool for tool in toolset.tools if tool_part(toolset, tool)["attached"]]
    lines = _tools(toolset, attached) if content == "tools" else _data(attached)
    text = "\n".join(lines)
    begin, end = _marks(toolset.name)
    if begin in text or end in text:
        raise BlockTextError(f"a summary or section holds `{begin}` or `{end}`")
    return f"{begin}\n{text}\n{end}"


def _tools(toolset: Toolset, attached: Sequence[ToolSpec]) -> Iterator[str]:
    yield f"The {len(attached)} tools of {toolset.name} that are attached:"
    sections = {section.name: section.heading for section in toolset.sections}
    order = [*sections, None]
    for name in order:
        inside = [
            tool
            for tool in sorted(attached, key=lambda tool: tool.name)
            if tool.section == name or (name is None and tool.section not in sections)
        ]
        if not inside:
            continue
        if name is not None:
            yield f"{_one_line(sections[name])}:"
        for tool in inside:
            yield f"- {tool.name}: {_one_line(tool.summary)}"


def _data(attached: Sequence[ToolSpec]) -> Iterator[str]:
    yield "Where the data of the attached tools lies:"
    places: dict[tuple[str, str], dict[str, list[str]]] = {}
    for tool in sorted(attached, key=lambda tool: tool.name):
        data = tool.data or {}
        for verb, key in (
            ("read", "reads"),
            ("written", "writes"),
            ("deleted", "deletes"),
        ):
            for table in data.get(key, ()):
                place = places.setdefault((data.get("pool", ""), table), {})
                place.setdefault(verb, []).append(tool.name)
    for (pool, table), verbs in sorted(places.items()):
        uses = "; ".join(
            f"{verb} by {', '.join(names)}" for verb, names in verbs.items()
        )
        where = f" (pool {pool})" if pool else ""
        yield f"- {table}{where}: {uses}"
    if not places:
        yield "- no spec names a table"


def with_part(value: str, part: str, toolset: str) -> str:
    """A block's value with the toolset's part in its place, or at its end.

    Raises:
        BlockTextError: the marks do not stand there once each, in order.
    """
    begin, end = _marks(toolset)
    counts = (value.count(begin), value.count(end))
    if counts == (0, 0):
        return f"{value.rstrip()}\n\n{part}" if value.strip() else part
    start, stop = value.find(begin), value.find(end)
    if counts != (1, 1) or stop < start:
        raise BlockTextError(
            f"`{begin}` and `{end}` do not stand in it once each: mend it by hand"
        )
    return value[:start] + part + value[stop + len(end) :]


def _marks(toolset: str) -> tuple[str, str]:
    return f"[toolcast {toolset}: from the specs]", f"[toolcast {toolset}: end]"


def _one_line(text: str) -> str:
    return " ".join(text.split())
