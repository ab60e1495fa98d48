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
from .specs import build_tool_part
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


def list_block_changes(
    api: LettaApi, toolset: Toolset, desired: DesiredState
) -> list[BlockChange]:
    """Every block that the toolset declares, of the agents that are wanted.

    Raises:
        BlockError: a block is not there, cannot take the text, or its marks are broken.
        LettaError: a request failed.
    """
    changes: list[BlockChange] = []
    problems: list[str] = []
    for agent in desired.agents:
        for block in agent.blocks:
            label = f"the block `{block.label}` of {agent.name}"
            received = api.find_block(agent.id, block.label)
            if received is None:
                problems.append(f"{label} is not there: create it in Letta first")
                continue
            value, limit = received
            try:
                after = insert_part(
                    value, render_block(toolset, block.content), toolset.name
                )
            except BlockTextError as error:
                problems.append(f"{label}: {error}")
                continue
            if len(after) > limit:
                problems.append(
                    f"{label} would have {len(after)} characters, and its limit is {limit}"
                )
            changes.append(BlockChange(agent.name, agent.id, block.label, value, after))
    if problems:
        raise BlockError("\n".join(problems))
    return changes


def format_block_changes(changes: Sequence[BlockChange]) -> Iterator[str]:
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


def save_block_changes(
    changes: Sequence[BlockChange], toolset: str, base_url: str, path: Path, seal: Seal
) -> None:
    """Keeps what was shown, for whoever reviews it and for writing it.

    Raises:
        StateError: as of `Seal.save`.
    """
    value = {
        "format": _FORMAT,
        "toolset": toolset,
        "place": base_url,
        "blocks": [asdict(change) for change in changes],
    }
    seal.save(path, value)


def load_block_changes(
    path: Path, toolset: str, base_url: str, seal: Seal
) -> list[BlockChange]:
    """What was saved.

    Raises:
        BlockError: it is for something else.
        StateError: as of `Seal.load`.
    """
    value = seal.load(path, _FORMAT)
    if (value["toolset"], value["place"]) != (toolset, base_url):
        raise BlockError(f"{path} is for {value['toolset']} at {value['place']}")
    return [BlockChange(**one) for one in value["blocks"]]


def write_block_changes(
    api: LettaApi,
    reviewed: Sequence[BlockChange],
    current_changes: Sequence[BlockChange],
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
    changes_by_block = {(one.agent_id, one.label): one for one in current_changes}
    problems = []
    for change in reviewed:
        current = changes_by_block.get((change.agent_id, change.label))
        label = f"`{change.label}` of {change.agent}"
        if current is None:
            problems.append(f"the specs do not have {label} any more")
        elif current.after != change.after:
            problems.append(
                f"{label} was shown with another text, or changed since then"
            )
        elif current.before not in (change.before, change.after):
            problems.append(f"somebody has changed {label} since it was shown")
    if problems:
        raise BlockError("\n".join([*problems, "show them again"]))
    written = []
    for change in reviewed:
        current = changes_by_block[change.agent_id, change.label]
        if not current.changes:
            continue
        api.write_block(change.agent_id, change.label, change.after)
        if (api.find_block(change.agent_id, change.label) or ("", 0))[
            0
        ] != change.after:
            raise BlockError(
                f"`{change.label}` of {change.agent} is not as it was sent"
            )
        written.append(f"{change.agent}: `{change.label}` written")
    return written


def render_block(toolset: Toolset, content: str) -> str:
    """The toolset's part of a block, with its marks; the same for every agent.

    Args:
        content: `tools`, those that are attached; or `data`, the tables that they read and write.

    Raises:
        BlockTextError: a spec's text holds one of the marks.
    """
    attached = [
        tool for tool in toolset.tools if build_tool_part(toolset, tool)["attached"]
    ]
    lines = (
        _render_tools(toolset, attached)
        if content == "tools"
        else _render_data(attached)
    )
    text = "\n".join(lines)
    begin, end = _build_markers(toolset.name)
    if begin in text or end in text:
        raise BlockTextError(f"a summary or section holds `{begin}` or `{end}`")
    return f"{begin}\n{text}\n{end}"


def _render_tools(toolset: Toolset, attached: Sequence[ToolSpec]) -> Iterator[str]:
    yield f"The {len(attached)} tools of {toolset.name} that are attached:"
    sections = {section.name: section.heading for section in toolset.sections}
    section_names = [*sections, None]
    for name in section_names:
        section_tools = [
            tool
            for tool in sorted(attached, key=lambda tool: tool.name)
            if tool.section == name or (name is None and tool.section not in sections)
        ]
        if not section_tools:
            continue
        if name is not None:
            yield f"{_collapse_whitespace(sections[name])}:"
        for tool in section_tools:
            yield f"- {tool.name}: {_collapse_whitespace(tool.summary)}"


def _render_data(attached: Sequence[ToolSpec]) -> Iterator[str]:
    yield "Where the data of the attached tools lies:"
    tables: dict[tuple[str, str], dict[str, list[str]]] = {}
    for tool in sorted(attached, key=lambda tool: tool.name):
        data = tool.data or {}
        for verb, key in (
            ("read", "reads"),
            ("written", "writes"),
            ("deleted", "deletes"),
        ):
            for table in data.get(key, ()):
                users = tables.setdefault((data.get("pool", ""), table), {})
                users.setdefault(verb, []).append(tool.name)
    for (pool, table), verbs in sorted(tables.items()):
        uses = "; ".join(
            f"{verb} by {', '.join(names)}" for verb, names in verbs.items()
        )
        pool_note = f" (pool {pool})" if pool else ""
        yield f"- {table}{pool_note}: {uses}"
    if not tables:
        yield "- no spec names a table"


def insert_part(value: str, part: str, toolset: str) -> str:
    """A block's value with the toolset's part in its place, or at its end.

    Raises:
        BlockTextError: the marks do not stand there once each, in order.
    """
    begin, end = _build_markers(toolset)
    counts = (value.count(begin), value.count(end))
    if counts == (0, 0):
        return f"{value.rstrip()}\n\n{part}" if value.strip() else part
    start, stop = value.find(begin), value.find(end)
    if counts != (1, 1) or stop < start:
        raise BlockTextError(
            f"`{begin}` and `{end}` do not stand in it once each: mend it by hand"
        )
    return value[:start] + part + value[stop + len(end) :]


def _build_markers(toolset: str) -> tuple[str, str]:
    return f"[toolcast {toolset}: from the specs]", f"[toolcast {toolset}: end]"


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
