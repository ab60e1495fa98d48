"""What a file of specs comes to, as plain JSON: what a change of it is judged by.

Defaults are filled in, also those that another file gives; null is absence where the spec
language says so; what a name or an address comes to is there although no line says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from toolcast_runtime.core.definitions.tool import extract_first_sentence
from toolcast_runtime.results.field_selection import list_omitted_paths

from ..analysis.network_reach import find_secret_paths, has_secret
from ..model.endpoints import endpoints, variable
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..parsing.tree import Path
from ..spec_language.spec_language import annotated, parts
from .change import ABSENT, SpecFiles, pair_toolset_files


class State(NamedTuple):
    """One side of a file.

    Attributes:
        values: what it comes to.
        written: what it says.
        masked: the paths of what no message may show.
    """

    values: Any
    written: Any
    secret_paths: frozenset[Path] = frozenset()


class FilePair(NamedTuple):
    """A file of specs on both sides.

    Attributes:
        kind: which kind of file.
        files: where it stands.
        states: what it comes to, before and after.
        toolset: the toolset that it belongs to, as it is now; None for toolcast.yaml.
        extensions: whose fields it may have.
    """

    kind: str
    files: SpecFiles
    states: tuple[State, State]
    toolset: Toolset | None
    extensions: tuple[str, ...] = ()


class _Owner(NamedTuple):
    """What gives defaults: the toolset, its values, and the output folder's package."""

    toolset: Toolset | None = None
    values: Mapping[str, Any] = {}
    package: str = ""


def build_workspace_pair(before: Workspace, after: Workspace) -> FilePair:
    """The toolcast.yaml of both sides."""
    files = SpecFiles("", "", before.source, after.source)
    states = (_state("workspace", side, _Owner(), ()) for side in _trees(files))
    return FilePair("workspace", files, (next(states), next(states)), None)


def build_toolset_pair(
    before: Toolset,
    after: Toolset,
    package: str,
    extensions: tuple[str, ...],
) -> FilePair:
    """The `toolset.yaml` of both sides.

    What the toolset's name gives as default is the present one's on both sides: its change
    is told by itself.
    """
    files = pair_toolset_files(before, after)
    states = []
    for side, tree in zip((before, after), _trees(files), strict=True):
        named = replace(side, name=after.name)
        owner = _Owner(named, _defaults(named, extensions), package)
        # A toolset without targets has those of the workspace.
        values = {**tree, "targets": dict(side.targets)}
        state = _state("toolset", values, owner, extensions)
        states.append(state._replace(written=tree, secret_paths=_masked(side)))
    return FilePair("toolset", files, (states[0], states[1]), after, extensions)


def build_tool_pair(
    files: SpecFiles,
    tools: tuple[ToolSpec, ToolSpec],
    toolsets: tuple[Toolset, Toolset],
    extensions: tuple[str, ...],
) -> FilePair:
    """A tool's spec on both sides."""
    states = []
    for tree, toolset in zip(_trees(files), toolsets, strict=True):
        owner = _Owner(toolset, _defaults(toolset, extensions))
        states.append(_state("tool", tree, owner, extensions))
    for state, tool in zip(states, tools, strict=True):
        if "examples" in state.values:
            state.values["examples"] = [*map(_example, state.values["examples"])]
        state.values["module"] = tool.module
        if tool.picks is not None:
            state.values["left_out"] = list_omitted_paths(tool.picks)
        # That a target comes or goes is told by itself.
        if tool.cli is not None and all("cli" in side.targets for side in toolsets):
            state.values.setdefault("cli", {"keyword": tool.cli.keyword})
    if tools[0].name != tools[1].name:
        # With another name comes another module.
        del states[0].values["module"], states[1].values["module"]
    return FilePair("tool", files, (states[0], states[1]), toolsets[1], extensions)


def pair_mcp_specs(before: Toolset, after: Toolset) -> Iterator[FilePair]:
    """The resources and MCP prompts that both sides have."""
    there = {(one.kind, one.name): one for one in before.mcp_specs}
    for new in after.mcp_specs:
        old = there.get((new.kind, new.name))
        if old is not None:
            files = pair_spec_files(after.name, old, new)
            states = [
                _state(f"mcp_{new.kind}", tree, _Owner(side, _defaults(side, ())), ())
                for tree, side in zip(_trees(files), (before, after), strict=True)
            ]
            for state in states:
                asked = state.values.get("arguments", ())
                names = [one["name"] for one in asked if one.get("required")]
                state.values["required"] = names
            pair = states[0], states[1]
            yield FilePair(f"mcp_{new.kind}", files, pair, after)


