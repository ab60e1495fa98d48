"""Effective values of spec files, the form in which two versions are compared.

Effective values contain all defaults, including defaults from other files. A null that means
"not set" is removed. Names that are computed from other names, such as a tool's module, are
included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from toolcast_runtime.core.definitions.tool import extract_first_sentence
from toolcast_runtime.results.field_selection import list_omitted_paths

from ..analysis.network_reach import find_secret_paths, has_secret
from ..model.endpoints import build_variable_name, list_endpoints
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..parsing.tree import Path
from ..spec_language.spec_language import list_subfields, load_annotated_schema
from .change import ABSENT, SpecFiles, pair_toolset_files


class State(NamedTuple):
    """One version of a spec file.

    Attributes:
        values: the effective values.
        written: the values in the file.
        secret_paths: paths of values that look like secrets and must not be printed.
    """

    values: Any
    written: Any
    secret_paths: frozenset[Path] = frozenset()


class FilePair(NamedTuple):
    """The old and the new version of a spec file, with their effective values.

    Attributes:
        kind: the kind of file, one of `FILE_KINDS`.
        files: the files.
        states: the old and the new values.
        toolset: the new version of the file's toolset; None for toolcast.yaml.
        extensions: the extensions that declare additional fields.
    """

    kind: str
    files: SpecFiles
    states: tuple[State, State]
    toolset: Toolset | None
    extensions: tuple[str, ...] = ()


class _DefaultSource(NamedTuple):
    """Sources of defaults that a file does not contain itself.

    Attributes:
        toolset: the toolset of the file.
        values: the effective values of the toolset's fields that are defaults of tools.
        package: the Python package of the output folder.
    """

    toolset: Toolset | None = None
    values: Mapping[str, Any] = {}
    package: str = ""


def build_workspace_pair(before: Workspace, after: Workspace) -> FilePair:
    """Return both versions of toolcast.yaml."""
    files = SpecFiles("", "", before.source, after.source)
    old_tree, new_tree = _get_trees(files)
    old_state = _build_state("workspace", old_tree, _DefaultSource(), ())
    new_state = _build_state("workspace", new_tree, _DefaultSource(), ())
    return FilePair("workspace", files, (old_state, new_state), None)


def build_toolset_pair(
    before: Toolset,
    after: Toolset,
    package: str,
    extensions: tuple[str, ...],
) -> FilePair:
    """Return both versions of a `toolset.yaml`, with effective values.

    Both have the new name of the toolset, so that a rename changes no default.
    """
    files = pair_toolset_files(before, after)
    states = []
    for toolset, tree in zip((before, after), _get_trees(files), strict=True):
        # A renamed toolset is one change of its own. With the same name in both versions,
        # defaults that contain the name are equal.
        renamed = replace(toolset, name=after.name)
        source = _DefaultSource(renamed, _list_defaults(renamed, extensions), package)
        # A toolset that declares no `targets` uses the targets of the workspace.
        tree_with_targets = {**tree, "targets": dict(toolset.targets)}
        state = _build_state("toolset", tree_with_targets, source, extensions)
        secret_paths = _find_secret_paths(toolset)
        states.append(state._replace(written=tree, secret_paths=secret_paths))
    return FilePair("toolset", files, (states[0], states[1]), after, extensions)


def build_tool_pair(
    files: SpecFiles,
    tools: tuple[ToolSpec, ToolSpec],
    toolsets: tuple[Toolset, Toolset],
    extensions: tuple[str, ...],
) -> FilePair:
    """Return both versions of a tool's spec, with effective values.

    Some values are computed: the module (unless the tool is renamed), the fields
    omitted by default, and the command's keyword if both toolsets have the target
    `cli`.
    """
    has_cli = all("cli" in toolset.targets for toolset in toolsets)
    states = []
    for tree, tool, toolset in zip(_get_trees(files), tools, toolsets, strict=True):
        source = _DefaultSource(toolset, _list_defaults(toolset, extensions))
        state = _build_state("tool", tree, source, extensions)
        values = state.values
        if "examples" in values:
            values["examples"] = [*map(_merge_outcome, values["examples"])]
        # A renamed tool always has another module, so only the rename is reported.
        if tools[0].name == tools[1].name:
            values["module"] = tool.module
        else:
            values.pop("module", None)
        if tool.picks is not None:
            values["omitted_by_default"] = list_omitted_paths(tool.picks)
        # An added or removed target is reported as a change of the toolset.
        if tool.cli is not None and has_cli:
            values.setdefault("cli", {"keyword": tool.cli.keyword})
        states.append(state)
    return FilePair("tool", files, (states[0], states[1]), toolsets[1], extensions)


def pair_mcp_specs(before: Toolset, after: Toolset) -> Iterator[FilePair]:
    """Yield both versions of the resources and MCP prompts that exist in both.

    To the fields of the files is added `required`, a list of the names of required
    arguments.
    """
    old_specs = {(spec.kind, spec.name): spec for spec in before.mcp_specs}
    for new in after.mcp_specs:
        old = old_specs.get((new.kind, new.name))
        if old is None:
            continue
        kind = f"mcp_{new.kind}"
        files = pair_spec_files(after.name, old, new)
        states = []
        for tree, toolset in zip(_get_trees(files), (before, after), strict=True):
            source = _DefaultSource(toolset, _list_defaults(toolset, ()))
            state = _build_state(kind, tree, source, ())
            state.values["required"] = [
                argument["name"]
                for argument in state.values.get("arguments", ())
                if argument.get("required")
            ]
            states.append(state)
        yield FilePair(kind, files, (states[0], states[1]), after)


def pair_spec_files(
    toolset: str, old: ResourceSpec | PromptSpec, new: ResourceSpec | PromptSpec
) -> SpecFiles:
    """Return both versions of a resource's or MCP prompt's spec file."""
    # The folder in the name distinguishes the spec from a tool with the same name.
    name = f"mcp_{new.kind}s/{new.name}"
    return SpecFiles(toolset, name, old.source, new.source)


def _get_trees(files: SpecFiles) -> tuple[Any, Any]:
    old, new = files.before.tree, files.after.tree
    return old if isinstance(old, dict) else {}, new if isinstance(new, dict) else {}


def _build_state(
    kind: str,
    tree: Mapping[str, Any],
    source: _DefaultSource,
    extensions: tuple[str, ...],
) -> State:
    values = _fill_defaults(
        load_annotated_schema(kind, extensions), tree, tree, (), source
    )
    return State(values, tree)


def _list_defaults(toolset: Toolset, extensions: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the effective values of the toolset's fields that are defaults of tools."""
    tree = toolset.source.tree if isinstance(toolset.source.tree, dict) else {}
    fields = load_annotated_schema("toolset", extensions)["properties"]
    return {
        name: _fill_defaults(
            fields[name], tree.get(name, ABSENT), tree, (name,), _DefaultSource()
        )
        for name in ("timeout", "proxy", "values", "stability", "name")
    }


