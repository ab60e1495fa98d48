"""What importing a list of tools does to a project's specs, as a value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcast_runtime.calls.untrusted_text import escaped
from toolcast_runtime.tools.module_names import distinct_name

from ..edits.free_names import free_file_names
from ..edits.project_edit import Editing, ProjectEdit, Refusal, specs_after
from ..edits.spec_text import CannotEdit
from ..facts.mcp_definition import mcp_definition
from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.project_files import DiskFiles
from .source import MEMBERS, Source
from .tool_fields import fields_of, said_of
from .toolset_spec import change_toolset, new_toolset, schemas_of, spec_text

__all__ = ["Imported", "importing"]

_TASKS = {
    "rule": "expose/task-required",
    "reason": "The server that it comes from runs it as a task only.",
}
_MOST_NAMED = 8


@dataclass(frozen=True)
class Imported:
    """An import that may be written.

    Attributes:
        edit: the files.
        new: names of tools that get a spec.
        changed: the fields that change, by the tool's name.
        toolset_fields: those of the toolset that change.
        unchanged: how many tools the specs say already.
        gone: tools of the toolset that the source does not have; they stay.
        notes: what specs do not say, or say in another way, a line each, escaped.
    """

    edit: ProjectEdit
    new: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    toolset_fields: tuple[str, ...]
    unchanged: int
    gone: tuple[str, ...]
    notes: tuple[str, ...]


def importing(workspace: Workspace, source: Source, name: str) -> Imported:
    """Makes the specs of a toolset say what a source lists.

    A tool without a spec gets one. In a spec that is there only the fields change that
    say something else than the source: every other byte stays. What is gone from the
    source is told, and stays.

    Args:
        workspace: the project; one without toolsets where there is no toolcast.yaml yet.
        source: one list, checked by `imports/source_file.py`.
        name: of the toolset; one that is not there is made.

    Raises:
        Refusal: the specs could not be what the source says; with their findings.
    """
    toolset = next((one for one in workspace.toolsets if one.name == name), None)
    editing = Editing()
    toolset_fields: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    if toolset is None:
        folder, schemas, files = new_toolset(workspace, editing, source, name)
    else:
        files = {}
        folder, schemas = toolset.folder, schemas_of(workspace, toolset)
        toolset_fields = change_toolset(editing, toolset, source)
    there = {} if toolset is None else {tool.name: tool for tool in toolset.tools}
    orders = [tool.order for tool in there.values() if tool.order is not None]
    order = int(max(orders, default=0))
    new = [t["name"] for t in source.listing.tools if t["name"] not in there]
    called = free_file_names(new, there.values())
    for tool in source.listing.tools:
        spec = there.get(tool["name"])
        if spec is not None:
            fields = _change(editing, spec, tool)
            if fields:
                changed[spec.name] = fields
            continue
        order += 1
        more = {**source.fields.get(tool["name"], {}), **_needed(toolset, tool)}
        file = f"{folder}/{called[tool['name']]}.yaml"
        said = {**fields_of(tool), **more, "order": order}
        files[file] = spec_text(schemas, file, "tool", said)
    try:
        before, after = editing.files()
    except CannotEdit as error:
        raise Refusal(f"{error}", "make this change by hand") from None
    _refuse_taken(workspace.root, files)
    edit = ProjectEdit(
        f"{source.name} is imported into {folder}",
        {**before, **dict.fromkeys(files)},
        {**after, **files},
    )
    notes = _verified(workspace, edit, source, name)
    distinct = [
        f"`{tool}` is in {folder}/{file}.yaml: another tool has the file or the module of"
        " that name"
        for tool, file in called.items()
        if file == distinct_name(tool)
    ]
    told = (*source.notes, *source.listing.notes, *distinct, *notes, *_left_out(source))
    listed = {tool["name"] for tool in source.listing.tools}
    return Imported(
        edit,
        tuple(new),
        changed,
        toolset_fields,
        len(listed) - len(new) - len(changed),
        tuple(tool for tool in there if tool not in listed),
        tuple(dict.fromkeys(told)),
    )


def _needed(toolset: Toolset | None, tool: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that the toolset asks of each tool, as far as an import can say them."""
    more: dict[str, Any] = {}
    if toolset is not None and "cli" in toolset.targets:
        more["cli"] = {"keyword": None, "reason": "It was imported without one."}
    if toolset is not None and "prompts" in toolset.targets and toolset.sections:
        more["section"] = toolset.sections[0].name
    execution = tool.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        more["suppress"] = [_TASKS]
    return more


def _change(
    editing: Editing, spec: ToolSpec, tool: Mapping[str, Any]
) -> tuple[str, ...]:
    """Makes a spec say what the tool is; the names of the fields that change."""
    tree = spec.source.tree
    said = said_of(tree, tool)
    text = editing.text(spec.source)
    changed: list[str] = []
    last = "name"
    for field, value in said.items():
        # A number's spelling in JSON is not the one in YAML; its value and kind are.
        if field not in tree or json.dumps(tree[field]) != json.dumps(value):
            text.set_block(field, value, last)
            changed.append(field)
        last = field
    for field in (*MEMBERS.values(), "mcp"):
        if field in tree and field not in said and field != "description":
            text.remove_key((field,))
            changed.append(field)
    if "description" in tree and "description" not in tool:
        text.remove_key(("description",))
        changed.append("description")
    return tuple(changed)


def _refuse_taken(root: str, files: Mapping[str, bytes]) -> None:
    there = DiskFiles(root)
    taken = [path for path in files if there.is_there(path)]
    if taken:
        named = ", ".join(taken[:_MOST_NAMED])
        raise Refusal(f"{named} is there already, and is no spec of such a tool")


def _verified(
    workspace: Workspace, edit: ProjectEdit, source: Source, name: str
) -> list[str]:
    """Notes on what the specs do not say exactly as the source does.

    Raises:
        Refusal: the specs would have errors.
    """
    made = specs_after(workspace, edit.after)
    toolset = next(one for one in made.toolsets if one.name == name)
    specs = {tool.name: tool for tool in toolset.tools}
    notes = []
    for tool in source.listing.tools:
        # What a spec adds of its own, a person's yes for one, is none of the source's.
        definition = mcp_definition(replace(specs[tool["name"]], confirm=None))
        given, said = json.dumps(tool), json.dumps(definition)
        if given == said:
            continue
        sorted_alike = _sorted(tool) == _sorted(definition)
        how = (
            "its members stand in another order" if sorted_alike else "is not the same"
        )
        notes.append(f"`{escaped(tool['name'], 80)}`: what the spec gives: {how}")
    return notes


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _left_out(source: Source) -> list[str]:
    """What a server lists besides tools: the lists do not have what it holds."""
    lists: Sequence[tuple[str, str, str]] = (
        ("resources", "resource", "uri"),
        ("resourceTemplates", "resource template", "uriTemplate"),
        ("prompts", "prompt", "name"),
    )
    notes = []
    for kind, what, key in lists:
        entries = source.listing.entries(kind)
        if entries:
            names = ", ".join(f"`{escaped(e[key], 80)}`" for e in entries[:_MOST_NAMED])
            more = f" and {len(entries) - _MOST_NAMED} more" * (
                len(entries) > _MOST_NAMED
            )
            notes.append(f"not imported, {len(entries)} of kind {what}: {names}{more}")
    return notes
