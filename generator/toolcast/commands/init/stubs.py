"""Draft specs of toolsets, tools, resources and prompts, and handler stubs."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping, Sequence

from toolcast_runtime.core.definitions.tool import command_name, module_name, spec_name
from toolcast_runtime.values.annotated_types import is_keyword_argument

from ...encoders.plain_text import encode_line
from ...encoders.python import encode_identifier, encode_literal
from ...encoders.yaml_block import encode_entry, encode_scalar
from ...model.model import (
    Toolset,
    ToolSpec,
    Workspace,
)
from ...model.spec_files import KINDS_BY_FOLDER
from ...model.spec_schema import find_schema_pattern, is_windows_device
from ...model.toolset_parts import (
    HandlerReference,
)
from ...project import list_missing_packages
from ...refactoring.free_names import validate_tool_name
from ...refactoring.project_edit import (
    EditRefusedError,
    EditSession,
    OwnedTool,
    ProjectEdit,
)
from ...rendering.output_shape import View
from ...rendering.renderer import format_python, render
from ...suggestions import did_you_mean, format_quoted_list
from ...targets.table import list_enabled_targets

_TOOLSET_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MCP_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MCP_FOLDERS = {"resource": "mcp_resources", "prompt": "mcp_prompts"}
# A reference to a schema with `{}` for the kind of spec. Only simple characters are allowed,
# because the reference is copied into new specs.
_SCHEMAS = re.compile(r"[A-Za-z0-9_./:-]*(\{\}\.schema\.json|\.json#/\$defs/\{\})")
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def build_new_files_edit(
    files: Mapping[str, bytes], steps: Sequence[str], notes: Sequence[str] = ()
) -> ProjectEdit:
    """Return the edit that creates files; it is refused later if one of them exists.

    Args:
        files: the content of each file by path below the project's root.
        steps: the user's next steps.
        notes: notes for the user, each with file and line.
    """
    return ProjectEdit(
        "", dict.fromkeys(files), files, steps=tuple(steps), notes=tuple(notes)
    )


def draft_toolset(workspace: Workspace, name: str) -> ProjectEdit:
    """Return the edit that creates an empty toolset and lists it in toolcast.yaml.

    The new toolset's folder is next to that of the first toolset. Both have the same handlers
    package.

    Raises:
        EditRefusedError: the name is invalid, or a toolset has it.
        UneditableValueError: the layout of toolcast.yaml does not allow the edit.
    """
    if not _TOOLSET_NAME.fullmatch(name):
        raise EditRefusedError(
            f"`{name}` is not a valid toolset name",
            "use 1 to 64 characters of a-z 0-9 _, the first one a letter",
            is_usage=True,
        )
    if name in {toolset.name for toolset in workspace.toolsets}:
        raise EditRefusedError(
            f"the toolset `{name}` exists already", "choose another name"
        )
    first = workspace.toolsets[0]
    parent, slash, _ = first.folder.rpartition("/")
    folder = f"{parent}{slash}{name}"
    editing = EditSession()
    editing.get_text(workspace.source).append_item(("toolsets",), folder)
    before, after = editing.collect_files()
    fields: dict[str, object] = {
        "name": name,
        "title": name.replace("_", " ").strip().capitalize(),
        "version": "0.1.0",
    }
    if first.handlers is not None:
        fields["handlers"] = first.handlers
    path = f"{folder}/toolset.yaml"
    text = "".join(f"{encode_entry(key, value)}" for key, value in fields.items())
    schemas = find_schema_reference(first)
    if schemas is not None:
        text = f"# yaml-language-server: $schema={schemas.format('toolset')}\n{text}"
    return ProjectEdit(
        f"toolset {name}",
        {path: None, **before},
        {path: text.encode(), **after},
        steps=(f"toolcast new NAME --toolset {name}", "toolcast generate"),
    )


def draft_mcp_spec(
    workspace: Workspace, kind: str, name: str, toolset_name: str | None
) -> ProjectEdit:
    """Return the edit that creates the spec of an MCP resource or MCP prompt.

    Args:
        kind: `resource` or `prompt`.
        name: the name of the resource or prompt.
        toolset_name: the toolset; None for the only one.

    Raises:
        EditRefusedError: the name is invalid, or the toolset does not exist or has no MCP
            server.
    """
    toolset = get_toolset(workspace, toolset_name)
    if not _MCP_NAME.fullmatch(name) or name.startswith("."):
        raise EditRefusedError(
            f"`{name}` is not a valid {kind} name",
            "use 1 to 128 characters of A-Z a-z 0-9 _ . -, the first one not a dot",
        )
    if is_windows_device(name):
        raise EditRefusedError(
            f"`{name}.yaml` is a reserved file name on Windows", "choose another name"
        )
    targets = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    if "mcp" not in {target.name for target in targets}:
        raise EditRefusedError(
            f"the toolset {toolset.name} has no MCP server, which a {kind} needs",
            f"add `mcp: {{}}` to `targets` of {toolset.folder}/toolset.yaml",
        )
    folder = _MCP_FOLDERS[kind]
    schemas = find_schema_reference(toolset)
    # The schema's path is relative to the toolset's folder. The new spec is in a subfolder, so
    # prefix the path with `../`, unless it is a URL, which contains a colon.
    parent = "" if schemas is None or ":" in schemas else "../"
    clients = format_quoted_list([client.name for client in toolset.clients])
    view = View(
        schema=encode_line(f"{parent}{schemas or ''}".format(KINDS_BY_FOLDER[folder])),
        name=encode_scalar(name),
        uri=encode_scalar(f"{_build_uri_scheme(toolset.name)}://{name}"),
        clients=encode_line(clients),
    )
    path = f"{toolset.folder}/{folder}/{name}.yaml"
    files = {path: render(f"new/{kind}.yaml.jinja", view)}
    steps = [f"replace every TODO in {path}"]
    if toolset.clients:
        steps.append(f"list the clients with access in its `clients`: {clients}")
    return build_new_files_edit(files, (*steps, "toolcast generate"))


def _build_uri_scheme(toolset_name: str) -> str:
    """Return a URI scheme for a toolset's resources, which must begin with a letter."""
    slug = re.sub(r"[^a-z0-9]+", "-", toolset_name.lower()).strip("-")
    return slug if slug[:1].isalpha() else f"toolset-{slug}".rstrip("-")


