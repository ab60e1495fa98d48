"""Lists of tools become specs: of new tools, and of those that are there."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escaped
from toolcast_runtime.core.definitions.tool import distinct_name

from ..edits.free_names import free_file_names
from ..edits.project_edit import Editing, ProjectEdit, Refusal, specs_after
from ..edits.spec_text import CannotEdit, SpecText
from ..encoders.yaml_block import block
from ..facts.tool_lists import MEMBERS, mcp_definition
from ..findings import has_errors
from ..language.spec_language import schema_text
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.spec_schema import SCHEMA_FILE, named_schema, schemas_beside
from ..project import WORKSPACE_FILE
from ..reading.project_files import DiskFiles
from ..suggestions import first_of
from .forms import Source
from .own_decisions import called_here, names_of, remove_gone, staying

_LONGEST_SUMMARY = 120
_SENTENCE = re.compile(r"(.*?[.!?])(?:\s|$)")


def fields_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What a new spec says of a tool, from which MCP's definition is made key for key.

    A member that MCP does not define goes to `mcp.extra`; where the tool has no description,
    `mcp.omit` says so. A description of one short line is the summary, and not said twice.
    """
    fields: dict[str, Any] = {}
    has_summary = _is_summary(tool.get("description"))
    for member, value in tool.items():
        if member == "name":
            fields["name"] = value
            if not has_summary:
                # Here a reader looks for it; it has no place in MCP's definition.
                fields["summary"] = summary_of(tool)
        elif member == "description" and has_summary:
            fields["summary"] = value
        elif member in MEMBERS:
            fields[MEMBERS[member]] = value
        else:
            fields.setdefault("mcp", {}).setdefault("extra", {})[member] = value
    if "description" not in tool:
        fields.setdefault("mcp", {})["omit"] = ["description"]
    return fields


def said_of(spec: Mapping[str, Any], tool: Mapping[str, Any]) -> dict[str, Any]:
    """`fields_of` for a tool that has a spec, whose own summary stays where it may."""
    fields = fields_of(tool)
    if "description" in spec and "description" not in fields and "summary" in fields:
        fields = {"description" if k == "summary" else k: v for k, v in fields.items()}
    is_listed = "description" in tool and "description" not in fields
    if not is_listed and _has_own_summary(spec):
        fields.pop("summary", None)
    mcp = spec.get("mcp")
    if isinstance(mcp, Mapping):
        own = {k: v for k, v in mcp.items() if k not in ("extra", "omit")}
        if own or "mcp" in fields:
            fields["mcp"] = {**own, **fields.get("mcp", {})}
    return fields


def _has_own_summary(spec: Mapping[str, Any]) -> bool:
    """Whether a spec's summary is no part of what is listed, and none that an import writes."""
    is_omitted = "description" in spec.get("mcp", {}).get("omit", ())
    is_listed = "description" not in spec and not is_omitted
    return not is_listed and spec.get("summary") != summary_of(spec)


def summary_of(tool: Mapping[str, Any]) -> str:
    """One line: the first sentence that the tool says of itself, else its name."""
    for member in ("description", "title"):
        for line in str(tool.get(member) or "").splitlines():
            words = " ".join("".join(c for c in line if c.isprintable()).split())
            if words:
                return _short(words)
    return str(tool["name"])


def _short(words: str) -> str:
    if len(words) <= _LONGEST_SUMMARY:
        return words
    sentence = _SENTENCE.match(words)
    if sentence and len(sentence[1]) <= _LONGEST_SUMMARY:
        return sentence[1]
    return words[: _LONGEST_SUMMARY - 4].rpartition(" ")[0] + " ..."


def _is_summary(value: Any) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_SUMMARY
        and value == value.strip()
        and value.isprintable()
    )


_TARGETS: Mapping[str, Any] = {"mcp": {}, "registry": {}, "snapshots": {}}


def spec_text(
    schemas: str | None, file: str, kind: str, fields: Mapping[str, Any]
) -> bytes:
    """A spec file, which begins with the line by which editors complete and check it.

    Args:
        schemas: where the project has its schemas, `{}` for the kind; None leaves the line
            out.
        file: where it will be, relative to the project's root.
        kind: of `KINDS`.
        fields: JSON, in the order in which they are written.
    """
    opening = ""
    if schemas is not None:
        path = posixpath.relpath(schemas.format(kind), posixpath.dirname(file))
        opening = f"# yaml-language-server: $schema={path}\n"
    lines = (str(block(key, value)) for key, value in fields.items())
    return "".join((opening, *lines)).encode()


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
    workspace: Workspace, editing: Editing, source: Source, name: str
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
    editing: Editing, toolset: Toolset, source: Source
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


