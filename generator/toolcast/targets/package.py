"""The target `package`: manifests to publish, install and start a toolset's server.

Sources: server.json 2025-12-11 (https://github.com/modelcontextprotocol/registry), MCPB 0.4
(https://github.com/modelcontextprotocol/mcpb), Agent Plugins 1.0.0 (https://agent-plugins.org),
Claude Code's plugin.json (https://code.claude.com/docs/en/plugins/manifest-reference).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from ..analysis.network_reach import collect_server_variables, has_secret
from ..encoders.json_text import encode_json
from ..model.model import Toolset
from ..model.python_project import PYPROJECT, PythonProject
from ..model.toolset_parts import omit_none
from ..rendering.output_shape import JsonShape
from .target import Context, Target, format_signature, get_package_name

_REGISTRY_SCHEMAS = "https://static.modelcontextprotocol.io/schemas/2025-12-11"
_PUBLISHER_KEY = "io.modelcontextprotocol.registry/publisher-provided"
_PLUGIN_SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
_TOOLCAST_KEY = "dev.toolcast"

# server.json of the MCP registry limits titles, versions and descriptions to 100 characters.
_MAX_LENGTH = 100
# The normal form of a version in PEP 440. PyPI stores only this form, and the MCP registry
# compares the manifest's version with the one on PyPI.
_VERSION = r"(?a:(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?)"
# Pattern and description of the values that manifests need from `[project]`.
_PROJECT_FIELDS = {
    "name": (r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", "of letters and digits"),
    "version": (rf"(?=.{{1,{_MAX_LENGTH}}}$){_VERSION}", "such as `1.2.0`"),
    "description": (rf".{{1,{_MAX_LENGTH}}}", f"of at most {_MAX_LENGTH} characters"),
    "requires-python": (r"[<>=!~][<>=!~0-9., *]*", "such as `>=3.11`"),
}
_RUNTIME = re.compile(r"toolcast[-_.]runtime\s*\[[^\]]*\bmcp\b", re.IGNORECASE)
_RESERVED = re.compile(r"(?:claude|anthropics?|cc-plugin)(?:-|$)")
# Environment variables that decide which code is installed and run. A published manifest must
# not let a client set them.
_CODE_VARIABLES = re.compile(
    r"(?i)PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|APPDATA|(?:UV|PIP|LD|DYLD|XDG)_.*"
    r"|PYTHON.*|.*_PROXY|SSL_CERT_.*"
)


def find_problems(
    toolset: Toolset, project: PythonProject | None
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the path, message and help of each problem that prevents the manifests.

    The path is a path of toolset.yaml, or PYPROJECT and a key of its `[project]` table.
    """
    target_path = ("targets", "package")
    if project is None or project.table is None:
        message = "pyproject.toml with a `[project]` table, which manifests need, cannot be read"
        yield target_path, message, "add it next to toolcast.yaml, as TOML in UTF-8"
    else:
        for key, message, help_ in _find_project_problems(project):
            yield (PYPROJECT, key), message, help_
        version = project.get_text("version")
        if "version" in toolset.fields and version not in ("", toolset.version):
            message = f"`version` is {toolset.version}, but the package has {version}"
            yield ("version",), message, "remove it: the package's version is used"
    if "namespace" not in toolset.targets.get("package", {}):
        message = "`namespace` is missing, which the name in the registry begins with"
        help_ = (
            "add `namespace: io.github.NAME`, or your reversed domain: `com.example`"
        )
        yield target_path, message, help_
    if _RESERVED.match(name := _get_published_name(toolset)):
        message = f"the plugin name `{name}` is reserved for Anthropic's own plugins"
        yield ("name",), message, "rename the toolset"
    for variable, settings in collect_server_variables(toolset).items():
        if has_secret(settings.get("default") or ""):
            message = f"the default of `{variable}` is a secret, and would be published"
            yield target_path, message, "remove it: users are prompted for their own"
        if _CODE_VARIABLES.fullmatch(variable):
            message = f"`{variable}` decides which code runs; packages must not set it"
            yield target_path, message, "rename the variable"


def _find_project_problems(
    project: PythonProject,
) -> Iterator[tuple[str, str, str]]:
    dynamic = project.get_texts("dynamic")
    for key in dynamic:
        if key in (*_PROJECT_FIELDS, "dependencies"):
            message = f"`{key}` is dynamic, so that only a build knows its value"
            help_ = "set it in `[project]`; code can read it with `importlib.metadata`"
            yield "dynamic", message, help_
    for key, (pattern, description) in _PROJECT_FIELDS.items():
        if key not in dynamic and not re.fullmatch(pattern, project.get_text(key)):
            yield key, f"`[project]` has no `{key}` {description}", f"set `{key}`"
    if not _get_author(project):
        message = (
            "`[project]` has no author with a name, which an `.mcpb` manifest needs"
        )
        yield "authors", message, 'add `authors = [{name = "..."}]`'
    required = project.get_texts("dependencies")
    if "dependencies" not in dynamic and not any(map(_RUNTIME.match, required)):
        message = "`toolcast-runtime[mcp]` is missing, without which no server starts"
        yield "dependencies", message, "add it to `dependencies`"


