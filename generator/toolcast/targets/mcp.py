"""The MCP server of a toolset."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name

from ..analysis.uri_templates import variables_of
from ..encoders.code import Code
from ..encoders.json_text import encode_json
from ..encoders.python import (
    encode_identifier,
    encode_literal,
    encode_name_tuple,
    encode_optional,
    encode_safe_text,
    join_identifiers,
)
from ..model.endpoints import endpoints, variable
from ..model.model import Toolset
from ..model.toolset_parts import PromptSpec, ResourceSpec, stated
from ..rendering.output_shape import JsonShape, PythonShape, View
from ..spec_language.spec_language import default
from .target import (
    Context,
    Target,
    encode_header,
    format_signature,
    get_package_name,
    render_package_file,
)


def render_mcp_definitions(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`mcp_resources/` and `mcp_prompts/`, where the toolset has some."""
    files: dict[str, bytes] = {}
    for folder, kind, specs in (
        ("mcp_resources", "resources", toolset.mcp_resources),
        ("mcp_prompts", "prompts", toolset.mcp_prompts),
    ):
        if not specs:
            continue
        view = View(
            PythonShape(("docstring",)),
            header=encode_header(f"{toolset.folder}/toolset.yaml"),
            kind=encode_safe_text(kind),
        )
        files[f"{folder}/__init__.py"] = context.render(
            "mcp/definitions_package.py.jinja", view
        )
        for spec in specs:
            parts = _resource(spec) if isinstance(spec, ResourceSpec) else _prompt(spec)
            source = f"{toolset.folder}/{folder}/{spec.name}.yaml"
            values = stated(
                generated=format_signature(source),
                mcp=spec.mcp,
                **parts,
                handler=str(spec.handler) if spec.handler else None,
                uses=list(spec.uses) or None,
                timeout=toolset.seconds_of(spec) if spec.handler else None,
                clients=list(spec.clients) if spec.clients else None,
            )
            path = f"{folder}/{module_name(spec.name)}.json"
            shape = JsonShape(tuple(values))
            files[path] = context.write(path, encode_json(values, ("mcp",)), shape)
    return files


def _resource(spec: ResourceSpec) -> dict[str, Any]:
    """What a resource holds: text is text, whatever it was read from."""
    parts: dict[str, Any] = {"text": spec.text}
    if spec.content is not None:
        parts = _of_bytes(spec.content)
    if spec.handler is not None:
        parts["parameters"] = list(variables_of(spec.uri_template or ""))
    parts["values"] = {n: list(v) for n, v in spec.variables.items()} or None
    return parts


def _of_bytes(content: bytes) -> dict[str, Any]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return {"blob": base64.b64encode(content).decode("ascii")}
    return {"text": text}


def _prompt(spec: PromptSpec) -> dict[str, Any]:
    messages = [{"role": one.role, "text": one.text} for one in spec.messages]
    values = {one.name: list(one.enum) for one in spec.arguments if one.enum}
    return {
        "messages": messages or None,
        "parameters": [one.name for one in spec.arguments] if spec.handler else None,
        "values": values or None,
    }


