"""The target `mcp`: the MCP server of a toolset."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name

from ..analysis.uri_templates import list_variables
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
from ..model.endpoints import build_variable_name, list_endpoints
from ..model.model import Toolset
from ..model.toolset_parts import PromptSpec, ResourceSpec, omit_none
from ..rendering.output_shape import JsonShape, PythonShape, View
from ..spec_language.spec_language import get_default
from .target import (
    Context,
    Target,
    encode_header,
    format_signature,
    get_package_name,
    render_package_file,
)
from .tool_types import render_mcp_types


def render_mcp_definitions(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the files in `mcp_resources/` and `mcp_prompts/`, by path.

    A folder without specs gets no files, so the result can be empty.
    """
    files: dict[str, bytes] = {}
    value_types = "pydantic" if toolset.values == "pydantic" else None
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
            if isinstance(spec, ResourceSpec):
                parts = _build_resource_fields(spec)
            else:
                parts = _build_prompt_fields(spec)
            source = f"{toolset.folder}/{folder}/{spec.name}.yaml"
            values = omit_none(
                generated=format_signature(source),
                mcp=spec.mcp,
                order=spec.order,
                **parts,
                handler=str(spec.handler) if spec.handler else None,
                uses=list(spec.uses) or None,
                timeout=toolset.get_timeout(spec) if spec.handler else None,
                value_types=value_types if spec.handler else None,
                clients=list(spec.clients) if spec.clients else None,
            )
            stem = f"{folder}/{module_name(spec.name)}"
            path = f"{stem}.json"
            shape = JsonShape(tuple(values))
            files[path] = context.write(path, encode_json(values, ("mcp",)), shape)
            # With `values: pydantic`, the annotations of the handler differ from the strings
            # that MCP passes, so no types are generated to compare the handler with.
            if spec.handler is not None and value_types is None:
                files[f"{stem}.py"] = render_mcp_types(toolset, spec, context)
    return files


def _build_resource_fields(spec: ResourceSpec) -> dict[str, Any]:
    """Return the fields of a definition that only resources have.

    The fields are `name` (only if the listed name differs), `text` or `blob`, `parameters`
    (the variables of the URI template; only with a handler) and `values` (the allowed values
    by variable). A value can be None.
    """
    parts: dict[str, Any] = {"text": spec.text}
    if spec.content is not None:
        parts = _encode_content(spec.content)
    # Without the name in the definition, the runtime could not verify the file's name.
    parts["name"] = None if spec.mcp["name"] == spec.name else spec.name
    if spec.handler is not None:
        parts["parameters"] = list(list_variables(spec.uri_template or ""))
    values = {name: list(values) for name, values in spec.variables.items()}
    parts["values"] = values or None
    return parts


def _encode_content(content: bytes) -> dict[str, Any]:
    """Return file content as text if it is UTF-8 without NUL, else as a base64 blob."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        # Stand-in for bytes that are not text: the check for NUL then selects a blob.
        text = "\0"
    if "\0" in text:
        return {"blob": base64.b64encode(content).decode("ascii")}
    return {"text": text}


def _build_prompt_fields(spec: PromptSpec) -> dict[str, Any]:
    """Return the fields of a definition that only prompts have; a value can be None.

    `parameters` is set only for a prompt with a handler. `values` contains the allowed
    values of each argument with an `enum`.
    """
    messages = [
        {"role": message.role, "text": message.text} for message in spec.messages
    ]
    values = {
        argument.name: list(argument.enum)
        for argument in spec.arguments
        if argument.enum
    }
    names = [argument.name for argument in spec.arguments]
    return {
        "messages": messages or None,
        "parameters": names if spec.handler else None,
        "values": values or None,
    }


_WORKSPACE = "toolcast.yaml"
# Keys of `targets.mcp.http` with an array. The generated server omits an empty array.
_LIST_SETTINGS = ("allowed_hosts", "headers", "allowed_origins")
# The encoders need the text before a value to break long lines as black does.
_ENDPOINT_INDENT = " " * 16
_LINKS = "toolset.targets.mcp.links"


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return `mcp_server.py` and the files of MCP resources and prompts, by path."""
    view = _build_server_view(toolset, context, f"{toolset.folder}/toolset.yaml", ())
    return {
        "mcp_server.py": context.render("mcp/mcp_server.py.jinja", view),
        **render_mcp_definitions(toolset, context),
    }


