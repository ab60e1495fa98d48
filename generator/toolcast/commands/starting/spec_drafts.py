"""First specs: of a toolset, of a tool, of a resource or prompt of MCP."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from toolcast_runtime.tools.module_names import WINDOWS_DEVICES, module_name, spec_name

from ...edits.free_names import refuse_taken_name
from ...edits.project_edit import Editing, ProjectEdit, Refusal
from ...encoders.code import Code
from ...encoders.plain_text import line
from ...encoders.yaml_block import block, scalar
from ...model.model import HandlerReference, Toolset, Workspace
from ...model.spec_files import FOLDERS
from ...model.spec_schema import schemas_beside
from ...rendering.renderer import render
from ...suggestions import did_you_mean, quoted_list
from ...targets.table import enabled
from .stub_draft import handler_files

__all__ = [
    "draft_toolset",
    "KINDS",
    "draft_mcp_spec",
    "Draft",
    "draft_tool",
    "free_keyword",
    "schemas_of",
    "section_of",
    "toolset_of",
]


_TOOLSET_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def draft_toolset(workspace: Workspace, name: str) -> ProjectEdit:
    """A toolset without tools, listed in toolcast.yaml.

    It lies beside the first one, and has its package of handlers.

    Raises:
        Refusal: the name is not valid or taken.
        CannotEdit: toolcast.yaml has a layout that is not edited.
    """
    if not _TOOLSET_NAME.fullmatch(name):
        rule = "1 to 64 of a-z 0-9 _, a letter first"
        raise Refusal(f"`{name}` is not a toolset's name: {rule}", is_usage=True)
    if name in {toolset.name for toolset in workspace.toolsets}:
        raise Refusal(f"there is a toolset `{name}` already")
    first = workspace.toolsets[0]
    above, slash, _ = first.folder.rpartition("/")
    folder = f"{above}{slash}{name}"
    editing = Editing()
    editing.text(workspace.source).append(("toolsets",), folder)
    before, after = editing.files()
    fields: dict[str, object] = {
        "name": name,
        "title": name.replace("_", " ").strip().capitalize(),
        "version": "0.1.0",
    }
    if first.handlers is not None:
        fields["handlers"] = first.handlers
    path = f"{folder}/toolset.yaml"
    text = "".join(f"{block(key, value)}" for key, value in fields.items())
    schemas = schemas_of(first)
    if schemas is not None:
        text = f"# yaml-language-server: $schema={schemas.format('toolset')}\n{text}"
    before, after = {path: None, **before}, {path: text.encode(), **after}
    return ProjectEdit(
        f"toolset {name}",
        before,
        after,
        steps=(
            f"toolcast new NAME --toolset {name}",
            "toolcast generate",
        ),
    )


KINDS = {"resource": "mcp_resources", "prompt": "mcp_prompts"}
"""The folder of each kind of spec that MCP clients see beside tools."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(frozen=True)
class McpSpecView:
    """What the spec's template places."""

    has_schema: bool
    schema: Code
    name: Code
    uri: Code
    has_clients: bool
    clients: Code


def draft_mcp_spec(
    workspace: Workspace, kind: str, name: str, toolset_name: str | None
) -> Draft:
    """The file of a new resource or MCP prompt.

    Args:
        kind: one of `KINDS`.

    Raises:
        Refusal: the name is not valid, the toolset is not known, or has no MCP server.
    """
    toolset = toolset_of(workspace, toolset_name)
    if not _NAME.fullmatch(name) or name.startswith("."):
        rule = "1 to 128 of A-Z a-z 0-9 _ . -, no dot first"
        raise Refusal(f"`{name}` is not a {kind}'s name: {rule}")
    if name.split(".")[0].lower() in WINDOWS_DEVICES:
        raise Refusal(f"Windows has no file `{name}.yaml`", "choose another name")
    targets = enabled(tuple(toolset.targets), workspace.extensions)
    if "mcp" not in {target.name for target in targets}:
        raise Refusal(
            f"the toolset {toolset.name} has no MCP server, which would offer the {kind}",
            f"add `mcp: {{}}` to `targets` of {toolset.folder}/toolset.yaml",
        )
    folder = KINDS[kind]
    schemas = schemas_of(toolset)
    # One folder further down, unless it is an address.
    above = "" if schemas is None or ":" in schemas else "../"
    clients = quoted_list([client.name for client in toolset.clients])
    view = McpSpecView(
        has_schema=schemas is not None,
        schema=line(f"{above}{schemas or ''}".format(FOLDERS[folder])),
        name=scalar(name),
        uri=scalar(f"{_scheme(toolset.name)}://{name}"),
        has_clients=bool(toolset.clients),
        clients=line(clients),
    )
    path = f"{toolset.folder}/{folder}/{name}.yaml"
    files = {path: render(f"new/{kind}.yaml.jinja", view)}
    steps = [f"replace every TODO in {path}"]
    if toolset.clients:
        steps.append(f"name who may have it in its `clients`, of {clients}")
    return Draft(files, (*steps, "toolcast generate"))


