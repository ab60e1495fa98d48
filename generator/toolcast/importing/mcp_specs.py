"""Specs of the resources and MCP prompts that a server lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import module_name

from ..mcp_client.server_listing import KINDS
from ..model.language_fields import get_mcp_members
from ..model.model import Toolset
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..refactoring.project_edit import EditSession
from .formats import ToolSource, get_entry_label
from .handler_module import HandlerPlan, Key, derive_entry_name, is_entry_name
from .spec_fields import encode_spec


class _Folder(NamedTuple):
    """Folder of specs of one kind.

    Attributes:
        name: the folder's name in the toolset's folder.
        file_kind: the kind of its files.
        kind: the kind of its entries in handler plans.
    """

    name: str
    file_kind: str
    kind: str


_RESOURCES = _Folder("mcp_resources", "mcp_resource", "resource")
_FOLDERS = {
    "resources": _RESOURCES,
    "resourceTemplates": _RESOURCES,
    "prompts": _Folder("mcp_prompts", "mcp_prompt", "prompt"),
}


@dataclass
class McpSpecPlan:
    """Planned specs of resources and MCP prompts.

    Attributes:
        files: the new spec files.
        labels: the `get_entry_label` of each imported entry, by the file of its spec.
        new_names: the names of new specs, with their kind.
        changed_fields: per changed spec, the fields that change.
        unchanged_count: the number of specs without a change.
        rejected: an escaped line for each entry that no spec can represent, by its label.
        notes: an escaped line for each member that is not imported.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    new_names: list[str] = field(default_factory=list)
    changed_fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchanged_count: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def plan_mcp_specs(
    editing: EditSession,
    toolset: Toolset | None,
    source: ToolSource,
    folder: str,
    schemas: str | None,
    handlers: HandlerPlan,
) -> McpSpecPlan:
    """Plan the specs of the resources and MCP prompts of a source.

    In an existing spec only the fields that differ change. Its handler, clients and other fields
    of the project stay. No spec is removed.

    Args:
        editing: collects the edits of existing specs.
        toolset: the existing toolset; None for a new one.
        source: the source.
        folder: the toolset's folder.
        schemas: the path of the project's schemas, see `encode_spec`.
        handlers: the handlers of new specs.

    Raises:
        UneditableValueError: a file cannot be edited.
    """
    plan = McpSpecPlan()
    if not source.has_mcp_specs:
        return plan
    own_specs = () if toolset is None else toolset.mcp_specs
    specs = _match_specs(own_specs, source)
    spec_names = _choose_names(own_specs, specs, source)
    order = 0
    files: set[str] = set()
    for kind, spec_folder in _FOLDERS.items():
        for entry in source.listing.entries(kind):
            order += 1
            label = get_entry_label(kind, entry)
            handler_key = (spec_folder.kind, entry[KINDS[kind][1]])
            name = spec_names.get(handler_key)
            if name is None:
                plan.rejected[label] = f"{_format(label)}: its name is not a string"
                continue
            file = f"{folder}/{spec_folder.name}/{name}.yaml"
            if file.casefold() in files:
                plan.rejected[label] = (
                    f"{_format(label)}: another entry has the name `{_format(name)}`"
                )
                continue
            files.add(file.casefold())
            if not is_entry_name(name):
                plan.rejected[label] = (
                    f"{_format(label)}: its name cannot be a file name"
                )
                continue
            fields, ignored = _build_fields(entry, spec_folder.file_kind, name)
            if ignored:
                names = ", ".join(f"`{_format(member)}`" for member in ignored)
                plan.notes.append(f"{_format(label)}: {names} is not imported")
            handler = handlers.references.get(handler_key)
            spec = specs.get(handler_key)
            if spec is not None:
                plan.labels[spec.source.file] = label
                _update_spec(plan, editing, spec, fields, handler)
                continue
            if handler is None:
                reason = handlers.missing.get(handler_key, "it has no handler")
                plan.rejected[label] = escape_excerpt(f"{label}: {reason}", 400)
                continue
            fields |= {"handler": handler, "order": order}
            plan.files[file] = encode_spec(schemas, file, spec_folder.file_kind, fields)
            plan.labels[file] = label
            plan.new_names.append(f"{spec_folder.kind} {name}")
    plan.notes += _list_missing(source, own_specs, specs)
    return plan


def _list_entries(source: ToolSource) -> Iterator[tuple[Key, Any]]:
    """Yield the key of each resource and prompt that a source lists, with its name."""
    for kind, spec_folder in _FOLDERS.items():
        for entry in source.listing.entries(kind):
            yield (spec_folder.kind, entry[KINDS[kind][1]]), entry.get("name")


