"""A tool gets another name, and keeps answering to the old one."""

from __future__ import annotations

import re
from functools import partial

from ..git.index import read_index
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
    begun = next(
        (t for t in toolset.tools if t.name == new and tool.name in t.renamed_from),
        None,
    )
    refuse_taken_name(toolset, new, tool, begun)
    editing = Editing()
    _rename_spec(editing, workspace, owned, new)
    editing.move(tool.source.file, f"{toolset.folder}/{new}.yaml", begun)
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


def _rename_spec(
    editing: Editing, workspace: Workspace, owned: Owned, new: str
) -> None:
    tool = owned.tool
    text = editing.text(tool.source)
    text.set_name(("name",), new)
    is_kept = not _is_unrecorded(workspace, owned)
    if new in tool.renamed_from:
        path = ("renamed_from", tool.renamed_from.index(new))
        if is_kept:
            text.set_name(path, tool.name)
        elif len(tool.renamed_from) > 1 or text.is_flow:
            text.remove_item(path[:1], path[1])
        else:
            text.remove_key(path[:1])
    elif not is_kept:
        return
    elif "renamed_from" in tool.fields:
        text.append(("renamed_from",), tool.name)
    else:
        before = next(key for key in _MAY_FOLLOW if key in tool.fields)
        text.insert_key((before,), "renamed_from", [tool.name])


def _is_unrecorded(workspace: Workspace, owned: Owned) -> bool:
    """Whether git has the tool under a former name still: nobody else knows its present one.

    So a rename that is taken back before it is added leaves nothing behind.
    """
    index = read_index(workspace.root, owned.toolset.folder)
    if index is None or not owned.tool.renamed_from:
        return False
    known = {*index.objects, *index.unmerged}
    formers = (f"{former}.yaml" for former in owned.tool.renamed_from)
    return f"{owned.tool.name}.yaml" not in known and not known.isdisjoint(formers)


def _rename_handler(
    editing: Editing, workspace: Workspace, owned: Owned, new: str
) -> None:
    renamed = rename_handler(workspace, owned, new)
    for file, (before, after) in renamed.files.items():
        editing.set_bytes(file, before, after)
    editing.left += renamed.left
    old = re.compile(rf":{re.escape(renamed.old)}\b")
    for toolset in workspace.toolsets:
        for tool in toolset.tools:
            if tool.handler == owned.tool.handler:
                text = editing.text(tool.source)
                text.rewrite(("handler",), partial(old.sub, f":{renamed.new}"))
