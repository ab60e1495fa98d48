"""What the specs say into an agent's memory block: which tools it has, where their data lies.

An agent reads its memory as the truth. So a text says what is, in the words of the specs'
summaries, and never what the agent should do. The block is the agent's own: only what stands
between two marks is written, and the rest stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcast.model.model import Toolset, ToolSpec

from ..config import tool_part

CONTENTS = ("tools", "data")
"""What a block can hold: the attached tools, or the tables that they read and write."""


class BlockTextError(Exception):
    """A block's text cannot be put together; the message says why."""


def block_text(toolset: Toolset, content: str) -> str:
    """The toolset's part of a block, with its marks; the same for every agent.

    Args:
        content: one of `CONTENTS`.

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
            ("deleted", "destroys"),
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