def _match_specs(
    own_specs: Iterable[ResourceSpec | PromptSpec], source: ToolSource
) -> dict[Key, ResourceSpec | PromptSpec]:
    """Return the existing spec of each listed entry, by the entry's key.

    A resource without a spec of its URI gets the one of its listed name, if the source no
    longer lists the URI of that spec.
    """
    entries = dict(_list_entries(source))
    by_key: dict[Key, ResourceSpec | PromptSpec] = {}
    by_name: dict[tuple[str, Any], ResourceSpec | PromptSpec] = {}
    for spec in own_specs:
        key = spec.name
        if isinstance(spec, ResourceSpec):
            key = spec.uri or spec.uri_template or spec.name
        if (spec.kind, key) in entries:
            by_key[spec.kind, key] = spec
        else:
            by_name[spec.kind, spec.mcp["name"]] = spec
    for entry_key, name in entries.items():
        if entry_key not in by_key and isinstance(name, str):
            named_spec = by_name.pop((entry_key[0], name), None)
            if named_spec is not None:
                by_key[entry_key] = named_spec
    return by_key


def _choose_names(
    own_specs: Iterable[ResourceSpec | PromptSpec],
    specs: Mapping[Key, ResourceSpec | PromptSpec],
    source: ToolSource,
) -> dict[Key, str]:
    """Return the spec name of each listed entry whose name is a string.

    A prompt keeps its listed name, by which clients request it. A resource gets a derived
    name if the listed one is not valid or is in use.
    """
    entries = [
        (key, name) for key, name in _list_entries(source) if isinstance(name, str)
    ]
    used = {module_name(s.name) for s in own_specs if s.kind == _RESOURCES.kind}
    names: dict[Key, str] = {}
    # Valid names come first, so that no derived name takes the name of another entry.
    for key, listed_name in sorted(
        entries, key=lambda pair: not is_entry_name(pair[1])
    ):
        if key[0] != _RESOURCES.kind:
            names[key] = listed_name
        elif key in specs:
            names[key] = specs[key].name
        elif key not in names:
            base = derive_entry_name(listed_name)
            numbered = (f"{base}_{number}" for number in count(2))
            names[key] = next(
                name
                for name in chain((base,), numbered)
                if is_entry_name(name) and module_name(name) not in used
            )
            used.add(module_name(names[key]))
    return names


def _format(text: str) -> str:
    return escape_excerpt(text, 80)


def _build_fields(
    entry: Mapping[str, Any], kind: str, name: str
) -> tuple[dict[str, Any], list[str]]:
    """Return the spec fields of a listed entry, and members that specs do not have."""
    members = {"name": "name", **get_mcp_members(kind)}
    fields = {"name": name}
    if entry["name"] != name:
        fields["listed_name"] = entry["name"]
    fields |= {
        field: entry[member]
        for member, field in members.items()
        # Specs cannot contain an empty text. An empty array is kept as the server lists it.
        if member != "name" and entry.get(member) not in (None, "")
    }
    ignored = [m for m in entry if m not in members and entry[m] is not None]
    known = {"name", "description", "required"}
    arguments = fields.get("arguments")
    if isinstance(arguments, list):
        fields["arguments"] = [
            {k: v for k, v in argument.items() if k in known and v not in (None, "")}
            for argument in arguments
            if isinstance(argument, dict)
        ]
    return fields, ignored


def _update_spec(
    plan: McpSpecPlan,
    editing: EditSession,
    spec: ResourceSpec | PromptSpec,
    fields: dict[str, Any],
    handler: str | None,
) -> None:
    tree = spec.source.tree
    has_content = not {"handler", "text", "file", "messages"}.isdisjoint(tree)
    if handler is not None and not has_content:
        fields = {**fields, "handler": handler}
    if "arguments" in tree and "arguments" in fields:
        # Servers do not list the allowed values, which belong to the project.
        values = {a.get("name"): a["enum"] for a in tree["arguments"] if "enum" in a}
        for argument in fields["arguments"]:
            if argument["name"] in values:
                argument["enum"] = values[argument["name"]]
    text = editing.get_text(spec.source)
    changed = []
    previous = "name"
    for name, value in fields.items():
        if name not in tree or json.dumps(tree[name]) != json.dumps(value):
            text.set_field(name, value, previous)
            changed.append(name)
        previous = name
    for name in get_mcp_members(f"mcp_{spec.kind}").values():
        if name in tree and name not in fields:
            text.remove_key((name,))
            changed.append(name)
    if changed:
        text.encode()
        plan.changed_fields[f"{spec.kind} {spec.name}"] = tuple(changed)
    else:
        plan.unchanged_count += 1


def _list_missing(
    source: ToolSource,
    own_specs: Iterable[ResourceSpec | PromptSpec],
    specs: Mapping[Key, ResourceSpec | PromptSpec],
) -> Iterator[str]:
    listed_specs = {id(spec) for spec in specs.values()}
    for spec in own_specs:
        if id(spec) not in listed_specs:
            yield (
                f"the {spec.kind} `{spec.name}` is no longer listed by"
                f" {_format(source.name)}; its spec stays"
            )