def has_presence_event(node: Mapping[str, Any]) -> bool:
    """Return whether `toolcast diff` reports adding or removing a spec field as one change.

    The fields of the spec language declare this by the events `set` and `unset` in `change`.
    Nested fields are then not compared.

    Args:
        node: the declaration of the field in the spec language.
    """
    events = node.get("change", {})
    return "set" in events or "unset" in events


def _fill_defaults(
    node: Any, value: Any, parent: Any, path: Path, source: _DefaultSource
) -> Any:
    """Return a value with its defaults and the defaults of nested fields.

    Args:
        node: the annotated schema of the field.
        value: the value in the file, or ABSENT.
        parent: the object or array that contains the field.
        path: the path of the field; `*` for array items.
        source: other sources of defaults.
    """
    if value is None and "null_means" in node:
        value = node["null_means"]
    if value is None and "null" in node.get("type", ()):
        value = ABSENT
    if value is ABSENT and "absent" in node:
        value = _resolve_default(node["absent"], parent, path, source)
    fields = [] if "names" in node else list(list_subfields(node))
    if value is ABSENT and fields and not has_presence_event(node):
        # The object is missing, but its fields can have defaults.
        declared = [(name, part) for name, part in fields if name != "*"]
        return _fill_entries(declared, {}, path, source) or ABSENT
    if isinstance(value, dict) and fields:
        return _fill_entries(fields, value, path, source)
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        return [
            _fill_defaults(node["items"], item, value, (*path, "*"), source)
            for item in value
        ]
    return value


