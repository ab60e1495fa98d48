"""Which names a tool of a toolset can have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcast_runtime.core.definitions.tool import (
    distinct_name,
    look_alike_key,
    module_name,
    spec_name,
)

from ..analysis.name_limits import is_tool_name
from ..model.model import Toolset, ToolSpec
from ..model.spec_files import DEFINITIONS_FILE, TOOLSET_FILE
from .project_edit import EditRefusedError


def refuse_taken_name(toolset: Toolset, name: str, *own: ToolSpec | None) -> None:
    """Refuses a name that a tool of a toolset cannot have.

    Args:
        own: the tool that is to have it, which may have a former name of its own, and the
            same one as a killed run left it.

    Raises:
        EditRefusedError: with the reason.
    """
    if not is_tool_name(name):
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_")[:64]
        message = f"`{name}` is not a tool's name: 1 to 128 of A-Z a-z 0-9 _ . -"
        help_ = f"did you mean `{plain}`?" if plain else ""
        raise EditRefusedError(message, help_, is_usage=True)
    if f"{name}.yaml".casefold() in (TOOLSET_FILE, DEFINITIONS_FILE):
        raise EditRefusedError(
            f"`{name}.yaml` is the toolset's own file", "choose another name"
        )
    for other in toolset.tools:
        if other in own:
            continue
        if name == other.name:
            raise EditRefusedError(
                f"the toolset {toolset.name} has a tool `{name}` already"
            )
        if name in other.renamed_from:
            raise EditRefusedError(
                f"`{name}` is a former name of the tool `{other.name}`",
                "calls by it go there; choose another name",
            )
        if module_name(name) == other.module:
            raise EditRefusedError(
                f"`{name}` and the tool `{other.name}` would have the same module"
                f" `{module_name(name)}`",
                "choose another name",
            )
    key = look_alike_key(name)
    for reserved, reason in toolset.reserved_names.items():
        if look_alike_key(reserved) == key:
            like = "is" if reserved == name else f"looks like `{reserved}`, which is"
            raise EditRefusedError(f"`{name}` {like} reserved: {reason}")
    for server in toolset.mcp_servers:
        for theirs in server.declared_names:
            if look_alike_key(theirs) == key:
                like = "is" if theirs == name else f"looks like `{theirs}`,"
                raise EditRefusedError(
                    f"`{name}` {like} a tool of the MCP server `{server.name}`"
                )


def free_file_names(names: Iterable[str], tools: Iterable[ToolSpec]) -> dict[str, str]:
    """How the specs of new tools are called, without the ending, by the tools' names.

    A tool has its plain names where no other one has them, wherever letter case is not told
    apart: among the new ones, a tool whose name is its module comes first. It has its
    distinct name where another one does.

    Raises:
        EditRefusedError: a tool cannot have either.
    """
    taken: set[str] = set()
    for tool in tools:
        taken |= {tool.source.stem.casefold(), tool.module}
    found: dict[str, str] = {}
    for name in sorted(names, key=lambda one: (module_name(one) != one, one)):
        plain, distinct = spec_name(name), distinct_name(name)
        own = {plain.casefold(), module_name(name)}
        if own & taken:
            own, plain = {distinct}, distinct
        if own & taken:
            raise EditRefusedError(
                f"`{name}` and another tool would be one file, `{distinct}.yaml`"
            )
        taken |= own
        found[name] = plain
    return found