def draft_tool(
    workspace: Workspace, name: str, toolset_name: str | None, section: str | None
) -> ProjectEdit:
    """Return the edit that creates the spec and the handler stub of a tool.

    Without a handlers package in the toolset, there is no stub.

    Raises:
        EditRefusedError: the name is invalid or exists, or the toolset or section does not
            exist.
    """
    toolset = get_toolset(workspace, toolset_name)
    validate_tool_name(toolset, name)
    section = get_section(toolset, section)
    module = module_name(name)
    schemas = find_schema_reference(toolset)
    targets = {
        target.name
        for target in list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    }
    package = toolset.handlers
    view = View(
        schema=encode_line((schemas or "").format("tool")),
        name=encode_scalar(name),
        tool=encode_line(name),
        has_prompts="prompts" in targets,
        section=None if section is None else encode_scalar(section),
        has_mcp="mcp" in targets,
        has_handler=package is not None,
        handler=encode_line(f"{package}.{module}:{module}"),
        has_cli="cli" in targets,
        keyword=encode_scalar(choose_keyword(toolset, name)),
    )
    spec_path = f"{toolset.folder}/{spec_name(name)}.yaml"
    files = {spec_path: render("new/tool.yaml.jinja", view)}
    steps = [f"replace every TODO in {spec_path}"]
    if package is None:
        steps.append(
            f"add a `handlers` package to {toolset.folder}/toolset.yaml, write the handler"
            " there, and add `handler: module:function` to the spec"
        )
    else:
        reference = HandlerReference(f"{package}.{module}", module)
        stub = _render_handler_files(workspace, reference, name)
        files |= stub
        steps.append(f"write the handler in {list(stub)[-1]}")
    steps.append("toolcast generate")
    return build_new_files_edit(files, steps)


