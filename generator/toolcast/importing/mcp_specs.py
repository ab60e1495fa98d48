"""Specs of the resources and MCP prompts that a server lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ..mcp_client.server_listing import KINDS
from ..model.language_fields import get_mcp_members
from ..model.model import Toolset
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..refactoring.project_edit import EditSession
from .formats import ToolSource, get_entry_label
from .handler_module import HandlerPlan, Key
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
    specs = {} if toolset is None else {_get_key(s): s for s in toolset.mcp_specs}
    listed_keys = set()
    files: set[str] = set()
    order = 0
    for kind, spec_folder in _FOLDERS.items():
        for entry in source.listing.entries(kind) if source.has_mcp_specs else ():
            order += 1
            label = get_entry_label(kind, entry)
            key = (spec_folder.kind, str(entry.get("name")))
            file = f"{folder}/{spec_folder.name}/{key[1]}.yaml"
            if key in listed_keys or file.casefold() in files:
                plan.rejected[label] = (
                    f"{_format(label)}: another entry has the name `{_format(key[1])}`"
                )
                continue
            listed_keys.add(key)
            files.add(file.casefold())
            if "/" in key[1] or not key[1].strip("."):
                plan.rejected[label] = (
                    f"{_format(label)}: its name cannot be a file name"
                )
                continue
            fields, ignored = _build_fields(entry, spec_folder.file_kind)
            if ignored:
                names = ", ".join(f"`{_format(member)}`" for member in ignored)
                plan.notes.append(f"{_format(label)}: {names} is not imported")
            handler_key = (spec_folder.kind, entry[KINDS[kind][1]])
            handler = handlers.references.get(handler_key)
            spec = specs.get(key)
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
            plan.new_names.append(f"{spec_folder.kind} {key[1]}")
    if source.has_mcp_specs:
        plan.notes += _list_missing(source, specs.values(), listed_keys)
    return plan


def _get_key(spec: ResourceSpec | PromptSpec) -> Key:
    return spec.kind, spec.name


def _format(text: str) -> str:
    return escape_excerpt(text, 80)


def _build_fields(
    entry: Mapping[str, Any], kind: str
) -> tuple[dict[str, Any], list[str]]:
    """Return the spec fields of a listed entry, and members that specs do not have."""
    members = {"name": "name", **get_mcp_members(kind)}
    fields = {
        name: entry[member]
        for member, name in members.items()
        # Specs cannot contain an empty text. An empty array is kept as the server lists it.
        if entry.get(member) not in (None, "")
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
    specs: Iterable[ResourceSpec | PromptSpec],
    listed_keys: set[tuple[str, str]],
) -> Iterator[str]:
    for spec in specs:
        if _get_key(spec) not in listed_keys:
            yield (
                f"the {spec.kind} `{spec.name}` is no longer listed by"
                f" {escape_excerpt(source.name, 80)}; its spec stays"
            )
