"""The target `letta`: a module with the desired state in Letta, and its runbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolcast.extension_api import (
    Code,
    Context,
    PythonShape,
    Target,
    Toolset,
    encode_header,
    encode_literal,
    encode_safe_text,
    get_package_name,
)

from .runbook import TEMPLATES, build_toolset_runbook
from .settings import LettaAgent, LettaServer
from .specs import build_settings, build_tool_part, find_omission_reason


class ServerView(NamedTuple):
    """The MCP server's entry, for the template."""

    name: Code
    url: Code
    url_env: Code
    token_env: Code
    client: Code


class AgentView(NamedTuple):
    """An agent, for the template."""

    name: Code
    id: Code
    id_env: Code
    type: Code
    expects: Code
    ends_turn: Code
    forbids: Code


class LettaView(NamedTuple):
    """The values of the generated module."""

    header: Code
    name: Code
    toolset: Code
    backend: Code
    on_start: Code
    on_start_timeout_s: Code
    server: ServerView
    agents: Sequence[AgentView]
    shape: PythonShape = PythonShape(
        (
            "docstring",
            "from __future__",
            "try",
            "from toolcast_letta.server_part",
            "from .registry",
            "LETTA =",
        ),
        frozenset(["ImportError", "LettaAgent", "LettaServer", "LettaToolset"]),
    )


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the generated `letta.py` and `runbook.md` by file name."""
    settings = build_settings(toolset)
    view = LettaView(
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        name=encode_safe_text(toolset.name),
        toolset=encode_literal(toolset.name, "    name=", ","),
        backend=encode_literal(settings.backend),
        on_start=encode_literal(settings.on_start),
        on_start_timeout_s=encode_literal(settings.on_start_timeout_s),
        server=_build_server_view(settings.server),
        agents=[_build_agent_view(agent) for agent in settings.agents],
    )
    return {
        "letta.py": context.render("letta/letta.py.jinja", view),
        "runbook.md": context.render(
            "letta/runbook.md.jinja",
            build_toolset_runbook(toolset, get_package_name(context, toolset)),
        ),
    }


def _build_server_view(server: LettaServer) -> ServerView:
    fields = server._asdict()
    return ServerView(
        *(
            encode_literal(fields[name], f"{' ' * 8}{name}=", ",")
            for name in ServerView._fields
        )
    )


def _build_agent_view(agent: LettaAgent) -> AgentView:
    # Sort these fields, so that the output does not depend on their order in the spec.
    fields = {
        **vars(agent),
        "expects": tuple(sorted(agent.expects)),
        "ends_turn": tuple(sorted(agent.ends_turn)),
        "forbids": dict(sorted(agent.forbids.items())),
    }
    return AgentView(
        *(
            encode_literal(fields[name], f"{' ' * 12}{name}=", ",")
            for name in AgentView._fields
        )
    )


TARGET = Target(
    name="letta",
    purpose="The tools and rules of Letta agents, and a runbook for applying them.",
    generate=generate,
    reads=frozenset("""
        name summary description parameters annotations mcp handler clients letta data
        renamed_from examples
        """.split()),
    reads_toolset=frozenset(["letta"]),
    needs=("mcp",),
    server_part="LETTA",
    definition_part=build_tool_part,
    omission_reason=find_omission_reason,
    with_black=False,
    templates=TEMPLATES,
)
