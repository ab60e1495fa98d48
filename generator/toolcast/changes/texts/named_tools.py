"""Which tools a text names."""

from __future__ import annotations

import re
from functools import lru_cache

from ...facts.tool_names import tool_names
from ...model.model import Toolset, Workspace

__all__ = ["NamedTools", "named_in", "unknown_in"]

_TOKEN = re.compile(r"(`?)([A-Za-z0-9_][A-Za-z0-9_.-]*)(`?)")
_IS_NAME = re.compile(r"[_-]|[a-z][A-Z]")
"""What is written like this is a name wherever it stands; one plain word needs backticks."""

NamedTools = frozenset[str]
"""Names of tools, as they are now."""


def named_in(text: str, toolset: Toolset, own: str) -> NamedTools:
    """The other tools that a text of a toolset names, former names as present ones.

    Args:
        own: the name of the tool whose text it is; empty for a text of the toolset.
    """
    names = _names(toolset)
    found = set()
    for match in _TOKEN.finditer(text):
        word = match[2].rstrip(".-")
        if word in names and (_IS_NAME.search(word) or (match[1] and match[3])):
            found.add(names[word])
    return frozenset(found - {own})


def unknown_in(text: str, toolset: Toolset, workspace: Workspace) -> frozenset[str]:
    """The names in a text that look like those of tools and are not, or not any more."""
    if "_" not in text and "`" not in text and "-" not in text:
        return frozenset()
    names = tool_names(toolset, workspace)
    unknown = [word for word, _ in names.unknown_in(text)]
    return frozenset([*unknown, *(word for word, _ in names.gone_in(text))])


@lru_cache(maxsize=8)
def _names(toolset: Toolset) -> dict[str, str]:
    """The names that texts may give a tool, and what it is called."""
    names = {
        name: name for server in toolset.mcp_servers for name in server.declared_names
    }
    for tool in toolset.tools:
        names.update(dict.fromkeys(tool.renamed_from, tool.name))
    names.update({tool.name: tool.name for tool in toolset.tools})
    return names