_WORKSPACE = "toolcast.yaml"
_LISTS = ("allowed_hosts", "headers", "allowed_origins")
_WITHIN = " " * 16
_LINKS = "toolset.targets.mcp.links"


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`mcp_server.py`."""
    view = _server(toolset, context, f"{toolset.folder}/toolset.yaml", ())
    return {
        "mcp_server.py": context.render("mcp/mcp_server.py.jinja", view),
        **render_mcp_definitions(toolset, context),
    }


def render_shared_server(
    server: Toolset, toolsets: Sequence[str], context: Context
) -> Mapping[str, bytes]:
    """The package of a server that toolsets share.

    Args:
        server: what is said of it; see `model.endpoints.joined`.
        toolsets: the names of those that share it.
        context: of the target.
    """
    view = _server(server, context, _WORKSPACE, toolsets)
    return {
        "__init__.py": render_package_file(
            server.name, encode_header(_WORKSPACE), context
        ),
        "mcp_server.py": context.render("mcp/mcp_server.py.jinja", view),
    }


def _server(
    toolset: Toolset, context: Context, source: str, sharing: Sequence[str]
) -> View:
    options = toolset.targets.get("mcp", {})
    http = options.get("http", {})
    admin = http.get("admin_token_variable", variable(toolset, "ADMIN_TOKEN"))
    client = options.get("client")
    links = options.get("links", {})
    oauth = http.get("oauth", {})
    inner = "        "
    parts = sorted(context.server_parts.items())
    return View(
        _shape(toolset, context, sharing),
        header=encode_header(source),
        package=encode_safe_text(get_package_name(context, toolset)),
        is_shared=bool(sharing),
        toolsets=[
            View(module=encode_safe_text(module), name=encode_identifier(name.upper()))
            for name, module in zip(sharing, _modules(context, sharing), strict=True)
        ],
        toolset_names=encode_name_tuple(
            [name.upper() for name in sharing], "    ", ","
        ),
        name=encode_literal(toolset.name),
        title=encode_literal(toolset.title, "    title=", ","),
        version=encode_literal(_version(toolset, context), "    version=", ","),
        instructions=encode_optional(toolset.instructions, "    instructions=", ","),
        client=encode_optional(client, "    client=", ","),
        endpoints=[
            View(
                path=encode_literal(plan.path, f"{_WITHIN}path=", ","),
                client=encode_literal(plan.client, f"{_WITHIN}client=", ","),
                token_variable=encode_literal(
                    plan.token_variable, f"{_WITHIN}token_variable=", ","
                ),
                approves=plan.approves,
            )
            for plan in endpoints(toolset)
        ],
        admin_variable=encode_literal(admin, f"{inner}admin_variable=", ","),
        hosts_variable=encode_literal(
            variable(toolset, "ALLOWED_HOSTS"), f"{inner}hosts_variable=", ","
        ),
        **{key: _listed(http, key, inner) for key in _LISTS},
        oauth_names=join_identifiers(["OAuth", "Scope"]),
        oauth_variables=encode_literal(
            variable(toolset, "")[:-1], f"{inner}    variables=", ","
        ),
        has_oauth=bool(oauth),
        oauth_issuer=encode_literal(oauth.get("issuer"), f"{inner}    issuer=", ","),
        oauth_jwks_uri=encode_literal(
            oauth.get("jwks_uri"), f"{inner}    jwks_uri=", ","
        ),
        oauth_introspection=encode_literal(bool(oauth.get("introspection"))),
        oauth_algorithms=_listed(oauth, "algorithms", f"{inner}    "),
        scopes=_scopes(oauth.get("scopes", {})),
        max_body=encode_optional(http.get("max_body")),
        is_external=bool(options.get("external")),
        is_silent=options.get("heartbeat") is False,
        is_searched=bool(options.get("search")),
        state_key_variable=encode_optional(
            options.get("state_key_variable"), "    state_key_variable=", ","
        ),
        offers=join_identifiers(_offers(toolset)),
        has_resources=bool(toolset.mcp_resources),
        has_prompts=bool(toolset.mcp_prompts),
        has_skills="skills" in context.targets,
        has_links="links" in options,
        link_seconds=encode_literal(links.get("seconds", default(f"{_LINKS}.seconds"))),
        link_bytes=encode_literal(links.get("bytes", default(f"{_LINKS}.bytes"))),
        parts=[
            View(module=encode_identifier(k), name=encode_identifier(name))
            for k, name in parts
        ],
        part_names=encode_name_tuple([name for _, name in parts], "    parts=", ","),
    )


def _version(toolset: Toolset, context: Context) -> str:
    """The toolset's own, else that of its package, where it has one."""
    said = context.project.text_of("version") if context.project else ""
    is_own = "version" in toolset.fields or "package" not in toolset.targets
    return toolset.version if is_own or not said else said


def _listed(options: Mapping[str, Any], key: str, before: str) -> Code:
    return encode_optional(tuple(options.get(key, ())) or None, f"{before}{key}=", ",")


def _modules(context: Context, toolsets: Sequence[str]) -> list[str]:
    """The modules of toolsets' own servers, as Python imports them."""
    below = [context.package] if context.package else []
    return [".".join([*below, name, "mcp_server"]) for name in toolsets]


def _offers(toolset: Toolset) -> list[str]:
    """The packages of definitions besides the tools'."""
    there = {"mcp_prompts": toolset.mcp_prompts, "mcp_resources": toolset.mcp_resources}
    return [name for name, specs in there.items() if specs]


def _scopes(scopes: Mapping[str, Any]) -> list[View]:
    before = "                    "
    return [
        View(
            name=encode_literal(name, f"{before}name=", ","),
            **{
                key: encode_literal(tuple(given.get(key, ())), f"{before}{key}=", ",")
                for key in ("clients", "permissions")
            },
        )
        for name, given in scopes.items()
    ]


def _shape(toolset: Toolset, context: Context, sharing: Sequence[str]) -> PythonShape:
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
            *(f"from {module}" for module in _modules(context, sharing)),
            *([] if sharing else ["from .registry"]),
            "SERVER =",
            "app =",
            "if __name__",
        ),
        frozenset("""
            Endpoint HttpSettings LinkLimits McpServer McpServer.of_several OAuth SERVER.asgi_app SERVER.main Scope
            """.split()),
    )


TARGET = Target(
    name="mcp",
    purpose="An MCP server over stdio and streamable HTTP.",
    generate=generate,
    needs=("registry",),
)
