"""Plan of an import: the spec files that are created, changed and removed."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import distinct_name

from ..analysis.mcp_definitions import build_mcp_definition
from ..model.language_fields import get_mcp_members
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.spec_schema import (
    DEFAULT_SCHEMA_PATTERN,
    find_declared_schema,
    find_schema_pattern,
)
from ..parsing.project_files import DiskFiles
from ..project import WORKSPACE_FILE
from ..refactoring.free_names import choose_file_names
from ..refactoring.project_edit import (
    EditRefusedError,
    EditSession,
    ProjectEdit,
    load_edited_workspace,
)
from ..refactoring.spec_text import UneditableValueError
from ..spec_language.spec_language import render_schema
from ..suggestions import format_first
from .first_calls import CALLS_FILE, render_first_calls
from .formats import ToolSource, quote_name
from .handler_module import HandlerPlan, plan_handlers
from .local_decisions import LocalSelection, apply_local_decisions
from .mcp_specs import plan_mcp_specs
from .prohibitions import find_weakening
from .spec_fields import (
    build_required_fields,
    build_spec_fields,
    encode_spec,
    merge_spec_fields,
)

_DEFAULT_TARGETS: Mapping[str, Any] = {"mcp": {}, "registry": {}, "snapshots": {}}


def find_schema_path(workspace: Workspace, toolset: Toolset | None) -> str | None:
    """Return the path of the project's JSON Schemas, with `{}` for the kind of file.

    It is taken from the schema comment of the toolsets' or the workspace's file. None means
    that these files have no such comment.

    Args:
        workspace: the project.
        toolset: search only this toolset and the workspace; None searches all toolsets.
    """
    toolsets = (toolset,) if toolset is not None else workspace.toolsets
    candidates = [("toolset", toolset.source) for toolset in toolsets]
    candidates.append(("workspace", workspace.source))
    for kind, source in candidates:
        path = find_schema_pattern(source.opening, kind)
        if (
            path is not None
            and find_declared_schema(source.file, source.opening) is not None
        ):
            return posixpath.join(posixpath.dirname(source.file), path)
    return None


def add_toolset(
    workspace: Workspace,
    editing: EditSession,
    source: ToolSource,
    name: str,
    handlers: HandlerPlan,
) -> tuple[str, str | None, dict[str, bytes]]:
    """Add a toolset without tools to a project, or create a project with it.

    Returns:
        The toolset's folder, the path of the project's schemas, and the new files.
    """
    folders = workspace.toolset_folders
    parent = posixpath.dirname(folders[0]) if folders else "specs"
    folder = posixpath.join(parent, name)
    schemas = find_schema_path(workspace, None)
    files: dict[str, bytes] = {}
    if folders:
        editing.get_text(workspace.source).append_item(("toolsets",), folder)
    else:
        schemas = posixpath.join(parent, "schemas", DEFAULT_SCHEMA_PATTERN)
        files = {schemas.partition("#")[0]: render_schema("project").encode()}
        fields = {"version": 1, "toolsets": [folder]}
        if len(handlers.sources) > 1:
            fields["sources"] = list(handlers.sources)
        files[WORKSPACE_FILE] = encode_spec(
            schemas, WORKSPACE_FILE, "workspace", fields
        )
    file = f"{folder}/toolset.yaml"
    fields = _build_toolset_fields(source, name)
    targets = fields.pop("targets")
    fields |= {**handlers.toolset_fields, "targets": targets}
    files[file] = encode_spec(schemas, file, "toolset", fields)
    return folder, schemas, files


def update_toolset(
    editing: EditSession, toolset: Toolset, source: ToolSource, handlers: HandlerPlan
) -> tuple[str, ...]:
    """Copy the server's version and instructions to a toolset; return the changed fields.

    A list in a file usually has neither, so that the toolset's own values stay. Fields that
    handlers need are added to a toolset without handlers.
    """
    server_fields = {
        "version": source.server_version,
        "instructions": source.listing.instructions,
    }
    own_fields = {"version": toolset.version, "instructions": toolset.instructions}
    changed_fields = []
    for field, value in server_fields.items():
        if isinstance(value, str) and value and value != own_fields[field]:
            editing.get_text(toolset.source).set_field(field, value, "title")
            changed_fields.append(field)
    for field, value in handlers.toolset_fields.items():
        if toolset.handlers is None and field not in toolset.source.tree:
            editing.get_text(toolset.source).set_field(field, value, "title")
            changed_fields.append(field)
    return tuple(changed_fields)


def _build_toolset_fields(source: ToolSource, name: str) -> dict[str, Any]:
    info = source.listing.server_info or {}
    title = info.get("title") or info.get("name")
    fields: dict[str, Any] = {"name": name}
    fields["title"] = title if isinstance(title, str) and title.strip() else name
    if version := source.server_version:
        fields["version"] = version
    if source.listing.instructions:
        fields["instructions"] = source.listing.instructions
    fields["targets"] = _DEFAULT_TARGETS
    clients = _build_clients(source)
    if clients:
        fields["clients"] = clients
        # The MCP server serves one client: the one with the most tools.
        client = max(clients, key=lambda name: len(clients[name]["allow"]))
        fields["targets"] = {**_DEFAULT_TARGETS, "mcp": {"client": client}}
    return fields


def _build_clients(source: ToolSource) -> dict[str, Any]:
    """Return `clients` of a new toolset: each client that tools name, with these tools."""
    clients: dict[str, dict[str, list[str]]] = {}
    for tool, fields in source.fields.items():
        names = fields.get("clients")
        for client in names if isinstance(names, list) else ():
            if isinstance(client, str):
                clients.setdefault(client, {"allow": []})["allow"].append(tool)
    return clients


_MAX_NAMES_SHOWN = 8
"""Names in a note."""
_MAX_REASON_CHARACTERS = 400
"""Characters of the reason why a tool is not imported."""
_TOLERATED_RULES = (
    "name/retired-name-used",
    "prompt/other-tools",
    "handler/imported",
    "handler/lifespan",
    "handler/mcp-signature",
    "handler/not-found",
    "handler/signature",
)
"""Rules whose errors an import may add.

