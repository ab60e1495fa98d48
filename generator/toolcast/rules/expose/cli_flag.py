"""`expose/cli-flag`."""

from __future__ import annotations

from collections.abc import Iterator

from ...encoders.python import option_name
from ...facts.cli_commands import cli_commands
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "cli" not in toolset.targets:
        return
    flags: dict[str, set[str]] = {}
    for tool in toolset.tools_in("cli"):
        decision = tool.cli
        if decision is not None and decision.keyword is not None and not tool.actions:
            keyword, _, flag = decision.keyword.partition(" ")
            if flag:
                flags.setdefault(keyword, set()).add(flag)
    if not flags:
        return
    for command in cli_commands(toolset, toolset.tools_in("cli")):
        placed = {place.parameter for place in command.positionals}
        for name in command.tool.properties:
            option = option_name(name)
            if name not in placed and option in flags.get(command.keyword, ()):
                yield RULE.at(
                    command.tool,
                    ("cli", "keyword"),
                    f"`{option}` selects a tool and is an option of `{command.tool.name}`",
                    f"choose another flag, or put `{name}` into `usage`",
                )


RULE = Rule(
    id="expose/cli-flag",
    severity=Severity.ERROR,
    purpose="Checks that no flag that selects a tool is also a parameter's option.",
    why="The command could not tell which of the two a caller means.",
    bad="""\
parameters:
  type: object
  properties: {wait: {type: boolean}}
cli: {keyword: ask --wait}
# toolset.yaml
targets: {cli: {}}
""",
    good="""\
parameters:
  type: object
  properties: {wait: {type: boolean}}
cli: {keyword: ask --later}
# toolset.yaml
targets: {cli: {}}
""",
    check=check,
)
