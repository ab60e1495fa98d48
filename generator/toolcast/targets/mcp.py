"""The MCP server of a toolset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.python import identifier, literal, names, tuple_of_names, words
from ..model.endpoints import endpoints, variable
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape
from .mcp_definitions import mcp_definitions
from .target import Context, Target, header, package_of

__all__ = ["TARGET"]


class EndpointView(NamedTuple):
    """Where one client is served over HTTP."""

    path: Code
    client: Code
    token_variable: Code
    approves: bool


class PartView(NamedTuple):
    """What another target contributes."""

    module: Code
    name: Code


class ServerView(NamedTuple):
    """The server's module."""

    header: Code
    package: Code
    name: Code
    title: Code
    version: Code
    has_instructions: bool
    instructions: Code
    has_client: bool
    client: Code
    endpoints: Sequence[EndpointView]
    admin_variable: Code
    hosts_variable: Code
    has_hosts: bool
    allowed_hosts: Code
    has_headers: bool
    headers: Code
    has_origins: bool
    allowed_origins: Code
    has_max_body: bool
    max_body: Code
    is_external: bool
    is_silent: bool
    has_state_key: bool
    state_key_variable: Code
    has_offers: bool
    offers: Code
    has_resources: bool
    has_prompts: bool
    has_skills: bool
    has_links: bool
    link_seconds: Code
    link_bytes: Code
    has_parts: bool
    parts: Sequence[PartView]
    part_names: Code
    shape: PythonShape


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`mcp_server.py`."""
    options = toolset.targets.get("mcp", {})
    http = options.get("http", {})
    admin = http.get("admin_token_variable", variable(toolset, "ADMIN_TOKEN"))
    client = options.get("client")
    links = options.get("links") or {}
    inner = "        "
    view = ServerView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        package=words(package_of(context, toolset)),
        name=literal(toolset.name),
        title=literal(toolset.title, "    title=", ","),
        version=literal(toolset.version, "    version=", ","),
        has_instructions=toolset.instructions is not None,
        instructions=literal(toolset.instructions, "    instructions=", ","),
        has_client=client is not None,
        client=literal(client, "    client=", ","),
        endpoints=_endpoints(toolset),
        admin_variable=literal(admin, f"{inner}admin_variable=", ","),
        hosts_variable=literal(
            variable(toolset, "ALLOWED_HOSTS"), f"{inner}hosts_variable=", ","
        ),
        has_hosts=bool(http.get("allowed_hosts")),
        allowed_hosts=literal(
            tuple(http.get("allowed_hosts", ())), f"{inner}allowed_hosts=", ","
        ),
        has_headers=bool(http.get("headers")),
        headers=literal(tuple(http.get("headers", ())), f"{inner}headers=", ","),
        has_origins=bool(http.get("allowed_origins")),
        allowed_origins=literal(
            tuple(http.get("allowed_origins", ())), f"{inner}allowed_origins=", ","
        ),
        has_max_body="max_body" in http,
        max_body=literal(http.get("max_body")),
        is_external=bool(options.get("external")),
        is_silent=options.get("heartbeat") is False,
        has_state_key="state_key_variable" in options,
        state_key_variable=literal(
            options.get("state_key_variable"), "    state_key_variable=", ","
        ),
        has_offers=bool(toolset.mcp_specs),
        offers=names(_offers(toolset)),
        has_resources=bool(toolset.mcp_resources),
        has_prompts=bool(toolset.mcp_prompts),
        has_skills="skills" in context.targets,
        has_links="links" in options,
        link_seconds=literal(links.get("seconds", 600)),
        link_bytes=literal(links.get("bytes", 16_777_216)),
        has_parts=bool(context.server_parts),
        parts=[
            PartView(identifier(target), identifier(name))
            for target, name in sorted(context.server_parts.items())
        ],
        part_names=tuple_of_names(
            [context.server_parts[target] for target in sorted(context.server_parts)],
            "    parts=",
            ",",
        ),
        shape=_shape(toolset, context),
    )
    return {
        "mcp_server.py": context.render("mcp/mcp_server.py.jinja", view),
        **mcp_definitions(toolset, context),
    }


def _offers(toolset: Toolset) -> list[str]:
    """The packages of definitions besides the tools'."""
    there = {"mcp_prompts": toolset.mcp_prompts, "mcp_resources": toolset.mcp_resources}
    return [name for name, specs in there.items() if specs]


def _endpoints(toolset: Toolset) -> list[EndpointView]:
    before = "                "
    return [
        EndpointView(
            literal(plan.path, f"{before}path=", ","),
            literal(plan.client, f"{before}client=", ","),
            literal(plan.token_variable, f"{before}token_variable=", ","),
            plan.approves,
        )
        for plan in endpoints(toolset)
    ]


def _shape(toolset: Toolset, context: Context) -> PythonShape:
    has_links = "links" in toolset.targets.get("mcp", {})
    return PythonShape(
        (
            "docstring",
            "from __future__",
            "from toolcast_runtime.http",
            "from toolcast_runtime.mcp",
            *(["from toolcast_runtime.resources"] if has_links else []),
            *(["from ."] if toolset.mcp_specs else []),
            *(f"from .{target}" for target in sorted(context.server_parts)),
            "from .registry",
            *(["from .skills"] if "skills" in context.targets else []),
            "SERVER =",
            "app =",
            "if __name__",
        ),
        frozenset(
            [
                "Endpoint",
                "HttpSettings",
                "LinkLimits",
                "McpServer",
                "SERVER.asgi_app",
                "SERVER.main",
            ]
        ),
    )


TARGET = Target(
    name="mcp",
    reads_toolset=frozenset(["instructions", "version"]),
    purpose="An MCP server over stdio and streamable HTTP.",
    generate=generate,
    reads=frozenset("""
        name title summary description parameters returns annotations icons meta
        execution mcp
        """.split()),
    needs=("registry",),
    options={
        "client": "The client that stdio and the default HTTP path serve.",
        "external": "Shows and calls the tools of external servers, too.",
        "links": "Keeps the content of links that handlers return.",
        "heartbeat": "Tells callers that asked for progress that a call still runs.",
        "state_key_variable": "The key that several processes seal questions with.",
        "http": "How the server is reached over HTTP.",
    },
)
