"""`expose/cli-usage`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.cli_commands import parse_usage
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ...wording import Suggestions
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "cli" not in toolset.targets:
        return
    for tool in toolset.tools_in("cli"):
        if tool.cli is not None and tool.cli.keyword is not None and tool.cli.usage:
            for message, help_ in _problems(tool, tool.cli.usage):
                yield RULE.at(tool, ("cli", "usage"), message, help_)


def _problems(tool: ToolSpec, usage: str) -> Iterator[tuple[str, str]]:
    if tool.actions is not None:
        yield "a tool with `actions` has no usage: each action is a subcommand", "remove it"
        return
    places = parse_usage(usage)
    seen: set[str] = set()
    suggestions = Suggestions(tool.properties)
    for index, place in enumerate(places):
        name = place.parameter
        if name not in tool.properties:
            meant = suggestions.near(name)
            yield f"`{name}` is not a parameter", meant
        if name in seen:
            yield f"`{name}` stands twice", "name each parameter once"
        seen.add(name)
        if place.rest and index < len(places) - 1:
            yield f"`<{name}...>` takes all remaining words", "put it last"
        if not place.optional and any(earlier.optional for earlier in places[:index]):
            yield (
                f"`<{name}>` follows an optional word, so nobody can tell which is meant",
                "put optional words last",
            )


RULE = Rule(
    id="expose/cli-usage",
    severity=Severity.ERROR,
    purpose="Checks that a usage line names parameters, in an order that can be read back.",
    why="The words of a command would end up in the wrong parameters, or in none.",
    bad="""\
parameters:
  type: object
  properties: {peer: {type: string}, task: {type: string}}
cli: {keyword: ask, usage: "<task...> <per>"}
# toolset.yaml
targets: {cli: {}}
""",
    good="""\
parameters:
  type: object
  properties: {peer: {type: string}, task: {type: string}}
cli: {keyword: ask, usage: "<peer> <task...>"}
# toolset.yaml
targets: {cli: {}}
""",
    check=check,
)
