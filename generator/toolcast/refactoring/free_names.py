"""Validation of new tool names, and file names for new specs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcast_runtime.core.definitions.tool import (
    distinct_name,
    get_similarity_key,
    module_name,
    spec_name,
)

from ..analysis.name_limits import is_tool_name
from ..model.model import Toolset, ToolSpec
from ..model.spec_files import DEFINITIONS_FILE, TOOLSET_FILE
from .project_edit import EditRefusedError


def validate_tool_name(toolset: Toolset, name: str, *own: ToolSpec | None) -> None:
    """Raise EditRefusedError if a new tool of a toolset cannot have a name.

    A name must be valid, and neither used, reserved, nor similar to a reserved name or
    a tool of an external server.

    Args:
        toolset: the toolset of the tool.
        name: the new name.
        own: specs that do not make the name unavailable: the tool to rename, which may
            have the name as a previous one, and its renamed copy after an interrupted
            run.
    """
    if not is_tool_name(name):
        suggestion = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_")[:64]
        message = (
            f"`{name}` is not a valid tool name: use 1 to 128 of A-Z a-z 0-9 _ . -"
        )
        help_ = f"did you mean `{suggestion}`?" if suggestion else ""
        raise EditRefusedError(message, help_, is_usage=True)
    if f"{name}.yaml".casefold() in (TOOLSET_FILE, DEFINITIONS_FILE):
        raise EditRefusedError(
            f"`{name}.yaml` is a file of the toolset itself", "choose another name"
        )
    for other in toolset.tools:
        if other in own:
            continue
        if name == other.name:
            raise EditRefusedError(
                f"the toolset {toolset.name} already has a tool `{name}`"
            )
        if name in other.renamed_from:
            raise EditRefusedError(
                f"`{name}` is a previous name of the tool `{other.name}`",
                f"choose another name: calls to `{name}` run `{other.name}`",
            )
        if module_name(name) == other.module:
            raise EditRefusedError(
                f"`{name}` and the tool `{other.name}` would have the same module"
                f" `{module_name(name)}`",
                "choose another name",
            )
    # A reserved name is also refused in a similar spelling: readers would confuse the
    # two.
    key = get_similarity_key(name)
    for reserved, reason in toolset.reserved_names.items():
        if get_similarity_key(reserved) == key:
            verb = "is" if reserved == name else f"looks like `{reserved}`, which is"
            raise EditRefusedError(f"`{name}` {verb} reserved: {reason}")
    for server in toolset.mcp_servers:
        for external in server.declared_names:
            if get_similarity_key(external) == key:
                verb = "is" if external == name else f"looks like `{external}`,"
                raise EditRefusedError(
                    f"`{name}` {verb} a tool of the MCP server `{server.name}`"
                )


def choose_file_names(
    names: Iterable[str], tools: Iterable[ToolSpec]
) -> dict[str, str]:
    """Return the name of the spec file, without suffix, for each new tool.

    A tool gets its plain file name unless another tool uses that file or module on a
    file system that ignores case. In that case the file name gets a hash. Among the new
    tools, those whose name is also their module name are first in choosing.

    Args:
        names: the names of the new tools.
        tools: the existing tools.

    Raises:
        EditRefusedError: the file name with a hash is also in use.
    """
    used: set[str] = set()
    for tool in tools:
        used |= {tool.source.stem.casefold(), tool.module}
    file_names: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (module_name(name) != name, name)):
        file_name = spec_name(name)
        own_names = {file_name.casefold(), module_name(name)}
        if own_names & used:
            file_name = distinct_name(name)
            own_names = {file_name}
        if own_names & used:
            raise EditRefusedError(
                f"`{name}` and another tool would have the same file `{file_name}.yaml`"
            )
        used |= own_names
        file_names[name] = file_name
    return file_names