def get_toolset(workspace: Workspace, name: str | None) -> Toolset:
    """Return the toolset with a name; without a name, the only toolset.

    Raises:
        EditRefusedError: the toolset does not exist, or there are several and no name.
    """
    names = [toolset.name for toolset in workspace.toolsets]
    if name is None:
        if len(names) == 1:
            return workspace.toolsets[0]
        raise EditRefusedError(
            f"there are {len(names)} toolsets\n"
            f"  help: add `--toolset` with one of {format_quoted_list(names)}"
        )
    if name not in names:
        suggestion = did_you_mean(name, names)
        help_ = suggestion or f"the toolsets are {format_quoted_list(names)}"
        raise EditRefusedError(f"there is no toolset `{name}`\n  help: {help_}")
    return workspace.toolsets[names.index(name)]


def get_section(toolset: Toolset, name: str | None) -> str | None:
    """Return the name of a section; without a name, the only section.

    Returns None if the toolset has no sections. Without a name and without the target
    `prompts`, the result is the first of several sections.

    Raises:
        EditRefusedError: the section does not exist, or there are several and no name.
    """
    names = [section.name for section in toolset.sections]
    if name is None:
        if len(names) > 1 and "prompts" in toolset.targets:
            raise EditRefusedError(
                f"the toolset {toolset.name} has {len(names)} sections\n"
                f"  help: add `--section` with one of {format_quoted_list(names)}"
            )
        return names[0] if names else None
    if name not in names:
        help_ = "remove `--section`: there are no sections"
        if names:
            sections = f"the sections are {format_quoted_list(names)}"
            help_ = did_you_mean(name, names) or sections
        raise EditRefusedError(
            f"the toolset {toolset.name} has no section `{name}`\n  help: {help_}"
        )
    return name


def find_schema_reference(toolset: Toolset) -> str | None:
    """Return the schema reference of toolset.yaml, with `{}` for the kind of spec.

    New specs in the same folder can use the reference for their own kind. None if toolset.yaml
    has no schema reference, or a reference of an unsupported form.
    """
    schemas = find_schema_pattern(toolset.source.opening, "toolset")
    return schemas if schemas is not None and _SCHEMAS.fullmatch(schemas) else None


def choose_keyword(toolset: Toolset, name: str) -> str:
    """Return a command name for a new tool that no other tool of the toolset has.

    If the name is in use, a number from 2 is appended.
    """
    base = command_name(name)
    existing = {
        tool.cli.keyword.split()[0]
        for tool in toolset.tools
        if tool.cli and tool.cli.keyword
    }
    keyword, number = base, 2
    while keyword in existing:
        keyword, number = f"{base}-{number}", number + 1
    return keyword


def draft_stub(workspace: Workspace, owned: OwnedTool) -> ProjectEdit:
    """Return the edit that creates a handler stub with the parameters of a spec.

    If the spec has no `handler`, the edit adds the field to the spec.

    Raises:
        EditRefusedError: the handler's file exists, the tool's calls go to an external
            server, or the spec has no `handler` and the toolset no handlers package.
        UneditableValueError: the layout of the spec does not allow the edit.
    """
    toolset, tool = owned.toolset, owned.tool
    editing = EditSession()
    reference = tool.handler
    if toolset.get_proxy(tool) is not None:
        raise EditRefusedError(
            f"`{tool.name}` has no handler: its calls go to an external server"
        )
    if reference is None:
        if toolset.handlers is None:
            help_ = f"add a `handlers` package to {toolset.folder}/toolset.yaml"
            raise EditRefusedError(
                f"the toolset {toolset.name} has no package for its handlers", help_
            )
        module = module_name(tool.name)
        reference = HandlerReference(f"{toolset.handlers}.{module}", module)
        last_key = next(reversed(tool.source.tree))
        text = f"{reference.module}:{reference.function}"
        editing.get_text(tool.source).insert_key((last_key,), "handler", text)
    files = _render_handler_files(workspace, reference, tool.name, tool)
    path = list(files)[-1]
    if os.path.lexists(os.path.join(workspace.root, path)):
        raise EditRefusedError(
            f"{path} exists already",
            f"write `{reference.function}` in it: stubs are only created as new files",
        )
    before, after = editing.collect_files()
    return ProjectEdit(
        path,
        {**dict.fromkeys(files), **before},
        {**files, **after},
        steps=(f"write the handler in {path}", "toolcast generate"),
    )


