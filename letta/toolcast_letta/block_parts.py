"""The part of a memory block that comes from the specs, between two markers."""

from __future__ import annotations


class BlockTextError(Exception):
    """The new text of a block cannot be built; the message states the reason."""


def build_markers(toolset: str) -> tuple[str, str]:
    """Return the first and the last line of the toolset's part of a memory block."""
    return f"[toolcast {toolset}: from the specs]", f"[toolcast {toolset}: end]"


def split_block(value: str, toolset: str) -> tuple[str, str, str]:
    """Return the text before the toolset's part, the part, and the text after it.

    The part includes its two markers. Without markers, the part and the text after it
    are empty.

    Raises:
        BlockTextError: only one marker occurs, a marker occurs several times, or the
            end marker is first.
    """
    begin, end = build_markers(toolset)
    counts = (value.count(begin), value.count(end))
    if counts == (0, 0):
        return value, "", ""
    start, stop = value.find(begin), value.find(end) + len(end)
    if counts != (1, 1) or stop < start:
        raise BlockTextError(
            f"it does not contain `{begin}` and `{end}` once each, in order: fix it by hand"
        )
    return value[:start], value[start:stop], value[stop:]


def insert_part(value: str, part: str, toolset: str) -> str:
    """Return a block's value with the toolset's part replaced, or appended if missing.

    An appended part is separated by a blank line. An empty part removes the existing
    one; without an existing one, the value is returned unchanged.

    Raises:
        BlockTextError: the value has invalid markers; see `split_block`.
    """
    before, old, after = split_block(value, toolset)
    if part and old:
        return before + part + after
    texts = [before.rstrip() if old or before.strip() else "", part, after.strip()]
    return "\n\n".join(text for text in texts if text) if part or old else value
