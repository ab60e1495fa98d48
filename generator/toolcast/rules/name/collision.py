"""`name/collision`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.tools.module_names import distinct_name, module_name

from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    modules: dict[str, ToolSpec] = {}
    for tool in toolset.tools:
        other = modules.setdefault(tool.module, tool)
        if other is not tool:
            yield _tools(tool, other)
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


def _tools(tool: ToolSpec, other: ToolSpec) -> Finding:
    message = (
        f"`{tool.name}` and `{other.name}` of {other.source.file} give the same module"
        f" `{tool.module}`"
    )
    plain = other.name if tool.module == distinct_name(tool.name) else tool.name
    help_ = (
        f"rename one of the two, or the file of `{plain}` to"
        f" `{distinct_name(plain)}.yaml`: then its module is called so, too"
    )
    return RULE.at(tool, ("name",), message, help_)


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
    purpose="Checks that no two names give the same file or module.",
    why=(
        "The second output would overwrite the first: one tool would be gone, in silence. A"
        " tool whose name has to stay gets a module of its own by the name of its spec's file:"
        " the module's, `_` and six digits that belong to the tool's name. `toolcast import`"
        " names files so where it has to; adding or removing other tools changes none."
    ),
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