def _get_published_name(toolset: Toolset) -> str:
    """Return the name of the package: the toolset's name in kebab case."""
    return "-".join(filter(None, toolset.name.split("_")))


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the manifests in `package/` by path; empty if `find_problems` yields any."""
    project = context.project
    if project is None or any(find_problems(toolset, project)):
        return {}
    module = f"{get_package_name(context, toolset)}.mcp_server"
    files = {}
    for name, value in _build_manifests(toolset, project, module).items():
        text = encode_json(value, ("user_config", "userConfig", "tools"))
        files[f"package/{name}"] = context.write(name, text, JsonShape(tuple(value)))
    return files


def _build_manifests(
    toolset: Toolset, project: PythonProject, module: str
) -> dict[str, dict[str, Any]]:
    """Return the JSON value of each manifest, by path below `package/`.

    The first member of a manifest contains the signature. `mcp.json` has none, because its
    format allows no further keys.
    """
    signature = {"generated": format_signature(f"{toolset.folder}/")}
    name, title = _get_published_name(toolset), toolset.heading
    version, python = project.get_text("version"), project.get_text("requires-python")
    mcp = toolset.targets.get("mcp", {})
    common = omit_none(
        version=version,
        description=project.get_text("description"),
        author={"name": _get_author(project)},
        license=project.get_text("license") or None,
    )
    variables = collect_server_variables(toolset)
    env = {key: f"${{user_config.{key}}}" for key in variables} or None
    user_config = {
        key: omit_none(
            type="string",
            title=key,
            description=settings["description"],
            required=settings.get("required") or None,
            # Without any value, clients would pass the literal `${user_config...}`.
            default=None if settings.get("required") else settings.get("default") or "",
            sensitive=settings.get("secret") or None,
        )
        for key, settings in variables.items()
    } or None
    environment_variables = [
        omit_none(
            name=key,
            description=settings["description"],
            isRequired=settings.get("required") or None,
            isSecret=settings.get("secret") or None,
            default=settings.get("default"),
        )
        for key, settings in variables.items()
    ]
    uv_arguments = ["run", "--directory", "${__dirname}", "python", "-m", module]
    requirement = f"{project.get_text('name')}=={version}"
    # The client's working directory must not decide which code the server runs: `uvx` ignores
    # a `uv.toml` or `.venv` in the directory, and `-P` ignores its Python modules.
    uvx_arguments = [
        "--python",
        python,
        "--from",
        requirement,
        "python",
        "-P",
        "-m",
        module,
    ]
    uvx = {"command": "uvx", "args": uvx_arguments}
    package = omit_none(
        registryType="pypi",
        identifier=project.get_text("name"),
        version=version,
        runtimeHint="uvx",
        runtimeArguments=[{"type": "named", "name": "--python", "value": python}],
        transport={"type": "stdio"},
        environmentVariables=environment_variables or None,
    )
    return {
        "server.json": {
            "_meta": {_PUBLISHER_KEY: signature},
            "$schema": f"{_REGISTRY_SCHEMAS}/server.schema.json",
            "name": f"{toolset.targets['package']['namespace']}/{name}",
            "title": (
                title if len(title) <= _MAX_LENGTH else f"{title[: _MAX_LENGTH - 1]}…"
            ),
            "description": common["description"],
            "version": version,
            "packages": [package],
        },
        "manifest.json": {
            "_meta": {_TOOLCAST_KEY: signature},
            "manifest_version": "0.4",
            "name": name,
            "display_name": title,
            **common,
            "server": {
                "type": "uv",
                "entry_point": f"{module.replace('.', '/')}.py",
                "mcp_config": omit_none(command="uv", args=uv_arguments, env=env),
            },
            "compatibility": {"runtimes": {"python": python}},
            "tools": _list_tools(toolset, mcp.get("client", "")),
            **omit_none(
                tools_generated=mcp.get("external") or None,
                prompts_generated=bool(toolset.mcp_prompts) or None,
                user_config=user_config,
            ),
        },
        "plugin.json": {
            "extensions": {_TOOLCAST_KEY: signature},
            "$schema": f"{_PLUGIN_SCHEMAS}/plugin.schema.json",
            "name": name,
            **common,
        },
        # The format of `mcp.json` allows no further keys, so the file has no signature.
        "mcp.json": {
            "$schema": f"{_PLUGIN_SCHEMAS}/mcp.schema.json",
            "mcpServers": {name: {"type": "stdio", **uvx}},
        },
        ".claude-plugin/plugin.json": {
            "metadata": signature,
            "name": name,
            "displayName": title,
            **common,
            "mcpServers": {name: omit_none(**uvx, env=env)},
            **omit_none(userConfig=user_config),
        },
    }


def _list_tools(toolset: Toolset, client_name: str) -> list[dict[str, str]]:
    """Return the name and summary of each tool of the stdio server, sorted by name.

    Tools that `exclusions` omits from the target `package` are left out. Without a client
    of this name, all other tools of the target `mcp` are listed.
    """
    client, excluded = toolset.find_client(client_name), toolset.list_excluded_tools(
        "package"
    )
    return [
        {"name": tool.name, "description": tool.summary}
        for tool in sorted(toolset.list_target_tools("mcp"), key=attrgetter("name"))
        if tool.name not in excluded
        and (client is None or toolset.is_offered(tool, client))
    ]


def _get_author(project: PythonProject) -> str:
    """Return the name of the first author with a name; empty if there is none."""
    authors = (project.table or {}).get("authors")
    entries = authors if isinstance(authors, list) else []
    for entry in entries:
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name:
            return " ".join(name.split())
    return ""


TARGET = Target(
    name="package",
    purpose="Manifests to publish and install the server.",
    generate=generate,
    needs=("mcp",),
)