def _fill_entries(
    fields: list[tuple[str, Mapping[str, Any]]],
    value: Mapping[str, Any],
    path: Path,
    source: _DefaultSource,
) -> dict[str, Any]:
    """Return an object with the defaults of its fields, without absent fields."""
    nodes = dict(fields)
    other_node = nodes.pop("*", None)
    # Without a schema for other keys, undeclared keys keep their values.
    filled = {} if other_node is not None else dict(value)
    for key in dict.fromkeys((*value, *nodes)):
        node = nodes.get(key, other_node)
        if node is None:
            continue
        field_path = (*path, key)
        field_value = _fill_defaults(
            node, value.get(key, ABSENT), value, field_path, source
        )
        filled.pop(key, None)
        if field_value is not ABSENT:
            filled[key] = field_value
    return filled


def _resolve_default(
    default: Any, parent: Any, path: Path, source: _DefaultSource
) -> Any:
    """Return the default that an annotation `absent` describes, or ABSENT.

    The annotation is the default itself, or an object: `of` names another field whose value
    is the default (`as`: its first sentence), `by` names a function that computes the
    default, and there is no default if the parent has the field `unless`.
    """
    if not isinstance(default, dict) or not ("of" in default or "by" in default):
        return default
    if default.get("unless") in parent:
        return ABSENT
    if "by" in default:
        if source.toolset is None:
            return ABSENT
        compute = _DEFAULT_FUNCTIONS[default["by"]]
        return compute(source.toolset, source.package, path)
    # `of: toolset.FIELD` names a field of toolset.yaml; `of: FIELD`, one of the parent.
    file, _, field = default["of"].rpartition(".")
    value = (source.values if file else parent).get(field, ABSENT)
    if "as" in default and isinstance(value, str):
        return extract_first_sentence(value)
    return value


def _compute_program(toolset: Toolset, package: str, path: Path) -> Any:
    """Return the command that runs a toolset's generated command line."""
    names = filter(None, (f"python -m {package}", toolset.name, "cli"))
    return ".".join(names)


def _compute_admin_token_variable(toolset: Toolset, package: str, path: Path) -> Any:
    return build_variable_name(toolset, "ADMIN", "TOKEN")


def _compute_endpoint(toolset: Toolset, package: str, path: Path) -> Any:
    """Return the attribute of a client's endpoint that the last key of a path names.

    The key before it is the client's name.

    Raises:
        LookupError: the client has no endpoint.
    """
    client = path[-2]
    for endpoint in list_endpoints(toolset):
        if endpoint.client == client:
            return getattr(endpoint, str(path[-1]))
    raise LookupError(f"no endpoint of the client {client}")


_DEFAULT_FUNCTIONS: Mapping[str, Callable[[Toolset, str, Path], Any]] = {
    "program": _compute_program,
    "admin_token_variable": _compute_admin_token_variable,
    "endpoint": _compute_endpoint,
}
"""The functions of the annotation `absent: {by: ...}`."""


def _merge_outcome(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example with `result` or `error` in one field `outcome`."""
    outcome = {key: example[key] for key in ("result", "error") if key in example}
    fields = {key: value for key, value in example.items() if key not in outcome}
    return {**fields, "outcome": outcome}


def _find_secret_paths(toolset: Toolset) -> frozenset[Path]:
    """Return the paths of values in `toolset.yaml` that look like secrets."""
    paths = {
        ("mcp_servers", server.name, *path)
        for server in toolset.mcp_servers
        for path in find_secret_paths(server)
    }
    if toolset.router is not None and has_secret(toolset.router.base_url):
        paths.add(("router", "base_url"))
    return frozenset(paths)
