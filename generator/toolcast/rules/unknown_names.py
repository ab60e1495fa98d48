"""Names that have to be of something that is there: one check, and a table of what they name.

Which fields hold such names is said by the spec language, `names` and `keys_name`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import NamedTuple

from ..analysis.prompt_docs import list_block_names
from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..parsing.tree import Path
from ..spec_language.name_fields import find_names
from ..suggestions import Suggestions, format_quoted_list, suggest_name
from ..targets.table import find_target, list_enabled_targets, list_target_names
from .rule import Problem, Rule, family_page, problem_at

Owner = ToolSpec | ResourceSpec | PromptSpec | Toolset | Workspace


class NameReference(NamedTuple):
    """A name, and where it stands."""

    name: str
    path: Path
    owner: Owner
    toolset: Toolset
    workspace: Workspace


class Kind(NamedTuple):
    """What names of a kind are of.

    Attributes:
        known: the names that there are; None where another rule finds what they hang on.
        message: what is wrong with another one; `{}` is it.
        help: what to do where no known name is near.
        accepts: whether a name is right although it is not known.
        instead: message and help for some names.
        on: what the known names depend on, beside the toolset.
    """

    known: Callable[[NameReference], Collection[str] | None]
    message: str | Callable[[NameReference], str]
    help: str | Callable[[NameReference], str] = ""
    accepts: Callable[[NameReference], bool] = lambda named: False
    instead: Callable[[NameReference], tuple[str, str] | None] = lambda named: None
    on: Callable[[NameReference], Hashable] = lambda named: None


def unknown_names(id: str, *kinds: str) -> Rule:
    """The rule that the names of some of `KINDS` are of something, in every file of a toolset."""

    def check(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
        owners: list[tuple[str, Owner]] = [("workspace", workspace)]
        owners.append(("toolset", toolset))
        owners += [("tool", tool) for tool in toolset.tools]
        owners += [(f"mcp_{spec.kind}", spec) for spec in toolset.mcp_specs]
        for kind in kinds:
            known: _Known = {}
            for file, owner in owners:
                tree, of_kind = owner.source.tree, frozenset([kind])
                for path, name, at_key in find_names(
                    tree, file, of_kind, workspace.extensions
                ):
                    named = NameReference(name, path, owner, toolset, workspace)
                    problem = _problem(KINDS[kind], named, known)
                    if problem is not None:
                        yield problem_at(owner, path, *problem, at_key=at_key)

    return Rule(id, Severity.ERROR, family_page(id), "toolset", check)


_Known = dict[Hashable, tuple[Collection[str] | None, Suggestions]]
"""The names that there are, by what they depend on."""


def _problem(kind: Kind, named: NameReference, there: _Known) -> tuple[str, str] | None:
    on = kind.on(named)
    if on not in there:
        names = kind.known(named)
        there[on] = names, Suggestions(names or ())
    known, suggestions = there[on]
    if known is None or named.name in known or kind.accepts(named):
        return None
    instead = kind.instead(named)
    if instead is not None:
        return instead
    message, help_ = (
        text(named) if callable(text) else text.format(named.name)
        for text in (kind.message, kind.help)
    )
    return message, suggestions.near(named.name) or help_


def _tools(named: NameReference) -> list[str]:
    return [tool.name for tool in named.toolset.tools]


def _is_of_a_server(named: NameReference) -> bool:
    return any(
        server.declares_tool(named.name) for server in named.toolset.listed_servers
    )


def _present_name(named: NameReference) -> tuple[str, str] | None:
    """What a tool is called now."""
    for tool in named.toolset.tools:
        if named.name in tool.renamed_from:
            return f"there is no tool `{named.name}`", f"it is called `{tool.name}`"
    return None


def _is_entry(named: NameReference) -> bool:
    """Whether an entry of a client's list stands for a tool."""
    if len(named.path) == 3:
        return True  # `allow: "*"`
    _, name, key, index = named.path
    client = named.toolset.find_client(str(name))
    entry = getattr(client, f"{key}_entries")[index]
    return bool(entry.names) if entry.is_pattern else _is_of_a_server(named)


def _pattern(named: NameReference) -> tuple[str, str] | None:
    """What is wrong with a pattern that no tool matches, and what to do."""
    text = named.name
    if "*" not in text and ":" not in text:
        return _present_name(named)
    if not text.strip("*"):
        help_ = 'for every tool write `allow: "*"`, without a list'
        return "`*` in a list stands for no tool", help_
    if not text.startswith("section:"):
        verb = "spec says" if ":" in text else "name matches"
        return f"no tool's {verb} `{text}`", ""
    section, known = text.removeprefix("section:"), _sections(named)
    if section in known:
        return f"no tool is in the section `{section}`", ""
    return f"there is no section `{section}`", suggest_name(section, known)


