"""A tool moves to another toolset."""

from __future__ import annotations

from typing import Any

from toolcast_runtime.tools.module_names import spec_name

from ..encoders.json_text import compact
from ..model.folders import DEFINITIONS_FILE
from ..model.model import Toolset, ToolSpec, Workspace
from ..wording import did_you_mean, quoted_list
from .after_edit import specs_after
from .beside.document_marks import change_marks
from .beside.proxied_name import keep_answering_there, take_from_server
from .free_names import refuse_taken_name
from .left_over import left_imports, left_in_specs
from .project_edit import Editing, Owned, ProjectEdit, Refusal
from .references import places_of
from .remove import take_from_lists

__all__ = ["move"]


def move(
    workspace: Workspace,
    owned: Owned,
    to: str,
    *,
    section: str | None = None,
    handler: str | None = None,
) -> ProjectEdit:
    """Moves a tool's spec to another toolset, with its exclusions.

    Args:
        to: the other toolset's name.
        section: its section there; default: the one of that name.
        handler: `module:function` there; default: the same.

    Raises:
        Refusal: the tool cannot stand there as it is.
        CannotEdit: a spec has a layout that is not edited.
    """
    toolset, tool = owned
    target = _target(workspace, to)
    if target is toolset:
        raise Refusal(f"`{tool.name}` is in the toolset `{to}` already", is_usage=True)
    begun = next((one for one in target.tools if one.name == tool.name), None)
    for name in (tool.name, *tool.renamed_from):
        refuse_taken_name(target, name, begun)
    _refuse_cases(toolset, tool)
    _refuse_other_definitions(owned, target)
    editing = Editing()
    text = editing.text(tool.source)
    keep_answering_there(editing, owned, target, handler)
    if section is not None:
        if "section" in tool.fields:
            text.set_value(("section",), section)
        else:
            text.insert_key(("name",), "section", section)
    elif "section" in tool.fields and not target.sections:
        text.remove_key(("section",))
    if handler is not None:
        if "handler" in tool.fields:
            text.set_value(("handler",), handler)
        else:
            text.insert_key(("name",), "handler", handler)
    moved_to = f"{target.folder}/{spec_name(tool.name)}.yaml"
    text.keep_schema(moved_to)
    editing.move(tool.source.file, moved_to, begun)
    # In this order: a run that is killed between the two loses none.
    _carry_exclusions(editing, owned, target)
    take_from_lists(editing, toolset, tool)
    take_from_server(editing, owned)
    change_marks(editing, workspace, owned, target.name, tool.name)
    before, after = editing.files()
    edited = specs_after(workspace, after)
    here = next(one for one in edited.toolsets if one.folder == target.folder)
    moved = next(one for one in here.tools if one.name == tool.name)
    left = [*left_in_specs(workspace, owned, edited), *left_imports(workspace, owned)]
    steps = [
        _who_has(here, [c.name for c in here.clients if here.is_offered(moved, c)])
    ]
    steps.append(_who_answers(toolset, tool, here, moved))
    steps.append("toolcast generate")
    done = f"`{tool.name}` is in the toolset `{target.name}`"
    return ProjectEdit(
        done, before, after, tuple(left), tuple(step for step in steps if step)
    )


def _who_answers(
    toolset: Toolset, tool: ToolSpec, here: Toolset, moved: ToolSpec
) -> str:
    """Says so when a server answers from now on, and did not before."""
    server = here.proxy_of(moved)
    if server is None or server == toolset.proxy_of(tool):
        return ""
    return f"its calls are answered by the server `{server}`, as the toolset says"


def _target(workspace: Workspace, name: str) -> Toolset:
    for toolset in workspace.toolsets:
        if toolset.name == name:
            return toolset
    names = [toolset.name for toolset in workspace.toolsets]
    help_ = did_you_mean(name, names) or f"the toolsets are {quoted_list(names)}"
    raise Refusal(f"there is no toolset `{name}`", help_, is_usage=True)


def _refuse_cases(toolset: Toolset, tool: ToolSpec) -> None:
    source = toolset.source
    cases = list(places_of(source.tree, ("cases", "*", "tool"), tool.name))
    if cases:
        lines = [source.span(path) for path in cases]
        shown = "".join(f"\n  {source.file}:{one.line}:{one.column}" for one in lines)
        raise Refusal(
            f"cases of the toolset mean `{tool.name}`:{shown}",
            "move them to `cases` of the tool's spec, which go with it",
        )


def _refuse_other_definitions(owned: Owned, target: Toolset) -> None:
    """Refuses where what the tool's schemas refer to is not the same there."""
    here, there = owned.toolset.definitions, target.definitions
    if here is None:
        return
    references = [
        reference
        for schema in owned.tool.schemas.values()
        for reference in schema.references
    ]
    needed = here.used_by(references)
    known = {} if there is None else there.schemas
    missing = [name for name in needed if name not in known]
    other = [
        name
        for name in needed
        if name in known and compact(known[name]) != compact(here.schemas[name])
    ]
    file = f"{target.folder}/{DEFINITIONS_FILE}"
    if other:
        raise Refusal(
            f"{quoted_list(other)} of {here.source.file} is not the same in {file}",
            "make them the same, or give the tool's another name first",
        )
    if missing:
        raise Refusal(
            f"{file} has no {quoted_list(missing)}, which the tool refers to",
            f"copy them from {here.source.file} first",
        )


def _carry_exclusions(editing: Editing, owned: Owned, target: Toolset) -> None:
    """Keeps a tool out of the targets that it was kept out of."""
    there = {(one.tool, one.target) for one in target.exclusions}
    entries: list[dict[str, Any]] = [
        exclusion._asdict()
        for exclusion in owned.toolset.exclusions
        if exclusion.tool == owned.tool.name
        and exclusion.target in target.targets
        and (exclusion.tool, exclusion.target) not in there
    ]
    if not entries:
        return
    text = editing.text(target.source)
    if "exclusions" in target.fields:
        for entry in entries:
            text.append(("exclusions",), entry)
    else:
        text.insert_key((target.fields[-1],), "exclusions", entries)


def _who_has(toolset: Toolset, clients: list[str]) -> str:
    if not toolset.clients:
        return ""
    if clients:
        return f"read who has it now: {quoted_list(clients)}"
    return f"add it to a client's `allow` in {toolset.folder}/toolset.yaml: none has it"