def render_shared_server(
    server: Toolset, toolsets: Sequence[str], context: Context
) -> Mapping[str, bytes]:
    """Return `__init__.py` and `mcp_server.py` of an endpoint that toolsets share.

    Args:
        server: the toolset from `merge_toolsets`, which has settings but no tools.
        toolsets: the names of the toolsets, in the order of the endpoint.
        context: the rendering context.
    """
    view = _build_server_view(server, context, _WORKSPACE, toolsets)
    return {
        "__init__.py": render_package_file(
            server.name, encode_header(_WORKSPACE), context
        ),
        "mcp_server.py": context.render("mcp/mcp_server.py.jinja", view),
    }


def _build_server_view(
    toolset: Toolset, context: Context, source: str, shared_toolsets: Sequence[str]
) -> View:
    """Build the view of `mcp_server.py` for one toolset or for a shared endpoint.

    Args:
        toolset: the toolset, or the merged settings of a shared endpoint.
        context: the rendering context.
        source: the path of the file with the settings, for the header.
        shared_toolsets: the names of the endpoint's toolsets; empty for one toolset.
    """
    options = toolset.targets.get("mcp", {})
    http = options.get("http", {})
    admin = http.get(
        "admin_token_variable", build_variable_name(toolset, "ADMIN_TOKEN")
    )
    client = options.get("client")
    links = options.get("links", {})
    oauth = http.get("oauth", {})
    indent = "        "
    # The generated module imports the parts in this order, which is also isort's.
    parts = sorted(context.server_parts.items())
    return View(
        _build_shape(toolset, context, shared_toolsets),
        header=encode_header(source),
        package=encode_safe_text(get_package_name(context, toolset)),
        is_shared=bool(shared_toolsets),
        toolsets=[
            View(module=encode_safe_text(module), name=encode_identifier(name.upper()))
            for name, module in zip(
                shared_toolsets,
                _list_server_modules(context, shared_toolsets),
                strict=True,
            )
        ],
        toolset_names=encode_name_tuple(
            [name.upper() for name in shared_toolsets], "    ", ","
        ),
        name=encode_literal(toolset.name),
        title=encode_literal(toolset.title, "    title=", ","),
        version=encode_literal(_get_version(toolset, context), "    version=", ","),
        instructions=encode_optional(toolset.instructions, "    instructions=", ","),
        client=encode_optional(client, "    client=", ","),
        endpoints=[
            View(
                path=encode_literal(plan.path, f"{_ENDPOINT_INDENT}path=", ","),
                client=encode_literal(plan.client, f"{_ENDPOINT_INDENT}client=", ","),
                token_variable=encode_literal(
                    plan.token_variable, f"{_ENDPOINT_INDENT}token_variable=", ","
                ),
                client_confirms=plan.client_confirms,
            )
            for plan in list_endpoints(toolset)
        ],
        admin_variable=encode_literal(admin, f"{indent}admin_variable=", ","),
        hosts_variable=encode_literal(
            build_variable_name(toolset, "ALLOWED_HOSTS"),
            f"{indent}hosts_variable=",
            ",",
        ),
        **{key: _encode_list(http, key, indent) for key in _LIST_SETTINGS},
        oauth_names=join_identifiers(["OAuth", "Scope"]),
        # The runtime appends the suffix of each variable to this prefix, such as `SHOP`.
        oauth_variables=encode_literal(
            build_variable_name(toolset, "")[:-1], f"{indent}    variables=", ","
        ),
        has_oauth=bool(oauth),
        oauth_issuer=encode_literal(oauth.get("issuer"), f"{indent}    issuer=", ","),
        oauth_jwks_uri=encode_literal(
            oauth.get("jwks_uri"), f"{indent}    jwks_uri=", ","
        ),
        oauth_introspection=encode_literal(bool(oauth.get("introspection"))),
        oauth_algorithms=_encode_list(oauth, "algorithms", f"{indent}    "),
        scopes=_build_scopes(oauth.get("scopes", {})),
        max_body=encode_optional(http.get("max_body")),
        is_external=bool(options.get("external")),
        is_silent=options.get("heartbeat") is False,
        is_searched=bool(options.get("search")),
        state_key_variable=encode_optional(
            options.get("state_key_variable"), "    state_key_variable=", ","
        ),
        definition_packages=join_identifiers(_list_definition_packages(toolset)),
        has_resources=bool(toolset.mcp_resources),
        has_prompts=bool(toolset.mcp_prompts),
        has_skills="skills" in context.targets,
        has_links="links" in options,
        link_seconds=encode_literal(
            links.get("seconds", get_default(f"{_LINKS}.seconds"))
        ),
        link_bytes=encode_literal(links.get("bytes", get_default(f"{_LINKS}.bytes"))),
        parts=[
            View(module=encode_identifier(k), name=encode_identifier(name))
            for k, name in parts
        ],
        part_names=encode_name_tuple([name for _, name in parts], "    parts=", ","),
    )


