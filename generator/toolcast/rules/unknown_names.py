"""Rules that report unknown names; they share a check function that `KINDS` configures.

The annotations `names` and `keys_name` of the spec language declare which fields contain names
of which kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import NamedTuple

from ..analysis.prompt_docs import list_block_names
from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import PromptSpec, ResourceSpec, matches_entry
from ..parsing.tree import Path
from ..spec_language.name_fields import find_names
from ..suggestions import Suggestions, format_quoted_list, suggest_name
from ..targets.table import find_target, list_enabled_targets, list_target_names
from .rule import Problem, Rule, get_family_page, problem_at

Owner = ToolSpec | ResourceSpec | PromptSpec | Toolset | Workspace


class NameReference(NamedTuple):
    """A field of a spec that refers to a tool, section, client or other object by name.

    Attributes:
        name: the name.
        path: path of the field in the owner's file.
        owner: the object whose file contains the field.
        toolset: the toolset that is checked.
        workspace: the workspace.
    """

    name: str
    path: Path
    owner: Owner
    toolset: Toolset
    workspace: Workspace


class NameKind(NamedTuple):
    """A kind of names, with the existing names and the messages for unknown ones.

    Attributes:
        list_names: returns the existing names; None if they are unknown because of a problem
            that another rule reports.
        message: the message for an unknown name; `{}` is replaced by the name.
        help: the help for an unknown name that is not similar to an existing one.
        accepts: returns whether a name is valid although `list_names` does not contain it.
        find_problem: returns a message and a help for an unknown name with a known cause,
            such as a renamed tool; None for other names.
        cache_key: returns the part of the reference, in addition to the toolset, on which
            the existing names depend.
    """

    list_names: Callable[[NameReference], Collection[str] | None]
    message: str | Callable[[NameReference], str]
    help: str | Callable[[NameReference], str]
    accepts: Callable[[NameReference], bool] = lambda reference: False
    find_problem: Callable[[NameReference], tuple[str, str] | None] = lambda _: None
    cache_key: Callable[[NameReference], Hashable] = lambda reference: None


def unknown_names(id: str, *kinds: str) -> Rule:
    """Build a rule that reports unknown names of some kinds in all files of a toolset.

    Args:
        id: the id of the rule.
        kinds: the kinds of names to check, which are keys of `KINDS`.
    """

    def check(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
        owners: list[tuple[str, Owner]] = [("workspace", workspace)]
        owners.append(("toolset", toolset))
        owners += [("tool", tool) for tool in toolset.tools]
        owners += [(f"mcp_{spec.kind}", spec) for spec in toolset.mcp_specs]
        for kind in kinds:
            # Many references have the same existing names, so list these only once.
            cache: _NameCache = {}
            for file_kind, owner in owners:
                for path, name, at_key in find_names(
                    owner.source.tree,
                    file_kind,
                    frozenset([kind]),
                    workspace.extensions,
                ):
                    reference = NameReference(name, path, owner, toolset, workspace)
                    problem = _check_reference(KINDS[kind], reference, cache)
                    if problem is not None:
                        yield problem_at(owner, path, *problem, at_key=at_key)

    return Rule(id, Severity.ERROR, get_family_page(id), "toolset", check)


_NameCache = dict[Hashable, tuple[Collection[str] | None, Suggestions]]
"""The existing names and their suggestions, by `NameKind.cache_key`."""


def _check_reference(
    kind: NameKind, reference: NameReference, cache: _NameCache
) -> tuple[str, str] | None:
    """Return a message and a help if a name does not exist, otherwise None."""
    key = kind.cache_key(reference)
    if key not in cache:
        known_names = kind.list_names(reference)
        cache[key] = known_names, Suggestions(known_names or ())
    names, suggestions = cache[key]
    if names is None or reference.name in names or kind.accepts(reference):
        return None
    problem = kind.find_problem(reference)
    if problem is not None:
        return problem
    message, help_ = (
        text(reference) if callable(text) else text.format(reference.name)
        for text in (kind.message, kind.help)
    )
    return message, suggestions.near(reference.name) or help_


def _list_tools(reference: NameReference) -> list[str]:
    return [tool.name for tool in reference.toolset.tools]


def _is_server_tool(reference: NameReference) -> bool:
    servers = reference.toolset.listed_servers
    return any(server.declares_tool(reference.name) for server in servers)


def _find_renamed_tool(reference: NameReference) -> tuple[str, str] | None:
    """Return a message and a help if a name is the previous name of a tool, or None."""
    for tool in reference.toolset.tools:
        if reference.name in tool.renamed_from:
            message = f"the tool `{reference.name}` was renamed to `{tool.name}`"
            return message, f"write `{tool.name}`"
    return None


def _matches_tool(reference: NameReference) -> bool:
    """Return whether an entry of `allow` or `deny` is valid without being a tool name.

    Such an entry is a pattern that matches a tool, the name of an external server's tool, or,
    in `deny`, a reserved name.
    """
    if len(reference.path) == 3:
        return True  # `allow: "*"` is a string, so its path has no index.
    _, client_name, key, index = reference.path
    toolset = reference.toolset
    if key == "deny" and any(
        matches_entry(reference.name, name) for name in toolset.reserved_names
    ):
        return True
    client = toolset.find_client(str(client_name))
    entry = getattr(client, f"{key}_entries")[index]
    return bool(entry.names) if entry.is_pattern else _is_server_tool(reference)


def _list_mcp_names(reference: NameReference) -> list[str]:
    """Return the names of the resources or prompts that a client's list can contain."""
    specs = getattr(reference.toolset, str(reference.path[2]))
    return [spec.name for spec in specs]


