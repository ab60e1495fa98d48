"""Memory blocks of agents: render, compare and write the part from the specs.

An agent treats its memory as true. So the text describes existing tools and tables, and
contains no instructions. Toolcast writes only the part between two markers; the agent
owns the rest of the block.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from toolcast.extension_api import Toolset, ToolSpec

from .block_parts import BlockTextError, build_markers, insert_part
from .plan.desired_state import DesiredState
from .specs import build_tool_part
from .state.seal import Seal
from .v1.api import LettaApi

_FORMAT = "toolcast-letta-blocks/1"


class BlockError(Exception):
    """Failure to read, compare or write a block; one reason on each line."""


@dataclass(frozen=True)
class BlockChange:
    """A memory block of an agent, with its current and its desired value.

    Attributes:
        agent: the agent's name in the toolset.
        agent_id: the agent's id in Letta.
        label: the block's label.
        before: its current value.
        after: its desired value.
    """

    agent: str
    agent_id: str
    label: str
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        """Whether the current value differs from the desired one."""
        return self.before != self.after


def list_block_changes(
    api: LettaApi, toolset: Toolset, desired: DesiredState
) -> list[BlockChange]:
    """Return the current and desired value of each block that the toolset declares.

    Blocks that already match are included.

    Raises:
        BlockError: a block does not exist, is too short for the text, or has invalid
            markers. The message lists all such blocks.
        LettaError: a request failed.
    """
    changes: list[BlockChange] = []
    problems: list[str] = []
    for agent in desired.agents:
        for block in agent.blocks:
            label = f"the block `{block.label}` of {agent.name}"
            received = api.find_block(agent.id, block.label)
            if received is None:
                problems.append(f"{label} does not exist: create it in Letta")
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
                    f"{label} would have {len(after)} characters; its limit is {limit}"
                )
            changes.append(BlockChange(agent.name, agent.id, block.label, value, after))
    if problems:
        raise BlockError("\n".join(problems))
    return changes


def format_block_changes(changes: Sequence[BlockChange]) -> Iterator[str]:
    """Yield the lines of a unified diff for each block that differs.

    A block that matches the specs has one line that says so; the lines have no line
    ends.
    """
    for change in changes:
        if not change.is_changed:
            yield f"{change.agent}: `{change.label}` matches the specs"
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
    """Save the changes with a signature, for review and for writing them later.

    Raises:
        StateError: see `Seal.save`.
    """
    value = {
        "format": _FORMAT,
        "toolset": toolset,
        "server_url": base_url,
        "blocks": [asdict(change) for change in changes],
    }
    seal.save(path, value)


def load_block_changes(
    path: Path, toolset: str, base_url: str, seal: Seal
) -> list[BlockChange]:
    """Load changes that `save_block_changes` saved.

    Raises:
        BlockError: the file is for another toolset or server.
        StateError: see `Seal.load`.
    """
    value = seal.load(path, _FORMAT)
    if (value["toolset"], value["server_url"]) != (toolset, base_url):
        raise BlockError(f"{path} is for {value['toolset']} at {value['server_url']}")
    return [BlockChange(**block) for block in value["blocks"]]


def write_block_changes(
    api: LettaApi,
    reviewed: Sequence[BlockChange],
    current_changes: Sequence[BlockChange],
) -> list[str]:
    """Write reviewed changes to the agents' blocks.

    Args:
        api: the Letta server.
        reviewed: the saved changes.
        current_changes: the same blocks with their current values.

    Returns:
        Descriptions of the blocks that were written; blocks that already have the
            desired value are skipped.

    Raises:
        BlockError: a block or its desired value has changed since the changes were
            saved, and nothing was written; or the server stored another value than the
            sent one.
    """
    changes_by_block = {
        (change.agent_id, change.label): change for change in current_changes
    }
    problems = []
    for change in reviewed:
        current = changes_by_block.get((change.agent_id, change.label))
        label = f"`{change.label}` of {change.agent}"
        if current is None:
            problems.append(f"the specs no longer declare {label}")
        elif current.after != change.after:
            problems.append(
                f"the specs' text for {label} has changed since it was shown"
            )
        # An earlier run may already have written the desired value.
        elif current.before not in (change.before, change.after):
            problems.append(f"{label} was changed since it was shown")
    if problems:
        raise BlockError("\n".join([*problems, "show and review the blocks again"]))
    written = []
    for change in reviewed:
        current = changes_by_block[change.agent_id, change.label]
        if not current.is_changed:
            continue
        api.write_block(change.agent_id, change.label, change.after)
        # Letta has no conditional requests: read the block again to detect a change by
        # another client.
        if (api.find_block(change.agent_id, change.label) or ("", 0))[
            0
        ] != change.after:
            raise BlockError(
                f"`{change.label}` of {change.agent} differs from what was sent"
            )
        written.append(f"{change.agent}: `{change.label}` written")
    return written


def render_block(toolset: Toolset, content: str) -> str:
    """Return the toolset's part of a block, with its markers.

    Args:
        toolset: the toolset.
        content: `tools` for the attached tools, any other value for the tables that
            they use.

    Raises:
        BlockTextError: a text of the specs contains a marker.
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
    begin, end = build_markers(toolset.name)
    # `split_block` finds the part again only if each marker occurs once.
    if begin in text or end in text:
        raise BlockTextError(f"a summary or section contains `{begin}` or `{end}`")
    return f"{begin}\n{text}\n{end}"


def _render_tools(toolset: Toolset, attached: Sequence[ToolSpec]) -> Iterator[str]:
    yield f"The {len(attached)} attached tools of {toolset.name}:"
    sections = {section.name: section.heading for section in toolset.sections}
    # Tools without a declared section come last; None stands for them.
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
    yield "The tables that the attached tools use:"
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
        yield "- none"


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
