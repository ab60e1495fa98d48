"""The files of a new tool, as a value: its spec and the stub of its handler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from toolcast_runtime.tools.module_names import module_name, spec_name

from ...edits.free_names import refuse_taken_name
from ...edits.project_edit import Refusal
from ...encoders.code import Code
from ...encoders.plain_text import line
from ...encoders.yaml_block import scalar
from ...model.model import HandlerReference, Toolset, Workspace
from ...rendering.renderer import render
from ...suggestions import did_you_mean, quoted_list
from ...targets.table import enabled
from .stub_draft import handler_files

__all__ = [
    "Draft",
    "draft_tool",
    "free_keyword",
    "schema_folder",
    "section_of",
    "toolset_of",
]

_SCHEMA_LINE = re.compile(
    r"# yaml-language-server: \$schema=([A-Za-z0-9_./:-]*)toolset\.schema\.json"
)


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
    schema = schema_folder(toolset)
    targets = {
        target.name for target in enabled(tuple(toolset.targets), workspace.extensions)
    }
    package = toolset.handlers
    view = SpecView(
        has_schema=schema is not None,
        schema=line(f"{schema}tool.schema.json"),
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


def schema_folder(toolset: Toolset) -> str | None:
    """Where the toolset's own file has its schema from, as seen from a spec beside it."""
    match = _SCHEMA_LINE.search(toolset.source.opening)
    return match[1] if match else None


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
