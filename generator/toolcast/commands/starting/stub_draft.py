"""The handler stub of a tool: of a new one, or of a spec that was written first."""

from __future__ import annotations

import os
import posixpath

from toolcast_runtime.tools.module_names import module_name

from ...edits.project_edit import Editing, Owned, ProjectEdit, Refusal
from ...encoders.plain_text import line
from ...encoders.python import identifier, is_keyword_argument, literal
from ...model.model import HandlerReference, ToolSpec, Workspace
from ...rendering.renderer import formatted, render
from ...rendering.view import View

__all__ = [
    "draft_stub",
    "handler_files",
    "handler_place",
    "package_files",
]

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def draft_stub(workspace: Workspace, owned: Owned) -> ProjectEdit:
    """A stub that takes what the spec says; a spec without `handler` gets one.

    Raises:
        Refusal: the handler is there, or the toolset has no package for it.
        CannotEdit: the spec has a layout that is not edited.
    """
    toolset, tool = owned.toolset, owned.tool
    editing = Editing()
    reference = tool.handler
    if toolset.proxy_of(tool) is not None:
        raise Refusal(f"`{tool.name}` is answered by a server, and needs no handler")
    if reference is None:
        if toolset.handlers is None:
            help_ = f"give {toolset.folder}/toolset.yaml a `handlers` package"
            raise Refusal(
                f"the toolset {toolset.name} has none for its handlers", help_
            )
        module = module_name(tool.name)
        reference = HandlerReference(f"{toolset.handlers}.{module}", module)
        last = next(reversed(tool.source.tree))
        text = f"{reference.module}:{reference.function}"
        editing.text(tool.source).insert_key((last,), "handler", text)
    files = handler_files(workspace, reference, tool.name, tool)
    path = list(files)[-1]
    if os.path.lexists(os.path.join(workspace.root, path)):
        raise Refusal(
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


def handler_files(
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
        tool=line(name),
        function=identifier(reference.function),
        is_typed=tool is not None,
        takes_query=tool is None,
        takes_mapping=takes_mapping,
        parameters=parameters,
    )
    path = handler_place(workspace, reference)
    files[path] = formatted(template, render(template, view))
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
    plain = _PLAIN.get(kind, "Any") if isinstance(kind, str) else "Any"
    if "enum" in schema or "const" in schema:
        plain = "Any"
    default = schema.get("default")
    if not isinstance(default, str | int | float | bool):
        default = None
    has_default = key not in tool.required and key not in tool.uses
    if has_default and default is None and plain != "Any":
        plain = f"{plain} | None"
    return View(
        name=identifier(key),
        type=line(plain),
        default=literal(default) if has_default else None,
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
