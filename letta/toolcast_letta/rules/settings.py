"""`letta/settings`."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule
from toolcast.wording import did_you_mean, quoted_list

from ..config import has_settings, settings_of
from ..settings import LettaAgent, LettaSettings
from . import facts_of, has_target

__all__ = ["RULE"]

Problem = tuple[tuple[str | int, ...], str, str]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not has_target(toolset, workspace):
        return
    if not has_settings(toolset):
        message = "the target `letta` is enabled, and `letta` says nothing"
        help_ = "add `letta:` with `server` and `agents`"
        yield RULE.at(toolset, ("targets", "letta"), message, help_)
        return
    settings = settings_of(toolset)
    problems = [*_server(toolset, settings)]
    for agent in settings.agents:
        problems += _agent(toolset, agent)
    for path, message, help_ in problems:
        yield RULE.at(toolset, ("letta", *path), message, help_)


def _server(toolset: Toolset, settings: LettaSettings) -> Iterator[Problem]:
    server = settings.server
    if server.url is None and server.url_env is None:
        yield (
            (),
            "nothing says where Letta reaches the MCP server",
            "`server: {url: ...}`, or `url_env` with the variable that holds it",
        )
    if server.url is not None and server.url_env is not None:
        message = "the URL is given, and a variable for it"
        yield ("server", "url_env"), message, "remove one of the two"
    if server.url is not None and not urlsplit(server.url).hostname:
        yield ("server", "url"), f"`{server.url}` names no host", ""
    names = [client.name for client in toolset.clients]
    if names and server.client is None:
        yield (
            (),
            "the toolset has clients, and nothing says which of them Letta is",
            f"`server: {{client: ...}}`, one of {quoted_list(names)}",
        )
    if server.client is not None and server.client not in names:
        message = f"the toolset has no client `{server.client}`"
        help_ = did_you_mean(server.client, names) or "add it to `clients`"
        yield ("server", "client"), message, help_


def _agent(toolset: Toolset, agent: LettaAgent) -> Iterator[Problem]:
    path = ("agents", agent.name)
    if (agent.id is None) == (agent.id_env is None):
        message = f"`{agent.name}` needs one of `id` and `id_env`"
        yield path, message, "names of agents are not unique in Letta; ids are"
    labels = [block.label for block in agent.blocks]
    for label in dict.fromkeys(labels):
        if labels.count(label) > 1:
            message = f"the block `{label}` is named {labels.count(label)} times"
            yield (*path, "blocks"), message, "one part of the specs stands in a block"
    for name in agent.ends_turn:
        if name not in agent.expects:
            message = f"`{name}` ends the turn, and `expects` does not name it"
            yield (*path, "ends_turn"), message, "add it to `expects`"
    for name in agent.expects:
        tool = next((tool for tool in toolset.tools if tool.name == name), None)
        if tool is not None:
            message = (
                f"`{name}` is the toolset's own: its spec says whether it is there"
            )
            yield (*path, "expects"), message, "take it from `expects`"
        if name in agent.forbids:
            message = f"`{name}` is both expected and forbidden"
            yield (*path, "forbids"), message, "remove one of the two"
    for tool in toolset.tools:
        if tool.name in agent.forbids and facts_of(tool).get("attached"):
            message = f"`{tool.name}` is attached, and `{agent.name}` forbids it"
            yield (*path, "forbids"), message, "remove one of the two"


RULE = Rule(
    id="letta/settings",
    severity=Severity.ERROR,
    purpose="Checks that Letta's server entry and agents are whole and not contradictory.",
    why="What is missing would be noticed while somebody applies it to a live agent.",
    bad="""\
letta: {attached: true}
# toolset.yaml
letta: {server: {url: "http://tools.test/mcp"}, agents: {ren: {}}}
targets: {mcp: {}, letta: {}}
""",
    good="""\
letta: {attached: true}
# toolset.yaml
letta: {server: {url: "http://tools.test/mcp"}, agents: {ren: {id: agent-1}}}
targets: {mcp: {}, letta: {}}
""",
    check=check,
)