def _render_handler_files(
    workspace: Workspace,
    reference: HandlerReference,
    name: str,
    tool: ToolSpec | None = None,
) -> dict[str, bytes]:
    """Return the files of a handler stub by path; the stub itself is the last one.

    The others are the missing `__init__.py` files of the handler's package.

    Args:
        name: the name of the tool.
        tool: the spec with the stub's parameters; None for the stub of a new tool.
    """
    files = render_missing_packages(workspace, reference)
    template = "new/handler.py.jinja"
    properties = {} if tool is None else tool.properties
    keys = [*properties, *(() if tool is None else tool.uses)]
    # If a name is not a Python identifier, the stub accepts all arguments as one mapping.
    accepts_mapping = not all(map(is_keyword_argument, keys))
    parameters = []
    if tool is not None and not accepts_mapping:
        parameters = [_build_parameter(tool, key) for key in keys]
    view = View(
        tool=encode_line(name),
        function=encode_identifier(reference.function),
        is_typed=tool is not None,
        takes_query=tool is None,
        accepts_mapping=accepts_mapping,
        parameters=parameters,
    )
    path = get_handler_path(workspace, reference)
    files[path] = format_python(template, render(template, view))
    return files


def get_handler_path(workspace: Workspace, reference: HandlerReference) -> str:
    """Return the path of a handler's module, relative to the project's root."""
    path = reference.module.replace(".", "/")
    return _join(_find_source_folder(workspace, reference), f"{path}.py")


def render_missing_packages(
    workspace: Workspace, reference: HandlerReference
) -> dict[str, bytes]:
    """Return the `__init__.py` files that a handler's package and its parents need."""
    source = _find_source_folder(workspace, reference)
    package = reference.module.rpartition(".")[0]
    paths = list_missing_packages(workspace.root, source, package) if package else ()
    return {path: render("new/package.py.jinja", View()) for path in paths}


def _build_parameter(tool: ToolSpec, key: str) -> View:
    """Build a parameter of a stub; optional parameters have the spec's default or None."""
    schema = tool.properties.get(key)
    schema = schema if isinstance(schema, dict) else {}
    # Only simple types are annotated. The generated types module has exact types of formats,
    # enumerations and alternatives.
    type_name = schema.get("type") if "format" not in schema else None
    annotation = _TYPES.get(type_name, "Any") if isinstance(type_name, str) else "Any"
    if "enum" in schema or "const" in schema:
        annotation = "Any"
    default = schema.get("default")
    if not isinstance(default, str | int | float | bool):
        default = None
    has_default = key not in tool.required and key not in tool.uses
    if has_default and default is None and annotation != "Any":
        annotation = f"{annotation} | None"
    return View(
        name=encode_identifier(key),
        type=encode_line(annotation),
        default=encode_literal(default) if has_default else None,
    )


def _find_source_folder(workspace: Workspace, reference: HandlerReference) -> str:
    """Return the source folder that contains a handler's package.

    If the package does not exist, returns the first source folder.
    """
    folder = reference.module.rpartition(".")[0].replace(".", "/")
    for source in workspace.sources:
        if os.path.isdir(os.path.join(workspace.root, source, folder)):
            return source
    return workspace.sources[0]


def _join(source: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(source, path))
