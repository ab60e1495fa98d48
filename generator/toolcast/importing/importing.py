"""Lists of tools become specs: of new tools, and of those that are there."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import distinct_name

from ..analysis.mcp_definitions import build_mcp_definition
from ..model.language_fields import mcp_members
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.spec_schema import SCHEMA_FILE, named_schema, schemas_beside
from ..parsing.project_files import DiskFiles
from ..project import WORKSPACE_FILE
from ..refactoring.free_names import free_file_names
from ..refactoring.project_edit import (
    EditRefusedError,
    EditSession,
    ProjectEdit,
    specs_after,
)
from ..refactoring.spec_text import UneditableValueError
from ..spec_language.spec_language import schema_text
from ..suggestions import format_first
from .formats import Source
from .local_decisions import LocalSelection, decided
from .spec_fields import fields_of, needed_fields, said_of, spec_text

_TARGETS: Mapping[str, Any] = {"mcp": {}, "registry": {}, "snapshots": {}}


def schemas_of(workspace: Workspace, toolset: Toolset | None) -> str | None:
    """Where the project has its schemas, `{}` for the kind; None where its specs name none."""
    toolsets = (toolset,) if toolset is not None else workspace.toolsets
    sources = [("toolset", one.source) for one in toolsets]
    for kind, source in (*sources, ("workspace", workspace.source)):
        path = schemas_beside(source.opening, kind)
        if path is not None and named_schema(source.file, source.opening) is not None:
            return posixpath.join(posixpath.dirname(source.file), path)
    return None


def new_toolset(
    workspace: Workspace, editing: EditSession, source: Source, name: str
) -> tuple[str, str | None, dict[str, bytes]]:
    """Adds a toolset without tools to the project, or begins a project with it.

    Returns:
        Its folder, where the project has its schemas, and the new files.
    """
    folders = workspace.toolset_folders
    above = posixpath.dirname(folders[0]) if folders else "specs"
    folder = posixpath.join(above, name)
    schemas = schemas_of(workspace, None)
    files: dict[str, bytes] = {}
    if folders:
        editing.text(workspace.source).append(("toolsets",), folder)
    else:
        schemas = posixpath.join(above, "schemas", SCHEMA_FILE)
        files = {schemas.partition("#")[0]: schema_text("project").encode()}
        fields = {"version": 1, "toolsets": [folder]}
        files[WORKSPACE_FILE] = spec_text(schemas, WORKSPACE_FILE, "workspace", fields)
    file = f"{folder}/toolset.yaml"
    files[file] = spec_text(schemas, file, "toolset", _fields(source, name))
    return folder, schemas, files


def change_toolset(
    editing: EditSession, toolset: Toolset, source: Source
) -> tuple[str, ...]:
    """Makes a toolset say the server's version and instructions; the fields that change.

    A list in a file has neither, and changes nothing.
    """
    info = source.listing.server_info or {}
    server_fields = {
        "version": info.get("version"),
        "instructions": source.listing.instructions,
    }
    there = {"version": toolset.version, "instructions": toolset.instructions}
    changed = []
    for field, value in server_fields.items():
        if isinstance(value, str) and value and value != there[field]:
            editing.text(toolset.source).set_block(field, value, "title")
            changed.append(field)
    return tuple(changed)


def _fields(source: Source, name: str) -> dict[str, Any]:
    info = source.listing.server_info or {}
    title = info.get("title") or info.get("name")
    fields: dict[str, Any] = {"name": name}
    fields["title"] = title if isinstance(title, str) and title.strip() else name
    if isinstance(info.get("version"), str) and info["version"]:
        fields["version"] = info["version"]
    if source.listing.instructions:
        fields["instructions"] = source.listing.instructions
    fields["targets"] = _TARGETS
    if clients := _clients(source):
        most = max(clients, key=lambda client: len(clients[client]["allow"]))
        fields["clients"] = clients
        fields["targets"] = {**_TARGETS, "mcp": {"client": most}}
    return fields


def _clients(source: Source) -> dict[str, Any]:
    """The clients that tools name, each with the tools that name it, and no others."""
    clients: dict[str, dict[str, list[str]]] = {}
    for name, fields in source.fields.items():
        named = fields.get("clients")
        for client in named if isinstance(named, list) else ():
            if isinstance(client, str):
                clients.setdefault(client, {"allow": []})["allow"].append(name)
    return clients


_MAX_NAMES_SHOWN = 8
"""Names in a note."""
_MAX_REASON_CHARACTERS = 400
"""Characters of the reason why a tool is not imported."""
_PASSED = ("name/retired-name-used", "prompt/other-tools")
"""Errors that texts of a server may bring, which only it can write otherwise."""


@dataclass(frozen=True)
class ImportPlan:
    """An import that may be written.

    Attributes:
        edit: the files.
        new: names of tools that get a spec.
        changed: the fields that change, by the tool's name.
        toolset_fields: those of the toolset that change.
        unchanged: how many tools the specs say already.
        removed: tools of the toolset that the source does not have.
        staying: others that it does not have, and why their specs stay all the same.
        refused: tools that no spec can be of, which are left out: a line each, escaped.
        notes: what specs do not say, or say in another way, a line each, escaped.
    """

    edit: ProjectEdit
    new: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    toolset_fields: tuple[str, ...]
    unchanged: int
    removed: tuple[str, ...]
    staying: Mapping[str, str]
    refused: tuple[str, ...]
    notes: tuple[str, ...]


def importing(
    workspace: Workspace,
    source: Source,
    name: str,
    *,
    keep_missing: bool = False,
    force: bool = False,
) -> ImportPlan:
    """Makes the specs of a toolset say what a source lists.

    A tool without a spec gets one. In a spec that is there only the fields change that
    say something else than the source: every other byte stays. The spec of a tool that the
    source does not have goes, see `own_decisions`. A tool whose spec would have an error is
    left out, and its spec stays as it is.

    Args:
        workspace: the project; one without toolsets where there is no toolcast.yaml yet.
        source: one list, checked by `importing/source_file.py`.
        name: of the toolset; one that is not there is made.
        keep_missing: keep the specs of tools that are missing from the lists.
        force: removes specs that a person has added to, and more than half of the tools.

    Raises:
        EditRefusedError: the specs could not be what the source says; with their findings.
    """
    toolset = next((one for one in workspace.toolsets if one.name == name), None)
    there = {} if toolset is None else {tool.name: tool for tool in toolset.tools}
    editing = EditSession()
    toolset_fields: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    files: dict[str, bytes] = {}
    places: dict[str, str] = {}
    odd: dict[str, str] = {}
    try:
        if toolset is None:
            folder, schemas, files = new_toolset(workspace, editing, source, name)
            here = LocalSelection({tool["name"]: tool for tool in source.listing.tools})
        else:
            folder, schemas = toolset.folder, schemas_of(workspace, toolset)
            toolset_fields = change_toolset(editing, toolset, source)
            here = decided(
                editing,
                toolset,
                source,
                schemas,
                keep_missing=keep_missing,
                force=force,
            )
        for listed, tool in here.tools.items():
            spec = there.get(tool["name"])
            if spec is not None:
                places[spec.source.file] = listed
                try:
                    changed[spec.name] = _change(editing, spec, tool)
                except UneditableValueError as error:
                    odd[listed] = str(error)
        before, after = ({}, {}) if odd else editing.files()
    except UneditableValueError as error:
        raise EditRefusedError(f"{error}", "make this change by hand") from None
    changed = {tool: fields for tool, fields in changed.items() if fields}
    orders = [tool.order for tool in there.values() if tool.order is not None]
    last = int(max(orders, default=0))
    new = {name: tool for name, tool in here.tools.items() if tool["name"] not in there}
    called = free_file_names(new, there.values())
    for order, (tool_name, tool) in enumerate(new.items(), last + 1):
        more = {**source.fields.get(tool_name, {}), **needed_fields(toolset, tool)}
        file = f"{folder}/{called[tool_name]}.yaml"
        spec_fields = {**fields_of(tool), **more, "order": order}
        files[file] = spec_text(schemas, file, "tool", spec_fields)
        places[file] = tool_name
    _refuse_taken(workspace.root, files)
    edit = ProjectEdit(
        f"{source.name} is imported into {folder}",
        {**before, **dict.fromkeys(files)},
        {**after, **files},
    )
    made = None if odd else _tried(workspace, edit, places, odd)
    if made is None:
        rest = source.without({tool: f"`{tool}`: {why}" for tool, why in odd.items()})
        if not rest.listing.tools:
            raise EditRefusedError("\n".join(rest.refused.values()))
        return importing(workspace, rest, name, keep_missing=keep_missing, force=force)
    notes = _differences(made, name, here.tools.values())
    distinct = [
        f"`{tool}` is in {folder}/{file}.yaml: another tool has the file or the module of"
        " that name"
        for tool, file in called.items()
        if file == distinct_name(tool)
    ]
    all_notes = (
        *source.notes,
        *source.listing.notes,
        *here.notes,
        *distinct,
        *notes,
        *_left_out(source),
    )
    return ImportPlan(
        edit,
        tuple(new),
        changed,
        toolset_fields,
        len(here.tools) - len(new) - len(changed),
        here.removed,
        here.staying,
        tuple(source.refused.values()),
        tuple(dict.fromkeys(all_notes)),
    )


def _change(
    editing: EditSession, spec: ToolSpec, tool: Mapping[str, Any]
) -> tuple[str, ...]:
    """Makes a spec say what the tool is; the names of the fields that change.

    Raises:
        UneditableValueError: it cannot say that; then the edit is of no use.
    """
    tree = spec.source.tree
    spec_fields = said_of(tree, tool)
    needed = needed_fields(None, tool).get("suppress", [])
    if needed and needed[0] not in tree.get("suppress", []):
        spec_fields["suppress"] = [*tree.get("suppress", []), *needed]
    text = editing.text(spec.source)
    changed: list[str] = []
    last = "name"
    for field, value in spec_fields.items():
        # A number's spelling in JSON is not the one in YAML; its value and kind are.
        if field not in tree or json.dumps(tree[field]) != json.dumps(value):
            text.set_block(field, value, last)
            changed.append(field)
        last = field
    # A summary alone was the description, which stands in a field of its own now.
    was_description = (
        ("summary",) if "description" in changed and "description" not in tree else ()
    )
    for field in (*mcp_members().values(), "mcp", *was_description):
        if field in tree and field not in spec_fields and field != "description":
            text.remove_key((field,))
            changed.append(field)
    if "description" in tree and "description" not in tool:
        text.remove_key(("description",))
        changed.append("description")
    if changed:
        text.result()
    return tuple(changed)


def _refuse_taken(root: str, files: Mapping[str, bytes]) -> None:
    there = DiskFiles(root)
    taken = [path for path in files if there.is_there(path)]
    if taken:
        named = ", ".join(taken[:_MAX_NAMES_SHOWN])
        raise EditRefusedError(
            f"{named} is there already, and is no spec of such a tool"
        )


def _tried(
    workspace: Workspace,
    edit: ProjectEdit,
    places: Mapping[str, str],
    odd: dict[str, str],
) -> Workspace | None:
    """The workspace after an edit; None, with what is wrong in `odd`, where tools have errors.

    Args:
        places: the names of the tools that are imported, by the files of their specs.

    Raises:
        EditRefusedError: something else would have errors.
    """
    try:
        return specs_after(workspace, edit.after, passed=_PASSED)
    except EditRefusedError as refusal:
        for one in refusal.findings:
            if one.location.file in places:
                words = escape_excerpt(
                    f"{one.rule}: {one.message}", _MAX_REASON_CHARACTERS
                )
                odd.setdefault(places[one.location.file], words)
        if not odd:
            raise
        return None


def _differences(
    made: Workspace, name: str, tools: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Notes on what the specs of a toolset do not say exactly as the listed tools do."""
    toolset = next(one for one in made.toolsets if one.name == name)
    specs = {tool.name: tool for tool in toolset.tools}
    notes = []
    for tool in tools:
        # What a spec adds of its own, a person's yes for one, is none of the source's.
        definition = build_mcp_definition(replace(specs[tool["name"]], confirm=None))
        given, spec_fields = json.dumps(tool), json.dumps(definition)
        if given == spec_fields:
            continue
        sorted_alike = _sorted(tool) == _sorted(definition)
        how = (
            "its members stand in another order" if sorted_alike else "is not the same"
        )
        notes.append(
            f"`{escape_excerpt(tool['name'], 80)}`: what the spec gives: {how}"
        )
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
            names = [f"`{escape_excerpt(entry[key], 80)}`" for entry in entries]
            named = format_first(names, _MAX_NAMES_SHOWN)
            notes.append(f"not imported, {len(entries)} of kind {what}: {named}")
    return notes