Only the server can change its texts and functions, and the handlers module is not written yet.
"""


@dataclass(frozen=True)
class ImportPlan:
    """Planned import, not written yet.

    Attributes:
        edit: the file changes.
        new_tools: names of the tools that get a new spec.
        changed_fields: per changed tool, the spec fields that change.
        toolset_fields: fields of `toolset.yaml` that change.
        unchanged_count: the number of tools whose specs need no change.
        removed_tools: names of the toolset's tools that the source does not list and whose
            specs are removed.
        retained_tools: names of other tools that the source does not list, with the reason why
            their specs stay.
        rejected_tools: an escaped line for each listed tool that no spec can represent.
        refused_changes: names of tools whose specs stay, with the prohibition that the change
            could weaken.
        notes: an escaped line for each value that is not imported or generated differently.
    """

    edit: ProjectEdit
    new_tools: tuple[str, ...]
    changed_fields: Mapping[str, tuple[str, ...]]
    toolset_fields: tuple[str, ...]
    unchanged_count: int
    removed_tools: tuple[str, ...]
    retained_tools: Mapping[str, str]
    rejected_tools: tuple[str, ...]
    refused_changes: Mapping[str, str]
    notes: tuple[str, ...]


def plan_import(
    workspace: Workspace,
    source: ToolSource,
    name: str,
    *,
    keep_missing: bool = False,
    force: bool = False,
) -> ImportPlan:
    """Plan the edit that makes the specs of a toolset match a source.

    A tool without a spec gets a new one. In an existing spec only the fields that differ from
    the source change; all other bytes stay. Specs of tools that the source does not list are
    removed, see `apply_local_decisions`. A tool whose spec would have an error is left out, and
    its existing spec stays as it is.

    Args:
        workspace: the project; without toolsets if there is no toolcast.yaml yet.
        source: the tools to import, checked by `importing/source_file.py`.
        name: the toolset's name; the toolset is created if it does not exist.
        keep_missing: keep the specs of tools that the source does not list.
        force: also remove edited specs, and more than half of the tools, and apply changes
            that `find_weakening` reports.

    Raises:
        EditRefusedError: the specs would have errors, or a file cannot be edited or created.
    """
    toolset = next((t for t in workspace.toolsets if t.name == name), None)
    specs = {} if toolset is None else {tool.name: tool for tool in toolset.tools}
    editing = EditSession()
    toolset_fields: tuple[str, ...] = ()
    changed_fields: dict[str, tuple[str, ...]] = {}
    weakened: dict[str, str] = {}
    new_files: dict[str, bytes] = {}
    tools_by_file: dict[str, str] = {}
    rejected: dict[str, str] = {}
    handlers = HandlerPlan()
    if source.has_mcp_specs:
        handlers = plan_handlers(
            workspace, toolset, name, source.listing, source.server
        )
    try:
        if toolset is None:
            folder, schemas, new_files = add_toolset(
                workspace, editing, source, name, handlers
            )
            listed_tools = {tool["name"]: tool for tool in source.listing.tools}
            selection = LocalSelection(listed_tools)
        else:
            folder, schemas = toolset.folder, find_schema_path(workspace, toolset)
            toolset_fields = update_toolset(editing, toolset, source, handlers)
            selection = apply_local_decisions(
                editing,
                toolset,
                source,
                schemas,
                keep_missing=keep_missing,
                force=force,
            )
        for listed_name, tool in selection.tools.items():
            spec = specs.get(tool["name"])
            if spec is None:
                continue
            tools_by_file[spec.source.file] = listed_name
            try:
                weakening = find_weakening(spec, tool)
                # A session of its own, because the edits of a refused change are dropped.
                handler = handlers.references.get(("tool", listed_name))
                if weakening and _update_spec(EditSession(), spec, tool, handler):
                    weakened[spec.name] = weakening
                    if not force:
                        continue
                fields = _update_spec(editing, spec, tool, handler)
            except UneditableValueError as error:
                rejected[listed_name] = str(error)
                continue
            if fields:
                changed_fields[spec.name] = fields
        mcp_specs = plan_mcp_specs(editing, toolset, source, folder, schemas, handlers)
        rejected |= mcp_specs.rejected
        tools_by_file |= mcp_specs.labels
        # If a tool is rejected, the caller plans again without it and ignores these files.
        before, after = ({}, {}) if rejected else editing.collect_files()
    except UneditableValueError as error:
        raise EditRefusedError(f"{error}", "make this change by hand") from None
    # New tools follow the existing ones.
    orders = [tool.order for tool in specs.values() if tool.order is not None]
    last_order = int(max(orders, default=0))
    new_tools = {
        listed_name: tool
        for listed_name, tool in selection.tools.items()
        if tool["name"] not in specs
    }
    file_names = choose_file_names(new_tools, specs.values())
    for order, (tool_name, tool) in enumerate(new_tools.items(), last_order + 1):
        file = f"{folder}/{file_names[tool_name]}.yaml"
        spec_fields = {
            **build_spec_fields(tool),
            **source.fields.get(tool_name, {}),
            **build_required_fields(toolset, tool),
        }
        if ("tool", tool_name) in handlers.references:
            spec_fields["handler"] = handlers.references["tool", tool_name]
        spec_fields["order"] = order
        new_files[file] = encode_spec(schemas, file, "tool", spec_fields)
        tools_by_file[file] = tool_name
    new_files |= {**mcp_specs.files, **handlers.files}
    calls_file = f"{folder}/{CALLS_FILE}"
    if source.server is not None and not DiskFiles(workspace.root).is_there(calls_file):
        calls = render_first_calls(source.listing)
        new_files |= {calls_file: calls} if calls else {}
    _refuse_existing_files(workspace.root, new_files)
    edit = ProjectEdit(
        f"{source.name} is imported into {folder}",
        {**before, **dict.fromkeys(new_files)},
        {**after, **new_files},
    )
    edited_workspace = None
    if not rejected:
        edited_workspace, rejected = _load_edited_specs(workspace, edit, tools_by_file)
    if edited_workspace is None:
        lines = {
            tool: reason if tool in mcp_specs.rejected else f"`{tool}`: {reason}"
            for tool, reason in rejected.items()
        }
        # Plan again without these tools, because their existing specs must not change.
        remaining = source.reject_tools(lines)
        if source.listing.tools and not remaining.listing.tools:
            raise EditRefusedError("\n".join(remaining.rejected.values()))
        return plan_import(
            workspace, remaining, name, keep_missing=keep_missing, force=force
        )
    file_notes = [
        f"`{tool}` is written to {folder}/{file_name}.yaml: another tool uses the file or"
        " the module of that name"
        for tool, file_name in file_names.items()
        if file_name == distinct_name(tool)
    ]
    notes = (
        *source.notes,
        *source.listing.notes,
        *selection.notes,
        *(f"`{tool}`: {reason}" for tool, reason in weakened.items() if force),
        *file_notes,
        *_compare_definitions(
            edited_workspace,
            name,
            [t for t in selection.tools.values() if force or t["name"] not in weakened],
        ),
        *handlers.notes,
        *mcp_specs.notes,
        *([] if source.has_mcp_specs else _list_other_entries(source)),
    )
    version = (source.listing.server_info or {}).get("version")
    if version and not source.server_version:
        notes += (
            f"`version` is not imported: {version} is that of the server's library",
        )
    unchanged_count = len(selection.tools) - len(new_tools)
    unchanged_count -= len(weakened.keys() | changed_fields.keys())
    return ImportPlan(
        edit,
        (*new_tools, *mcp_specs.new_names),
        {**changed_fields, **mcp_specs.changed_fields},
        toolset_fields,
        unchanged_count + mcp_specs.unchanged_count,
        selection.removed,
        selection.retained,
        tuple(source.rejected.values()),
        {} if force else weakened,
        tuple(dict.fromkeys(notes)),
    )


def _update_spec(
    editing: EditSession,
    spec: ToolSpec,
    tool: Mapping[str, Any],
    handler: str | None = None,
) -> tuple[str, ...]:
    """Edit a spec so that it matches a listed tool; return the changed fields.

    Args:
        handler: the handler for a spec that has neither a handler nor a proxy.

    Raises:
        UneditableValueError: the file cannot be edited. The session must not be used further.
    """
    tree = spec.source.tree
    spec_fields = merge_spec_fields(tree, tool)
    suppressions = build_required_fields(None, tool).get("suppress", [])
    if suppressions and suppressions[0] not in tree.get("suppress", []):
        spec_fields["suppress"] = [*tree.get("suppress", []), *suppressions]
    if handler is not None and spec.handler is None and spec.proxy is None:
        spec_fields["handler"] = handler
    text = editing.get_text(spec.source)
    changed_fields: list[str] = []
    previous_field = "name"
    for field, value in spec_fields.items():
        # JSON and YAML spell numbers differently; compare their value and type.
        if field not in tree or json.dumps(tree[field]) != json.dumps(value):
            text.set_field(field, value, previous_field)
            changed_fields.append(field)
        previous_field = field
    obsolete_fields = [*get_mcp_members().values(), "mcp"]
    if "description" in changed_fields and "description" not in tree:
        # The summary was also the description, which is a separate field now.
        obsolete_fields.append("summary")
    for field in obsolete_fields:
        if field in tree and field not in spec_fields and field != "description":
            text.remove_key((field,))
            changed_fields.append(field)
    if "description" in tree and "description" not in tool:
        text.remove_key(("description",))
        changed_fields.append("description")
    if changed_fields:
        # Raises if the edited text does not have the new values.
        text.encode()
    return tuple(changed_fields)


def _refuse_existing_files(root: str, new_files: Mapping[str, bytes]) -> None:
    disk = DiskFiles(root)
    existing = [path for path in new_files if disk.is_there(path)]
    if existing:
        paths = ", ".join(existing[:_MAX_NAMES_SHOWN])
        raise EditRefusedError(
            f"cannot create {paths}: the file exists, but is not a spec of the toolset",
            "move or remove the file",
        )


def _load_edited_specs(
    workspace: Workspace, edit: ProjectEdit, tools_by_file: Mapping[str, str]
) -> tuple[Workspace | None, dict[str, str]]:
    """Load the workspace after an edit, or return the tools whose specs have errors.

    Args:
        workspace: the workspace before the edit.
        edit: the edit.
        tools_by_file: the names of the imported tools by the files of their specs.

    Returns:
        The workspace, and the first error of each tool; the workspace is None if a tool has
        an error.

    Raises:
        EditRefusedError: the edit adds errors, but none to the specs of imported tools.
    """
    try:
        return (
            load_edited_workspace(
                workspace, edit.after, tolerated_rules=_TOLERATED_RULES
            ),
            {},
        )
    except EditRefusedError as error:
        reasons: dict[str, str] = {}
        for finding in error.findings:
            tool = tools_by_file.get(finding.location.file)
            if tool is not None:
                reason = f"{finding.rule}: {finding.message}"
                reasons.setdefault(tool, escape_excerpt(reason, _MAX_REASON_CHARACTERS))
        if not reasons:
            raise
        return None, reasons


def _compare_definitions(
    workspace: Workspace, name: str, tools: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Return notes on tools whose generated definition is not exactly the listed one."""
    toolset = next(t for t in workspace.toolsets if t.name == name)
    specs = {tool.name: tool for tool in toolset.tools}
    notes = []
    for tool in tools:
        # A confirmation that the spec requires is not part of the listed definition.
        definition = build_mcp_definition(replace(specs[tool["name"]], confirm=None))
        if json.dumps(tool) == json.dumps(definition):
            continue
        has_equal_values = _encode_sorted(tool) == _encode_sorted(definition)
        difference = (
            "has its members in another order than"
            if has_equal_values
            else "differs from"
        )
        notes.append(
            f"{quote_name(tool['name'])}: the definition generated from the spec"
            f" {difference} the listed one"
        )
    return notes


def _encode_sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _list_other_entries(source: ToolSource) -> list[str]:
    """Return notes on resources and prompts that a source lists, which are not imported."""
    notes = []
    for kind, key in (
        ("resources", "uri"),
        ("resourceTemplates", "uriTemplate"),
        ("prompts", "name"),
    ):
        entries = source.listing.entries(kind)
        if entries:
            names = [quote_name(entry[key]) for entry in entries]
            shown_names = format_first(names, _MAX_NAMES_SHOWN)
            notes.append(f"`{kind}` are not imported ({len(entries)}): {shown_names}")
    return notes
