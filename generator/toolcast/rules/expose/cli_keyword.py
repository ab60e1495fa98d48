"""`expose/cli-keyword`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.cli_commands import CliCommand, cli_commands
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "cli" not in toolset.targets:
        return
    by_keyword: dict[str, list[CliCommand]] = {}
    for command in cli_commands(toolset, toolset.tools_in("cli")):
        decision = command.tool.cli
        has_flag = decision is not None and " " in (decision.keyword or "")
        if command.action is not None and has_flag:
            yield _at(command, "a tool with `actions` has no flag", "remove the flag")
        earlier = by_keyword.setdefault(command.keyword, [])
        problem = next(filter(None, (_clash(command, one) for one in earlier)), None)
        if problem is not None:
            yield _at(command, *problem)
        earlier.append(command)


def _at(command: CliCommand, message: str, help_: str) -> Finding:
    return RULE.at(command.tool, ("cli", "keyword"), message, help_)


def _clash(command: CliCommand, other: CliCommand) -> tuple[str, str] | None:
    name, keyword = other.tool.name, command.keyword
    if other.tool is command.tool:
        return None
    if command.action is not None or other.action is not None:
        return (
            f"`{keyword}` is the keyword of `{name}` too, and one of them has actions",
            "choose another keyword",
        )
    if command.flag == other.flag:
        whole = f"{keyword} {command.flag}" if command.flag else keyword
        return f"`{whole}` is the keyword of `{name}` too", "choose another keyword"
    # Fewer words for one of them are fine; the same word must be read in the same way.
    for one, two in zip(command.positionals, other.positionals, strict=False):
        if one.rest != two.rest:
            return (
                f"`{keyword}` reads `<{one.parameter}>` in another way for `{name}`",
                "give both the same `usage`, or one of them another keyword",
            )
    return None


RULE = Rule(
    id="expose/cli-keyword",
    severity=Severity.ERROR,
    purpose="Checks that every command line means one tool.",
    why="Of two tools with the same keyword one could not be reached from the shell.",
    bad="""\
# read_note.yaml
cli: {keyword: note}
# write_note.yaml
cli: {keyword: note}
# toolset.yaml
targets: {cli: {}}
""",
    good="""\
# read_note.yaml
cli: {keyword: note}
# write_note.yaml
cli: {keyword: note --write}
# toolset.yaml
targets: {cli: {}}
""",
    check=check,
)
