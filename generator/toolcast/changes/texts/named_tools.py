"""Which tools a text names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ...facts.names.name_mentions import mention_pattern, mentions_in
from ...facts.names.tool_names import tool_names
from ...model.model import Toolset, Workspace

__all__ = ["NamedTools", "named_in", "names_of", "unknown_in"]

_TOKEN = re.compile(r"[A-Za-z0-9_.-]+")

NamedTools = frozenset[str]
"""Names of tools, as they are now."""


def named_in(text: str, names: Mapping[str, str], own: str) -> NamedTools:
    """The other tools that a text names.

    Args:
        names: what texts may call tools, each with the name that stands for it.
        own: the name of the tool whose text it is; empty for a text of the toolset.
    """
    # Of many names few stand in a text: those that may are looked for as all rules do.
    tokens = {each.strip(".") for each in _TOKEN.findall(text)}
    tokens |= {part for token in tokens if "." in token for part in token.split(".")}
    pattern = mention_pattern(tokens & names.keys())
    mentions = (m for m in mentions_in(text, pattern) if not m.is_code)
    return frozenset(names[mention.name] for mention in mentions) - {own}


def unknown_in(text: str, toolset: Toolset, workspace: Workspace) -> frozenset[str]:
    """The names in a text that look like those of tools and are not, or not any more."""
    if "_" not in text and "`" not in text and "-" not in text:
        return frozenset()
    names = tool_names(toolset, workspace)
    unknown = [word for word, _ in names.unknown_in(text)]
    return frozenset([*unknown, *(word for word, _ in names.gone_in(text))])


@lru_cache(maxsize=8)
def names_of(toolset: Toolset) -> Mapping[str, str]:
    """What texts of a toolset may call tools, each with its present name."""
    names = {
        name: name
        for server in toolset.listed_servers
        for name in server.declared_names
    }
    for tool in toolset.tools:
        names.update(dict.fromkeys(tool.renamed_from, tool.name))
    names.update({tool.name: tool.name for tool in toolset.tools})
    return names