_TASKS = {
    "rule": "expose/task-support",
    "reason": "The server that it comes from runs it as a task only.",
}
_MOST_NAMED = 8
_LONGEST_REASON = 400
_PASSED = ("name/former-alive", "prompt/other-tools")
"""Errors that texts of a server may bring, which only it can write otherwise."""


@dataclass(frozen=True)
class Imported:
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


class _NotTaken(Exception):
    """Tools that an import cannot take, or not remove: why, a line each, by their names."""

    def __init__(self, refused: Mapping[str, str], staying: Mapping[str, str]) -> None:
        super().__init__()
        self.refused, self.staying = refused, staying


def importing(
    workspace: Workspace,
    source: Source,
    name: str,
    *,
    keep: bool = False,
    force: bool = False,
) -> Imported:
    """Makes the specs of a toolset say what a source lists.

    A tool without a spec gets one. In a spec that is there only the fields change that
    say something else than the source: every other byte stays. The spec of a tool that the
    source does not have goes, see `own_decisions.staying`. A tool whose spec would have an
    error is left out, and its spec stays as it is.

    Args:
        workspace: the project; one without toolsets where there is no toolcast.yaml yet.
        source: one list, checked by `imports/source_file.py`.
        name: of the toolset; one that is not there is made.
        keep: removes nothing.
        force: removes what a person has added to, and more than half of the tools.

    Raises:
        Refusal: the specs could not be what the source says; with their findings.
    """
    refused = dict(source.refused)
    stays: dict[str, str] = {}
    while True:
        try:
            return _imported(workspace, source, name, refused, stays, keep, force)
        except _NotTaken as found:
            refused |= found.refused
            stays |= found.staying


def _imported(
    workspace: Workspace,
    source: Source,
    name: str,
    refused: Mapping[str, str],
    stays: Mapping[str, str],
    keep: bool,
    force: bool,
) -> Imported:
    """An import without what is known to be refused, and to stay.

    Raises:
        Refusal: as `importing`.
        _NotTaken: of other tools that is found now.
    """
    toolset = next((one for one in workspace.toolsets if one.name == name), None)
    editing = Editing()
    toolset_fields: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    tools: Sequence[Mapping[str, Any]] = source.listing.tools
    decided: list[str] = []
    gone: list[ToolSpec] = []
    cannot: dict[str, str] = {}
    if toolset is None:
        folder, schemas, files = new_toolset(workspace, editing, source, name)
    else:
        files = {}
        folder, schemas = toolset.folder, schemas_of(workspace, toolset)
        toolset_fields = change_toolset(editing, toolset, source)
        tools, decided = called_here(toolset, tools)
        listed = {*names_of(source), *(tool["name"] for tool in tools)}
        gone = [tool for tool in toolset.tools if tool.name not in listed]
        untouched = partial(_is_untouched, toolset, schemas)
        stays = {**staying(toolset, gone, source, untouched, force=force), **stays}
        if keep:
            stays = dict.fromkeys((tool.name for tool in gone), "nothing is removed")
        removed = [tool for tool in gone if tool.name not in stays]
        cannot = remove_gone(editing, workspace, toolset, removed, listed)
    if tools and all(tool["name"] in refused for tool in tools):
        raise Refusal("\n".join(refused.values()))
    tools = [tool for tool in tools if tool["name"] not in refused]
    there = {} if toolset is None else {tool.name: tool for tool in toolset.tools}
    orders = [tool.order for tool in there.values() if tool.order is not None]
    order = int(max(orders, default=0))
    new = [tool["name"] for tool in tools if tool["name"] not in there]
    called = free_file_names(new, there.values())
    unwritten: dict[str, str] = {}
    for tool in tools:
        spec = there.get(tool["name"])
        if spec is not None:
            try:
                fields = _change(editing, spec, tool)
            except CannotEdit as error:
                unwritten[spec.name] = f"`{escaped(spec.name, 80)}`: {error}"
                continue
            if fields:
                changed[spec.name] = fields
            continue
        order += 1
        more = {**source.fields.get(tool["name"], {}), **_needed(toolset, tool)}
        file = f"{folder}/{called[tool['name']]}.yaml"
        spec_fields = {**fields_of(tool), **more, "order": order}
        files[file] = spec_text(schemas, file, "tool", spec_fields)
    if cannot or unwritten:
        raise _NotTaken(unwritten, cannot)
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
    places = {spec.source.file: name for name, spec in there.items()}
    places |= {f"{folder}/{file}.yaml": name for name, file in called.items()}
    notes = _verified(workspace, edit, tools, name, places)
    distinct = [
        f"`{tool}` is in {folder}/{file}.yaml: another tool has the file or the module of"
        " that name"
        for tool, file in called.items()
        if file == distinct_name(tool)
    ]
    all_notes = (
        *source.notes,
        *source.listing.notes,
        *decided,
        *distinct,
        *notes,
        *_left_out(source),
    )
    return Imported(
        edit,
        tuple(new),
        changed,
        toolset_fields,
        len(tools) - len(new) - len(changed),
        tuple(tool.name for tool in gone if tool.name not in stays),
        stays,
        tuple(refused.values()),
        tuple(dict.fromkeys(all_notes)),
    )


