"""A tool gets another name, and keeps answering to the old one."""

from __future__ import annotations

import re
from functools import partial

from ..model.model import Workspace
from .after_edit import specs_after
from .beside.document_marks import change_marks
from .beside.handler_name import rename_handler
from .beside.lists import rename_in_other_files
from .free_names import refuse_taken_name
from .left_over import left_imports, left_in_files, left_in_handlers, left_in_specs
from .project_edit import Editing, Owned, ProjectEdit, Refusal
from .references import rename_mentions, rename_references

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
    refuse_taken_name(toolset, new, tool)
    editing = Editing()
    _rename_spec(editing, owned, new)
    rename_references(editing, workspace, owned, new)
    rename_mentions(editing, workspace, owned, new)
    rename_in_other_files(editing, workspace, owned, new)
    change_marks(editing, workspace, owned, toolset.name, new)
    passed = {"name/former-alive"}
    if with_handler:
        _rename_handler(editing, workspace, owned, new)
        # They read the module that is on disk.
        passed |= {"handler/not-found", "handler/not-own"}
    before, after = editing.files()
    edited = specs_after(workspace, after, renamed=(tool.name, new), passed=passed)
    left = [
        *editing.left,
        *left_in_specs(workspace, owned, edited),
        *left_in_handlers(workspace, toolset, tool.name),
        *left_imports(workspace, owned),
        *left_in_files(edited, tool.name),
    ]
    done = f"`{tool.name}` is called `{new}`"
    steps = ["toolcast generate"]
    return ProjectEdit(done, before, after, tuple(left), tuple(steps))


def _rename_spec(editing: Editing, owned: Owned, new: str) -> None:
    toolset, tool = owned
    text = editing.text(tool.source)
    text.set_name(("name",), new)
    if new in tool.renamed_from:
        text.set_name(("renamed_from", tool.renamed_from.index(new)), tool.name)
    elif "renamed_from" in tool.fields:
        text.append(("renamed_from",), tool.name)
    else:
        before = next(key for key in _MAY_FOLLOW if key in tool.fields)
        text.insert_key((before,), "renamed_from", [tool.name])
    editing.move(tool.source.file, f"{toolset.folder}/{new}.yaml")


def _rename_handler(
    editing: Editing, workspace: Workspace, owned: Owned, new: str
) -> None:
    renamed = rename_handler(workspace, owned, new)
    editing.set_bytes(renamed.file, renamed.before, renamed.after)
    old = re.compile(rf":{re.escape(renamed.old)}\b")
    for toolset in workspace.toolsets:
        for tool in toolset.tools:
            if tool.handler == owned.tool.handler:
                text = editing.text(tool.source)
                text.rewrite(("handler",), partial(old.sub, f":{renamed.new}"))
