"""First files: specs of toolsets, tools, resources and prompts, and the stubs of handlers."""

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
from ...refactoring.free_names import refuse_taken_name
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
_SCHEMAS = re.compile(r"[A-Za-z0-9_./:-]*(\{\}\.schema\.json|\.json#/\$defs/\{\})")
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def new_files(
    files: Mapping[str, bytes], steps: Sequence[str], notes: Sequence[str] = ()
) -> ProjectEdit:
    """The edit that writes files where none are.

    Args:
        files: by their paths below the project's root.
        steps: what their author does next, in order.
        notes: what their author should know, each with file and line.
    """
    return ProjectEdit(
        "", dict.fromkeys(files), files, steps=tuple(steps), notes=tuple(notes)
    )


def draft_toolset(workspace: Workspace, name: str) -> ProjectEdit:
    """A toolset without tools, listed in toolcast.yaml.

    It lies beside the first one, and has its package of handlers.

    Raises:
        EditRefusedError: the name is not valid or taken.
        UneditableValueError: toolcast.yaml has a layout that is not edited.
    """
    if not _TOOLSET_NAME.fullmatch(name):
        rule = "1 to 64 of a-z 0-9 _, a letter first"
        raise EditRefusedError(
            f"`{name}` is not a toolset's name: {rule}", is_usage=True
        )
    if name in {toolset.name for toolset in workspace.toolsets}:
        raise EditRefusedError(f"there is a toolset `{name}` already")
    first = workspace.toolsets[0]
    above, slash, _ = first.folder.rpartition("/")
    folder = f"{above}{slash}{name}"
    editing = EditSession()
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
    text = "".join(f"{encode_entry(key, value)}" for key, value in fields.items())
    schemas = schemas_of(first)
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
    """The file of a new resource or MCP prompt.

    Args:
        kind: `resource` or `prompt`.

    Raises:
        EditRefusedError: the name is not valid, the toolset is not known, or has no MCP server.
    """
    toolset = toolset_of(workspace, toolset_name)
    if not _MCP_NAME.fullmatch(name) or name.startswith("."):
        rule = "1 to 128 of A-Z a-z 0-9 _ . -, no dot first"
        raise EditRefusedError(f"`{name}` is not a {kind}'s name: {rule}")
    if is_windows_device(name):
        raise EditRefusedError(
            f"Windows has no file `{name}.yaml`", "choose another name"
        )
    targets = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    if "mcp" not in {target.name for target in targets}:
        raise EditRefusedError(
            f"the toolset {toolset.name} has no MCP server, which would offer the {kind}",
            f"add `mcp: {{}}` to `targets` of {toolset.folder}/toolset.yaml",
        )
    folder = _MCP_FOLDERS[kind]
    schemas = schemas_of(toolset)
    # One folder further down, unless it is an address.
    above = "" if schemas is None or ":" in schemas else "../"
    clients = format_quoted_list([client.name for client in toolset.clients])
    view = View(
        schema=encode_line(f"{above}{schemas or ''}".format(KINDS_BY_FOLDER[folder])),
        name=encode_scalar(name),
        uri=encode_scalar(f"{_scheme(toolset.name)}://{name}"),
        clients=encode_line(clients),
    )
    path = f"{toolset.folder}/{folder}/{name}.yaml"
    files = {path: render(f"new/{kind}.yaml.jinja", view)}
    steps = [f"replace every TODO in {path}"]
    if toolset.clients:
        steps.append(f"name who may have it in its `clients`, of {clients}")
    return new_files(files, (*steps, "toolcast generate"))


def _scheme(name: str) -> str:
    """What the URIs of a toolset's resources begin with."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return plain if plain[:1].isalpha() else f"toolset-{plain}".rstrip("-")


def draft_tool(
    workspace: Workspace, name: str, toolset_name: str | None, section: str | None
) -> ProjectEdit:
    """The files of a new tool.

    Raises:
        EditRefusedError: the name is not valid or taken, or the toolset or section is not known.
    """
    toolset = toolset_of(workspace, toolset_name)
    refuse_taken_name(toolset, name)
    section = section_of(toolset, section)
    module = module_name(name)
    schemas = schemas_of(toolset)
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
        keyword=encode_scalar(free_keyword(toolset, name)),
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
        stub = _handler_files(workspace, reference, name)
        files |= stub
        steps.append(f"write the handler in {list(stub)[-1]}")
    steps.append("toolcast generate")
    return new_files(files, steps)


def toolset_of(workspace: Workspace, name: str | None) -> Toolset:
    """The toolset that an option names, or the only one.

    Raises:
        EditRefusedError: there is none of the name, or there are several.
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
        meant = (
            did_you_mean(name, names) or f"the toolsets are {format_quoted_list(names)}"
        )
        raise EditRefusedError(f"there is no toolset `{name}`\n  help: {meant}")
    return workspace.toolsets[names.index(name)]