def _scheme(name: str) -> str:
    """What the URIs of a toolset's resources begin with."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return plain if plain[:1].isalpha() else f"toolset-{plain}".rstrip("-")


_PLAIN = re.compile(r"[A-Za-z0-9_./:-]*(\{\}\.schema\.json|\.json#/\$defs/\{\})")


@dataclass(frozen=True)
class Draft:
    """A new tool.

    Attributes:
        files: `{path below the project's root: bytes}`.
        steps: what its author does next, in order.
        notes: what its author should know, each with file and line.
    """

    files: Mapping[str, bytes]
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SpecView:
    """What the spec's template places."""

    has_schema: bool
    schema: Code
    name: Code
    tool: Code
    has_prompts: bool
    has_section: bool
    section: Code
    has_mcp: bool
    has_handler: bool
    handler: Code
    has_cli: bool
    keyword: Code


def draft_tool(
    workspace: Workspace, name: str, toolset_name: str | None, section: str | None
) -> Draft:
    """The files of a new tool.

    Raises:
        Refusal: the name is not valid or taken, or the toolset or section is not known.
    """
    toolset = toolset_of(workspace, toolset_name)
    refuse_taken_name(toolset, name)
    section = section_of(toolset, section)
    module = module_name(name)
    schemas = schemas_of(toolset)
    targets = {
        target.name for target in enabled(tuple(toolset.targets), workspace.extensions)
    }
    package = toolset.handlers
    view = SpecView(
        has_schema=schemas is not None,
        schema=line((schemas or "").format("tool")),
        name=scalar(name),
        tool=line(name),
        has_prompts="prompts" in targets,
        has_section=section is not None,
        section=scalar(section or ""),
        has_mcp="mcp" in targets,
        has_handler=package is not None,
        handler=line(f"{package}.{module}:{module}"),
        has_cli="cli" in targets,
        keyword=scalar(free_keyword(toolset, name)),
    )
    spec_path = f"{toolset.folder}/{spec_name(name)}.yaml"
    files = {spec_path: render("new/tool.yaml.jinja", view)}
    steps = [f"replace every TODO in {spec_path}"]
    if package is None:
        steps.append(
            f"give {toolset.folder}/toolset.yaml a `handlers` package, write the handler"
            " there, and name it in the spec: `handler: module:function`"
        )
    else:
        reference = HandlerReference(f"{package}.{module}", module)
        stub = handler_files(workspace, reference, name)
        files |= stub
        steps.append(f"write the handler in {list(stub)[-1]}")
    steps.append("toolcast generate")
    return Draft(files, tuple(steps))


def toolset_of(workspace: Workspace, name: str | None) -> Toolset:
    """The toolset that an option names, or the only one.

    Raises:
        Refusal: there is none of the name, or there are several.
    """
    names = [toolset.name for toolset in workspace.toolsets]
    if name is None:
        if len(names) == 1:
            return workspace.toolsets[0]
        raise Refusal(
            f"there are {len(names)} toolsets\n"
            f"  help: add `--toolset` with one of {quoted_list(names)}"
        )
    if name not in names:
        meant = did_you_mean(name, names) or f"the toolsets are {quoted_list(names)}"
        raise Refusal(f"there is no toolset `{name}`\n  help: {meant}")
    return workspace.toolsets[names.index(name)]


def section_of(toolset: Toolset, name: str | None) -> str | None:
    """The section that an option names, or the only one; None where there is none.

    Raises:
        Refusal: there is none of the name, or there are several.
    """
    names = [section.name for section in toolset.sections]
    if name is None:
        if len(names) > 1 and "prompts" in toolset.targets:
            raise Refusal(
                f"the toolset {toolset.name} has {len(names)} sections\n"
                f"  help: add `--section` with one of {quoted_list(names)}"
            )
        return names[0] if names else None
    if name not in names:
        known = f"the sections are {quoted_list(names)}" if names else "it has none"
        meant = did_you_mean(name, names) or known
        raise Refusal(
            f"the toolset {toolset.name} has no section `{name}`\n  help: {meant}"
        )
    return name


def schemas_of(toolset: Toolset) -> str | None:
    """Where the toolset's own file has its schema from, as seen from a spec beside it.

    `{}` stands for the kind of the spec.
    """
    schemas = schemas_beside(toolset.source.opening, "toolset")
    return schemas if schemas is not None and _PLAIN.fullmatch(schemas) else None


def free_keyword(toolset: Toolset, name: str) -> str:
    """A keyword for the command line that no tool of the toolset has."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = plain if plain[:1].isalpha() else f"tool-{plain}".rstrip("-")
    taken = {
        tool.cli.keyword.split()[0]
        for tool in toolset.tools
        if tool.cli and tool.cli.keyword
    }
    keyword, number = plain, 2
    while keyword in taken:
        keyword, number = f"{plain}-{number}", number + 1
    return keyword