def _find_pattern_problem(reference: NameReference) -> tuple[str, str] | None:
    """Return a message and a help for a pattern without a match or a renamed tool.

    None for any other unknown name.
    """
    text = reference.name
    if "*" not in text and ":" not in text:
        return _find_renamed_tool(reference)
    remove = f"remove `{text}`, or correct it"
    if not text.strip("*"):
        message = f"`{text}` matches no tool, because it is an entry of an array"
        return message, 'write `allow: "*"` without an array to allow every tool'
    if not text.startswith("section:"):
        if ":" in text:
            return f"no tool has the field `{text}`", remove
        return f"`{text}` matches no tool", remove
    section, sections = text.removeprefix("section:"), _list_sections(reference)
    if section in sections:
        return f"no tool is in the section `{section}`", remove
    message = f"the section `{section}` does not exist"
    return message, suggest_name(section, sections) if sections else remove


def _list_replacements(reference: NameReference) -> list[str]:
    """Return the tools of all toolsets, except the tool with the reference, sorted."""
    toolsets = reference.workspace.toolsets
    names = {tool.name for toolset in toolsets for tool in toolset.tools}
    return sorted(names - {getattr(reference.owner, "name", "")})


def _find_replacement_problem(reference: NameReference) -> tuple[str, str] | None:
    if reference.name == getattr(reference.owner, "name", ""):
        message = f"`replacement` of `{reference.name}` is the tool itself"
        return message, "use the name of another tool"
    return _find_renamed_tool(reference)


def _is_server_replacement(reference: NameReference) -> bool:
    servers = reference.toolset.mcp_servers
    return any(server.declares_tool(reference.name) for server in servers)


def _get_pool(reference: NameReference) -> str:
    """Return the pool of a tool's `data`, or an empty string."""
    owner = reference.owner
    data = owner.data if isinstance(owner, ToolSpec) else None
    return str((data or {}).get("pool", ""))


def _suggest_pool(reference: NameReference) -> str:
    for pool, tables in reference.toolset.pools.items():
        if reference.name in tables:
            return f"use the pool `{pool}`, which has this table"
    return "add the table to the pool in toolset.yaml, or correct its name"


def _list_sections(reference: NameReference) -> list[str]:
    return [section.name for section in reference.toolset.sections]


def _list_targets(reference: NameReference) -> list[str]:
    return list_target_names(reference.workspace.extensions)


def _list_exclusion_targets(reference: NameReference) -> list[str] | None:
    """Return the enabled targets; None if the tool of the exclusion does not exist."""
    index = reference.path[1]
    toolset = reference.toolset
    if toolset.exclusions[int(index)].tool not in _list_tools(reference):
        return None
    enabled = list_enabled_targets(
        tuple(toolset.targets), reference.workspace.extensions
    )
    return [target.name for target in enabled]


def _list_options(reference: NameReference) -> list[str] | None:
    """Return the options of a target; None if the target does not exist."""
    target = find_target(str(reference.path[1]), reference.workspace.extensions)
    return None if target is None else list(target.options)


def _suggest_options(reference: NameReference) -> str:
    options = _list_options(reference)
    if not options:
        return "remove it: the target has no options"
    return f"use one of {format_quoted_list(options)}, or remove it"


def _list_blocks(reference: NameReference) -> list[str]:
    return list_block_names(reference.toolset)


