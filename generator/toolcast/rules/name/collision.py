"""`name/collision`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.tools.module_names import module_name

from ...encoders.names import class_name
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    modules: dict[str, ToolSpec] = {}
    types: dict[str, ToolSpec] = {}
    for tool in toolset.tools:
        module, type_ = module_name(tool.name), class_name(tool.name)
        same_module = modules.setdefault(module, tool)
        same_type = types.setdefault(type_, tool)
        if same_module is not tool:
            yield _tools(tool, same_module, f"module `{module}`")
        elif same_type is not tool:
            yield _tools(tool, same_type, f"type `{type_}`")
    yield from _section_tools(toolset)
    for key, names in (
        ("sections", [section.name for section in toolset.sections]),
        ("clients", [client.name for client in toolset.clients]),
    ):
        yield from _collisions(toolset, key, names)


def _section_tools(toolset: Toolset) -> Iterator[Finding]:
    """Tools without a section stand in a block called `tools`."""
    if "prompts" not in toolset.targets:
        return
    loose = next((t for t in toolset.tools_in("prompts") if t.section is None), None)
    for section in toolset.sections:
        if loose is not None and section.name and module_name(section.name) == "tools":
            yield RULE.at(
                toolset,
                ("sections", section.name),
                f"`{loose.name}` has no section, and the block of such tools is `tools`, too",
                f"rename the section, or give `{loose.name}` one",
                at_key=True,
            )


def _tools(tool: ToolSpec, other: ToolSpec, what: str) -> Finding:
    where = other.source.file
    message = f"`{tool.name}` and `{other.name}` of {where} give the same {what}"
    return RULE.at(tool, ("name",), message, "rename one of the two")


def _collisions(toolset: Toolset, key: str, names: list[str]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name in names:
        derived = module_name(name)
        other = first.setdefault(derived, name)
        if other != name:
            line = toolset.source.span((key, other), at_key=True).line
            yield RULE.at(
                toolset,
                (key, name),
                f"`{name}` and `{other}` on line {line} give the same file `{derived}`",
                "rename one of the two",
                at_key=True,
            )


RULE = Rule(
    id="name/collision",
    severity=Severity.ERROR,
    purpose="Checks that no two names give the same file, module or type.",
    why="The second output would overwrite the first: one tool would be gone, in silence.",
    bad="""\
# get-note.yaml
summary: Reads a note.
# get_note.yaml
summary: Reads a note, too.
""",
    good="""\
# get_note.yaml
summary: Reads a note.
# get_notes.yaml
summary: Reads all notes.
""",
    check=check,
)
