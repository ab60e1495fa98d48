"""`expose/cli-program`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    program = toolset.targets.get("cli", {}).get("program")
    if not isinstance(program, str) or workspace.commands is None:
        return
    # What has a path or further words is started in another way than by its name alone.
    if any(character in program for character in " /"):
        return
    runs = ".".join(filter(None, (workspace.package, toolset.name))) + ".cli:main"
    found = workspace.commands.get(program)
    if found == runs:
        return
    yield RULE.at(
        toolset,
        ("targets", "cli", "program"),
        (
            f"`{program}` is no console command of pyproject.toml"
            if found is None
            else f"`{program}` of pyproject.toml does not run this toolset's commands"
        ),
        f'write `{program} = "{runs}"` in its `[project.scripts]`',
    )


RULE = Rule(
    id="expose/cli-program",
    severity=Severity.WARNING,
    purpose="Checks that the program in prompts is a command that the project installs.",
    why="An agent types what its prompt says. A command that is not there is all it has.",
    bad="""\
# toolset.yaml
targets: {registry: {}, cli: {program: notes}}
# pyproject.toml
[project.scripts]
note = "generated.example.cli:main"
# note.yaml
cli: {keyword: note}
""",
    good="""\
# toolset.yaml
targets: {registry: {}, cli: {program: notes}}
# pyproject.toml
[project.scripts]
notes = "generated.example.cli:main"
# note.yaml
cli: {keyword: note}
""",
    check=check,
)