def _get_version(toolset: Toolset, context: Context) -> str:
    """Return the version that the MCP server reports.

    A toolset with the target `package` and without its own `version` has the version in
    pyproject.toml. If both are missing, the version is the default of the spec language.
    """
    project_version = context.project.get_text("version") if context.project else ""
    is_declared = "version" in toolset.fields or "package" not in toolset.targets
    return toolset.version if is_declared else project_version or toolset.version


def _encode_list(options: Mapping[str, Any], key: str, before: str) -> Code:
    """Encode an optional array as a tuple; empty code for a missing or empty array."""
    return encode_optional(tuple(options.get(key, ())) or None, f"{before}{key}=", ",")


def _list_server_modules(context: Context, toolsets: Sequence[str]) -> list[str]:
    """Return the dotted names of the toolsets' server modules."""
    parents = [context.package] if context.package else []
    return [".".join([*parents, name, "mcp_server"]) for name in toolsets]


def _list_definition_packages(toolset: Toolset) -> list[str]:
    """Return the names of the generated packages of MCP prompts and resources, if any."""
    packages = {
        "mcp_prompts": toolset.mcp_prompts,
        "mcp_resources": toolset.mcp_resources,
    }
    return [name for name, specs in packages.items() if specs]


def _build_scopes(scopes: Mapping[str, Any]) -> list[View]:
    """Build a view per OAuth scope, with the clients and permissions that it grants."""
    indent = "                    "
    return [
        View(
            name=encode_literal(name, f"{indent}name=", ","),
            **{
                key: encode_literal(tuple(grant.get(key, ())), f"{indent}{key}=", ",")
                for key in ("clients", "permissions")
            },
        )
        for name, grant in scopes.items()
    ]


def _build_shape(
    toolset: Toolset, context: Context, shared_toolsets: Sequence[str]
) -> PythonShape:
    """Return the statements and the calls that `mcp_server.py` may contain."""
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
            *(
                f"from {module}"
                for module in _list_server_modules(context, shared_toolsets)
            ),
            *([] if shared_toolsets else ["from .registry"]),
            "SERVER =",
            "app =",
            "if __name__",
        ),
        frozenset("""
            Endpoint HttpSettings LinkLimits McpServer McpServer.combine OAuth SERVER.asgi_app SERVER.main Scope
            """.split()),
    )


TARGET = Target(
    name="mcp",
    purpose="An MCP server over stdio and streamable HTTP.",
    generate=generate,
    needs=("registry",),
)