def _replacements(named: NameReference) -> list[str]:
    others = {tool.name for one in named.workspace.toolsets for tool in one.tools}
    return sorted(others - {getattr(named.owner, "name", "")})


def _other_replacement(named: NameReference) -> tuple[str, str] | None:
    if named.name == getattr(named.owner, "name", ""):
        return f"`{named.name}` is to be replaced by itself", "name another tool"
    return _present_name(named)


def _pool(named: NameReference) -> str:
    data = named.owner.data if isinstance(named.owner, ToolSpec) else None
    return str((data or {}).get("pool", ""))


def _pool_with(named: NameReference) -> str:
    pools = named.toolset.pools
    having = next((pool for pool in pools if named.name in pools[pool]), None)
    return "" if having is None else f"`{having}` has it"


def _sections(named: NameReference) -> list[str]:
    return [section.name for section in named.toolset.sections]


def _targets(named: NameReference) -> list[str]:
    return list_target_names(named.workspace.extensions)


def _enabled_targets(named: NameReference) -> list[str] | None:
    index = named.path[1]
    if named.toolset.exclusions[int(index)].tool not in _tools(named):
        return None
    targets = tuple(named.toolset.targets)
    return [
        target.name
        for target in list_enabled_targets(targets, named.workspace.extensions)
    ]


def _options(named: NameReference) -> list[str] | None:
    target = find_target(str(named.path[1]), named.workspace.extensions)
    return None if target is None else list(target.options)


def _known_options(named: NameReference) -> str:
    known = _options(named)
    return f"it has {format_quoted_list(known)}" if known else "it has none"


def _blocks(named: NameReference) -> list[str]:
    return list_block_names(named.toolset)


def _known_blocks(named: NameReference) -> str:
    known = _blocks(named)
    if not known:
        return "the toolset has no target `prompts`"
    return f"there are {format_quoted_list(known[:10])}"


def _in_lists(named: NameReference) -> list[str] | None:
    """The properties of objects in lists of results, as far as `returns` writes them out."""
    schemas = named.owner.schemas if isinstance(named.owner, ToolSpec) else {}
    parts = schemas["returns"].subschemas.items() if "returns" in schemas else ()
    lists = (part for path, part in parts if "items" in path)
    return [name for part in lists for name in part.get("properties", ())] or None


def _picks(named: NameReference) -> list[str]:
    picks = getattr(named.owner, "picks", None)
    return [*picks["allowed"]] if picks else []


def _file(named: NameReference) -> Hashable:
    return named.owner.source.file


KINDS: Mapping[str, Kind] = {
    "block": Kind(_blocks, "the prompt docs have no block `{}`", _known_blocks),
    "case_tool": Kind(
        _tools, "there is no tool `{}`", accepts=_is_of_a_server, instead=_present_name
    ),
    "client": Kind(
        lambda named: [client.name for client in named.toolset.clients],
        "the toolset has no client `{}`",
        "add it to `clients` of toolset.yaml",
    ),
    "enabled_target": Kind(
        _enabled_targets,
        "`{}` is not generated from the toolset",
        "remove the exclusion",
        on=lambda named: named.path[1],
    ),
    "excluded_tool": Kind(_tools, "there is no tool `{}`"),
    "item_property": Kind(
        _in_lists, "no object in a list of `returns` has a `{}`", on=_file
    ),
    "option": Kind(
        _options,
        lambda named: f"the target `{named.path[1]}` has no option `{named.name}`",
        _known_options,
        on=lambda named: named.path[1],
    ),
    "parameter": Kind(
        lambda named: getattr(named.owner, "properties", ()),
        "`{}` is not a parameter",
        on=_file,
    ),
    "permission": Kind(
        lambda named: named.toolset.permissions,
        "the toolset has no permission `{}`",
        "add it to `permissions` with one line of meaning",
    ),
    "pick": Kind(_picks, "`{}` is not among `allowed`", on=_file),
    "pool": Kind(
        lambda named: named.toolset.pools,
        "the toolset has no pool `{}`",
        "add it to `pools`",
    ),
    "replacement": Kind(
        _replacements,
        "there is no tool `{}`, the replacement",
        accepts=lambda named: any(
            server.declares_tool(named.name) for server in named.toolset.mcp_servers
        ),
        instead=_other_replacement,
        on=_file,
    ),
    "section": Kind(
        _sections, "the toolset has no section `{}`", "add it to `sections`"
    ),
    "table": Kind(
        lambda named: named.toolset.pools.get(_pool(named)),
        lambda named: f"the pool `{_pool(named)}` has no table `{named.name}`",
        _pool_with,
        on=_pool,
    ),
    "target": Kind(
        _targets,
        "there is no target `{}`",
        lambda named: f"the targets are {format_quoted_list(_targets(named))}",
    ),
    "tool_entry": Kind(
        _tools, "there is no tool `{}`", accepts=_is_entry, instead=_pattern
    ),
}
"""By what the spec language calls them."""