def _is_untouched(toolset: Toolset, schemas: str | None, tool: ToolSpec) -> bool:
    """Whether a spec is as an import writes it, to the letter."""
    source = tool.source
    if source.data.replace(b"\r\n", b"\n") != spec_text(
        schemas, source.file, "tool", source.tree
    ):
        return False
    definition = mcp_definition(replace(tool, confirm=None))
    made = {**fields_of(definition), **_needed(toolset, definition)}
    return all(
        field == "order" or (field in made and made[field] == value)
        for field, value in source.tree.items()
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
    """Makes a spec say what the tool is; the names of the fields that change.

    Raises:
        CannotEdit: it cannot say that; then nothing of it is in the edit.
    """
    tree = spec.source.tree
    spec_fields = said_of(tree, tool)
    needed = _needed(None, tool).get("suppress", [])
    if needed and needed[0] not in tree.get("suppress", []):
        spec_fields["suppress"] = [*tree.get("suppress", []), *needed]
    text = SpecText(spec.source)
    changed: list[str] = []
    last = "name"
    for field, value in spec_fields.items():
        # A number's spelling in JSON is not the one in YAML; its value and kind are.
        if field not in tree or json.dumps(tree[field]) != json.dumps(value):
            text.set_block(field, value, last)
            changed.append(field)
        last = field
    for field in (*MEMBERS.values(), "mcp"):
        if field in tree and field not in spec_fields and field != "description":
            text.remove_key((field,))
            changed.append(field)
    if "description" in tree and "description" not in tool:
        text.remove_key(("description",))
        changed.append("description")
    if changed:
        text.result()
        editing.set_text(text)
    return tuple(changed)


def _refuse_taken(root: str, files: Mapping[str, bytes]) -> None:
    there = DiskFiles(root)
    taken = [path for path in files if there.is_there(path)]
    if taken:
        named = ", ".join(taken[:_MOST_NAMED])
        raise Refusal(f"{named} is there already, and is no spec of such a tool")


def _verified(
    workspace: Workspace,
    edit: ProjectEdit,
    tools: Sequence[Mapping[str, Any]],
    name: str,
    places: Mapping[str, str],
) -> list[str]:
    """Notes on what the specs of a toolset do not say exactly as the listed tools do.

    Args:
        places: whose spec is in which file.

    Raises:
        Refusal: the specs would have errors.
        _NotTaken: those of single tools would.
    """
    try:
        made = specs_after(workspace, edit.after, passed=_PASSED)
    except Refusal as refusal:
        wrong: dict[str, str] = {}
        for one in refusal.findings:
            tool_name = places.get(one.place.file)
            if tool_name is not None and has_errors([one]):
                words = escaped(f"{one.rule}: {one.message}", _LONGEST_REASON)
                why = f"`{escaped(tool_name, 80)}`: {words}"
                wrong.setdefault(tool_name, why)
        if not wrong:
            raise
        raise _NotTaken(wrong, {}) from None
    toolset = next(one for one in made.toolsets if one.name == name)
    specs = {tool.name: tool for tool in toolset.tools}
    notes = []
    for tool in tools:
        # What a spec adds of its own, a person's yes for one, is none of the source's.
        definition = mcp_definition(replace(specs[tool["name"]], confirm=None))
        given, spec_fields = json.dumps(tool), json.dumps(definition)
        if given == spec_fields:
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
            names = [f"`{escaped(entry[key], 80)}`" for entry in entries]
            named = first_of(names, _MOST_NAMED)
            notes.append(f"not imported, {len(entries)} of kind {what}: {named}")
    return notes