def _suggest_blocks(reference: NameReference) -> str:
    names = _list_blocks(reference)
    if not names:
        return "add the target `prompts` to the toolset, or remove the name"
    return f"use one of {format_quoted_list(names[:10])}"


def _list_item_properties(reference: NameReference) -> list[str] | None:
    """Return the properties of array items in `returns`; None if no items are declared."""
    owner = reference.owner
    schemas = owner.schemas if isinstance(owner, ToolSpec) else {}
    if "returns" not in schemas:
        return None
    names = [
        name
        for path, schema in schemas["returns"].subschemas.items()
        if "items" in path
        for name in schema.get("properties", ())
    ]
    return names or None


def _list_allowed_fields(reference: NameReference) -> list[str]:
    fields = getattr(reference.owner, "picks", None)
    return [*fields["allowed"]] if fields else []


def _get_file(reference: NameReference) -> Hashable:
    return reference.owner.source.file


_USE_TOOL = "use the name of a tool of the toolset, or remove it"

KINDS: Mapping[str, NameKind] = {
    "block": NameKind(
        _list_blocks, "the prompt docs have no block `{}`", _suggest_blocks
    ),
    "case_tool": NameKind(
        _list_tools,
        "the tool `{}` does not exist",
        _USE_TOOL,
        accepts=_is_server_tool,
        find_problem=_find_renamed_tool,
    ),
    "client": NameKind(
        lambda reference: [client.name for client in reference.toolset.clients],
        "the toolset has no client `{}`",
        "add it to `clients` of toolset.yaml",
    ),
    "enabled_target": NameKind(
        _list_exclusion_targets,
        "the toolset does not have the target `{}`",
        "remove the exclusion",
        cache_key=lambda reference: reference.path[1],
    ),
    "excluded_tool": NameKind(
        _list_tools,
        "the tool `{}` does not exist",
        _USE_TOOL,
        accepts=lambda reference: reference.name in reference.toolset.reserved_names,
    ),
    "item_property": NameKind(
        _list_item_properties,
        "no array in `returns` has items with the property `{}`",
        "use a property that `returns` declares for the items of an array",
        cache_key=_get_file,
    ),
    "mcp_entry": NameKind(
        _list_mcp_names,
        "`{}` matches no spec of this kind",
        "remove it, or correct it",
        accepts=lambda reference: any(
            matches_entry(reference.name, name) for name in _list_mcp_names(reference)
        ),
        cache_key=lambda reference: reference.path[2],
    ),
    "option": NameKind(
        _list_options,
        lambda reference: (
            f"the target `{reference.path[1]}` has no option `{reference.name}`"
        ),
        _suggest_options,
        cache_key=lambda reference: reference.path[1],
    ),
    "parameter": NameKind(
        lambda reference: getattr(reference.owner, "properties", ()),
        "`{}` is not a parameter",
        "use the name of a parameter",
        cache_key=_get_file,
    ),
    "permission": NameKind(
        lambda reference: reference.toolset.permissions,
        "the toolset has no permission `{}`",
        "add it to `permissions` with a one-line description",
    ),
    "pick": NameKind(
        _list_allowed_fields,
        "`{}` is not in `allowed`",
        "use a field of `allowed`, or add it there",
        cache_key=_get_file,
    ),
    "pool": NameKind(
        lambda reference: reference.toolset.pools,
        "the toolset has no pool `{}`",
        "add it to `pools`",
    ),
    "replacement": NameKind(
        _list_replacements,
        "the replacement `{}` is not a tool",
        "use the name of an existing tool, or remove `replacement`",
        accepts=_is_server_replacement,
        find_problem=_find_replacement_problem,
        cache_key=_get_file,
    ),
    "section": NameKind(
        _list_sections, "the toolset has no section `{}`", "add it to `sections`"
    ),
    "table": NameKind(
        lambda reference: reference.toolset.pools.get(_get_pool(reference)),
        lambda reference: (
            f"the pool `{_get_pool(reference)}` has no table `{reference.name}`"
        ),
        _suggest_pool,
        cache_key=_get_pool,
    ),
    "target": NameKind(
        _list_targets,
        "the target `{}` does not exist",
        lambda reference: (
            f"use one of {format_quoted_list(_list_targets(reference))}"
        ),
    ),
    "tool_entry": NameKind(
        _list_tools,
        "the tool `{}` does not exist",
        _USE_TOOL,
        accepts=_matches_tool,
        find_problem=_find_pattern_problem,
    ),
}
"""The kinds of names, by the value of `names` or `keys_name` in the spec language."""
