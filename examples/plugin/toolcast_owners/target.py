"""The target `owners`: a page per toolset with the owner of each tool."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolcast.extension_api import (
    Code,
    Context,
    MarkdownShape,
    Target,
    Toolset,
    ToolSpec,
    encode_cell,
    encode_markdown_header,
    encode_table_row,
)


class OwnersView(NamedTuple):
    """The values that the template prints."""

    header: Code
    rows: Sequence[Code]
    shape: MarkdownShape = MarkdownShape(("# Owners",))


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    rows = [_row(tool) for tool in toolset.tools]
    view = OwnersView(encode_markdown_header(toolset), rows)
    return {"owners.md": context.render("owners/owners.md.jinja", view)}


def _row(tool: ToolSpec) -> Code:
    owner = tool.extensions.get("owner", {})
    team, channel = owner.get("team", "no team"), owner.get("channel", "")
    return encode_table_row(
        [encode_cell(tool.name), encode_cell(team), encode_cell(channel)]
    )


TARGET = Target(
    name="owners",
    purpose="A page with the owner of each tool.",
    generate=generate,
    reads=frozenset(["name", "owner"]),
    templates=__file__.removesuffix("target.py") + "templates",
)
