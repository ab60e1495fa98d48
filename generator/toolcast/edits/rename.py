"""A tool gets another name, and keeps answering to the old one."""

from __future__ import annotations

import posixpath
import re
from functools import partial

from toolcast_runtime.tools.module_names import spec_name

from ..git.index import read_index
from ..model.model import ToolSpec, Workspace
from .free_names import refuse_taken_name
from .handler_name import HandlerEdit, rename_handler
from .other_files import change_marks, keep_answering, rename_in_other_files
from .project_edit import Editing, Owned, ProjectEdit, Refusal, specs_after
from .references import rename_mentions, rename_references
from .remaining_mentions import (
    left_imports,
    left_in_files,
    left_in_handlers,
    left_in_specs,
    left_patterns,
)
from .spec_text import CannotEdit

__all__ = ["rename"]

_MAY_FOLLOW = ("timeout", "handler", "name")
"""Behind the first of these that a spec has, `renamed_from` is written."""


def rename(
    workspace: Workspace, owned: Owned, new: str, *, with_handler: bool = False
) -> ProjectEdit:
    """Gives a tool a name that is free, or one that it had before.

    Args:
        with_handler: names its handler's function after it, too.

    Raises:
        Refusal: the name is not to be had, or what would be written is not right.
        CannotEdit: a spec has a layout that is not edited.
    """
    toolset, tool = owned
    if new == tool.name:
        raise Refusal(f"the tool is called `{new}` already", is_usage=True)
    begun = next(
        (t for t in toolset.tools if t.name == new and tool.name in t.renamed_from),
        None,
    )
    refuse_taken_name(toolset, new, tool, begun)
    function = rename_handler(workspace, owned, new) if with_handler else None
    editing = _taken_back(workspace, owned, new, function)
    if editing is None:
        editing = _edited(workspace, owned, new, function)
    editing.move(tool.source.file, _file(tool, new), begun)
    rename_in_other_files(editing, workspace, owned, new)
    change_marks(editing, workspace, owned, new)
    passed = {"name/former-alive"}
    if function is not None:
        for file, (old, renamed) in function.files.items():
            editing.set_bytes(file, old, renamed)
        editing.left += function.left
        # They read the module that is on disk.
        passed |= {"handler/not-found", "handler/not-own"}
    before, after = editing.files()
    edited = specs_after(workspace, after, renamed=(tool.name, new), passed=passed)
    left = [
        *editing.left,
        *left_patterns(owned, edited, new),
        *left_in_specs(workspace, owned, edited),
        *left_in_handlers(workspace, toolset, tool.name),
        *left_imports(workspace, owned),
        *left_in_files(edited, tool.name),
    ]
    done = f"`{tool.name}` is called `{new}`"
    steps = ["toolcast generate"]
    return ProjectEdit(done, before, after, tuple(left), tuple(steps))


def _edited(
    workspace: Workspace,
    owned: Owned,
    new: str,
    function: HandlerEdit | None,
    *,
    is_taken_back: bool = False,
) -> Editing:
    """The specs with another name of a tool."""
    tool = owned.tool
    editing = Editing()
    text = editing.text(tool.source)
    text.set_name(("name",), new)
    if is_taken_back:
        text.shorten(("renamed_from",), tool.renamed_from.index(new))
    elif new in tool.renamed_from:
        text.set_name(("renamed_from", tool.renamed_from.index(new)), tool.name)
    elif "renamed_from" in tool.fields:
        text.append(("renamed_from",), tool.name)
    else:
        before = next(key for key in _MAY_FOLLOW if key in tool.fields)
        text.insert_key((before,), "renamed_from", [tool.name])
    keep_answering(editing, owned, new)
    rename_references(editing, workspace, owned, new)
    rename_mentions(editing, workspace, owned, new)
    if function is not None:
        _name_function(editing, workspace, owned, function)
    return editing


def _taken_back(
    workspace: Workspace, owned: Owned, new: str, function: HandlerEdit | None
) -> Editing | None:
    """Takes renames back that git has not seen; None when its index has another spec.

    Nobody else knows the names that came after the one that git has.
    """
    if new not in owned.tool.renamed_from:
        return None
    index = read_index(workspace.root, owned.toolset.folder)
    try:
        editing = _edited(workspace, owned, new, function, is_taken_back=True)
        data = editing.text(owned.tool.source).result()
    except CannotEdit:
        return None
    file = _file(owned.tool, new).removeprefix(f"{owned.toolset.folder}/")
    was_there = index is not None and index.has(file, data)
    return editing if was_there else None


def _file(tool: ToolSpec, name: str) -> str:
    """Where the spec of a tool is by another name: in the same folder."""
    return f"{posixpath.dirname(tool.source.file)}/{spec_name(name)}.yaml"


def _name_function(
    editing: Editing, workspace: Workspace, owned: Owned, function: HandlerEdit
) -> None:
    """Changes the function's name in every spec that has it as its handler."""
    old = re.compile(rf":{re.escape(function.old)}\b")
    for toolset in workspace.toolsets:
        for spec in (*toolset.tools, *toolset.mcp_specs):
            if spec.handler == owned.tool.handler:
                text = editing.text(spec.source)
                text.rewrite(("handler",), partial(old.sub, f":{function.new}"))