def pair_spec_files(
    toolset: str, old: ResourceSpec | PromptSpec, new: ResourceSpec | PromptSpec
) -> SpecFiles:
    """The spec on both sides, named by its folder so that it is no tool's."""
    name = f"mcp_{new.kind}s/{new.name}"
    return SpecFiles(toolset, name, old.source, new.source)


def _trees(files: SpecFiles) -> tuple[Any, Any]:
    old, new = files.before.tree, files.after.tree
    return old if isinstance(old, dict) else {}, new if isinstance(new, dict) else {}


def _state(
    kind: str, tree: Mapping[str, Any], owner: _Owner, extensions: tuple[str, ...]
) -> State:
    values = _filled(annotated(kind, extensions), tree, tree, (), owner)
    return State(values, tree)


def _defaults(toolset: Toolset, extensions: tuple[str, ...]) -> Mapping[str, Any]:
    """The fields of `toolset.yaml` that give defaults to other files."""
    tree = toolset.source.tree
    given = tree if isinstance(tree, dict) else {}
    fields = annotated("toolset", extensions)["properties"]
    return {
        name: _filled(fields[name], given.get(name, ABSENT), given, (name,), _Owner())
        for name in ("timeout", "proxy", "values", "stability", "name")
    }


def is_reported_as_whole(node: Mapping[str, Any]) -> bool:
    """Whether it is told by itself that a field is there, with all that is in it."""
    return bool({"set", "unset"} & node.get("change", {}).keys())


def _filled(node: Any, value: Any, above: Any, path: Path, owner: _Owner) -> Any:
    """A value with its defaults and those of what is in it."""
    if value is None and "null_means" in node:
        value = node["null_means"]
    if value is None and "null" in node.get("type", ()):
        value = ABSENT
    if value is ABSENT and "absent" in node:
        value = _default(node["absent"], above, path, owner)
    inner = [] if "names" in node else list(parts(node))
    if value is ABSENT and inner and not is_reported_as_whole(node):
        named = [part for part in inner if part[0] != "*"]
        made = _entries(named, {}, path, owner)
        return made or ABSENT
    if isinstance(value, dict) and inner:
        return _entries(inner, value, path, owner)
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        item = node["items"]
        return [_filled(item, one, value, (*path, "*"), owner) for one in value]
    return value


def _entries(
    inner: list[tuple[str, Mapping[str, Any]]],
    value: Mapping[str, Any],
    path: Path,
    owner: _Owner,
) -> dict[str, Any]:
    known = dict(inner)
    rest = known.pop("*", None)
    made = {} if rest is not None else dict(value)
    for key in dict.fromkeys((*value, *known)):
        node = known.get(key, rest)
        if node is None:
            continue
        one = _filled(node, value.get(key, ABSENT), value, (*path, key), owner)
        made.pop(key, None)
        if one is not ABSENT:
            made[key] = one
    return made


def _default(default: Any, above: Any, path: Path, owner: _Owner) -> Any:
    if not isinstance(default, dict) or not {"of", "by"} & default.keys():
        return default
    if default.get("unless") in above:
        return ABSENT
    if "by" in default:
        if owner.toolset is None:
            return ABSENT
        return _MADE[default["by"]](owner.toolset, owner.package, path)
    file, _, field = default["of"].rpartition(".")
    value = (owner.values if file else above).get(field, ABSENT)
    return (
        extract_first_sentence(value)
        if "as" in default and isinstance(value, str)
        else value
    )


def _program(toolset: Toolset, package: str, path: Path) -> Any:
    names = filter(None, (f"python -m {package}", toolset.name, "cli"))
    return ".".join(names)


def _admin_token_variable(toolset: Toolset, package: str, path: Path) -> Any:
    return variable(toolset, "ADMIN", "TOKEN")


def _endpoint(toolset: Toolset, package: str, path: Path) -> Any:
    """Where a client is served, or the variable of its token, as the path's last step says."""
    plan = next(one for one in endpoints(toolset) if one.client == path[-2])
    return plan._asdict()[str(path[-1])]


_MADE: Mapping[str, Callable[[Toolset, str, Path], Any]] = {
    "program": _program,
    "admin_token_variable": _admin_token_variable,
    "endpoint": _endpoint,
}
"""Defaults that are made of other names: the functions of `absent: {by: ...}`."""


def _example(example: Mapping[str, Any]) -> dict[str, Any]:
    """An example with its outcome as one value."""
    made = {k: v for k, v in example.items() if k not in ("result", "error")}
    made["outcome"] = {k: example[k] for k in ("result", "error") if k in example}
    return made


def _masked(toolset: Toolset) -> frozenset[Path]:
    found = {
        ("mcp_servers", server.name, *path)
        for server in toolset.mcp_servers
        for path in find_secret_paths(server)
    }
    if toolset.router is not None and has_secret(toolset.router.base_url):
        found.add(("router", "base_url"))
    return frozenset(found)