def section_of(toolset: Toolset, name: str | None) -> str | None:
    """The section that an option names, or the only one; None where there is none.

    Raises:
        EditRefusedError: there is none of the name, or there are several.
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
        known = (
            f"the sections are {format_quoted_list(names)}" if names else "it has none"
        )
        meant = did_you_mean(name, names) or known
        raise EditRefusedError(
            f"the toolset {toolset.name} has no section `{name}`\n  help: {meant}"
        )
    return name


def schemas_of(toolset: Toolset) -> str | None:
    """Where the toolset's own file has its schema from, as seen from a spec beside it.

    `{}` stands for the kind of the spec.
    """
    schemas = find_schema_pattern(toolset.source.opening, "toolset")
    return schemas if schemas is not None and _SCHEMAS.fullmatch(schemas) else None


def free_keyword(toolset: Toolset, name: str) -> str:
    """A keyword for the command line that no tool of the toolset has."""
    plain = command_name(name)
    taken = {
        tool.cli.keyword.split()[0]
        for tool in toolset.tools
        if tool.cli and tool.cli.keyword
    }
    keyword, number = plain, 2
    while keyword in taken:
        keyword, number = f"{plain}-{number}", number + 1
    return keyword


def draft_stub(workspace: Workspace, owned: OwnedTool) -> ProjectEdit:
    """A stub that takes what the spec says; a spec without `handler` gets one.

    Raises:
        EditRefusedError: the handler is there, or the toolset has no package for it.
        UneditableValueError: the spec has a layout that is not edited.
    """
    toolset, tool = owned.toolset, owned.tool
    editing = EditSession()
    reference = tool.handler
    if toolset.get_proxy(tool) is not None:
        raise EditRefusedError(
            f"`{tool.name}` is answered by a server, and needs no handler"
        )
    if reference is None:
        if toolset.handlers is None:
            help_ = f"give {toolset.folder}/toolset.yaml a `handlers` package"
            raise EditRefusedError(
                f"the toolset {toolset.name} has none for its handlers", help_
            )
        module = module_name(tool.name)
        reference = HandlerReference(f"{toolset.handlers}.{module}", module)
        last = next(reversed(tool.source.tree))
        text = f"{reference.module}:{reference.function}"
        editing.text(tool.source).insert_key((last,), "handler", text)
    files = _handler_files(workspace, reference, tool.name, tool)
    path = list(files)[-1]
    if os.path.lexists(os.path.join(workspace.root, path)):
        raise EditRefusedError(
            f"{path} is there already",
            f"write `{reference.function}` in it: a stub is only made as a new file",
        )
    before, after = editing.files()
    return ProjectEdit(
        path,
        {**dict.fromkeys(files), **before},
        {**files, **after},
        steps=(f"write the handler in {path}", "toolcast generate"),
    )


def _handler_files(
    workspace: Workspace,
    reference: HandlerReference,
    name: str,
    tool: ToolSpec | None = None,
) -> dict[str, bytes]:
    """The stub, last, behind the package files that are missing.

    Args:
        name: the tool's.
        tool: its spec, whose parameters the stub takes; None for that of a new tool.
    """
    files = package_files(workspace, reference)
    template = "new/handler.py.jinja"
    properties = {} if tool is None else tool.properties
    taken = [*properties, *(() if tool is None else tool.uses)]
    takes_mapping = not all(map(is_keyword_argument, taken))
    parameters = [
        _parameter(tool, key) for key in taken if tool is not None and not takes_mapping
    ]
    view = View(
        tool=encode_line(name),
        function=encode_identifier(reference.function),
        is_typed=tool is not None,
        takes_query=tool is None,
        accepts_mapping=takes_mapping,
        parameters=parameters,
    )
    path = handler_place(workspace, reference)
    files[path] = format_python(template, render(template, view))
    return files


def handler_place(workspace: Workspace, reference: HandlerReference) -> str:
    """The file of a handler's module, below the project's root."""
    path = reference.module.replace(".", "/")
    return _join(_source_of(workspace, reference), f"{path}.py")


def package_files(
    workspace: Workspace, reference: HandlerReference
) -> dict[str, bytes]:
    """The package files that are missing on the way to a handler's module."""
    source = _source_of(workspace, reference)
    steps = reference.module.split(".")[:-1]
    files: dict[str, bytes] = {}
    for length in range(1, len(steps) + 1):
        inner = _join(source, "/".join(steps[:length]))
        # A folder that is there without the file is a package of the team's own kind.
        if not os.path.exists(os.path.join(workspace.root, inner)):
            files[f"{inner}/__init__.py"] = render("new/package.py.jinja", View())
    return files


def _parameter(tool: ToolSpec, key: str) -> View:
    schema = tool.properties.get(key)
    schema = schema if isinstance(schema, dict) else {}
    # Values of formats, and what has alternatives, is what the generated types say.
    kind = schema.get("type") if "format" not in schema else None
    plain = _TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"
    if "enum" in schema or "const" in schema:
        plain = "Any"
    default = schema.get("default")
    if not isinstance(default, str | int | float | bool):
        default = None
    has_default = key not in tool.required and key not in tool.uses
    if has_default and default is None and plain != "Any":
        plain = f"{plain} | None"
    return View(
        name=encode_identifier(key),
        type=encode_line(plain),
        default=encode_literal(default) if has_default else None,
    )


def _source_of(workspace: Workspace, reference: HandlerReference) -> str:
    """The source folder that has the package, else the first one."""
    folder = reference.module.rpartition(".")[0].replace(".", "/")
    for source in workspace.sources:
        if os.path.isdir(os.path.join(workspace.root, source, folder)):
            return source
    return workspace.sources[0]


def _join(source: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(source, path))
