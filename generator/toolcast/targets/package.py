"""The manifests by which people find, install and start a toolset's server.

Sources: server.json 2025-12-11 (https://github.com/modelcontextprotocol/registry), MCPB 0.4
(https://github.com/modelcontextprotocol/mcpb), Agent Plugins 1.0.0 (https://agent-plugins.org),
Claude Code's plugin.json (https://code.claude.com/docs/en/plugins/manifest-reference).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from ..analysis.network_reach import is_secret_text, variables_of
from ..encoders.json_text import encode_json
from ..model.model import Toolset
from ..model.python_project import PYPROJECT, PythonProject
from ..model.toolset_parts import stated
from ..rendering.output_shape import JsonShape
from .target import Context, Target, format_signature, get_package_name

_REGISTRY = "https://static.modelcontextprotocol.io/schemas/2025-12-11"
_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
_PLUGINS = "https://agent-plugins.org/schemas/1.0.0"
_OURS = "dev.toolcast"

_MOST = 100  # characters of a title, and of a description, in the registry
# PEP 440's normal form: the package index has no other, and the registry asks it.
_VERSION = r"(?a:(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?)"
_FORMS = {
    "name": (r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", "of letters and digits"),
    "version": (rf"(?=.{{1,{_MOST}}}$){_VERSION}", "such as `1.2.0`"),
    "description": (rf".{{1,{_MOST}}}", f"of at most {_MOST} characters"),
    "requires-python": (r"[<>=!~][<>=!~0-9., *]*", "such as `>=3.11`"),
}
_RUNTIME = re.compile(r"toolcast[-_.]runtime\s*\[[^\]]*\bmcp\b", re.IGNORECASE)
_RESERVED = re.compile(r"(?:claude|anthropics?|cc-plugin)(?:-|$)")
# Who can set these decides which code is installed and run.
_STEERING = re.compile(
    r"(?i)PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|APPDATA|(?:UV|PIP|LD|DYLD|XDG)_.*"
    r"|PYTHON.*|.*_PROXY|SSL_CERT_.*"
)


def find_problems(
    toolset: Toolset, project: PythonProject | None
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """What manifests have to say and cannot: where, a message and a help.

    That is a path of toolset.yaml, or PYPROJECT and a key of its `[project]`.
    """
    at = ("targets", "package")
    if project is None or project.table is None:
        message = "manifests repeat `[project]` of pyproject.toml, and none can be read"
        yield at, message, "write it, beside toolcast.yaml, as TOML in UTF-8"
    else:
        for key, message, help_ in _problems_of_project(project):
            yield (PYPROJECT, key), message, help_
        version = project.text_of("version")
        if "version" in toolset.fields and version not in ("", toolset.version):
            message = f"the server says {toolset.version}, its package {version}"
            yield ("version",), message, "leave it out: then both say one"
    if "namespace" not in toolset.targets.get("package", {}):
        message = "the package has no `namespace`, and no name in the registry without"
        help_ = "`namespace: io.github.NAME`, or a domain of yours: `com.example`"
        yield at, message, help_
    if _RESERVED.match(name := _package_name(toolset)):
        message = f"clients take a plugin `{name}` for one of Anthropic's own"
        yield ("name",), message, "call the toolset something else"
    for one, said in variables_of(toolset).items():
        if is_secret_text(said.get("default") or ""):
            message = f"the default of `{one}` is a secret, which everybody would get"
            yield at, message, "leave it out: people are asked for one of their own"
        if _STEERING.fullmatch(one):
            message = f"`{one}` decides which code runs: no package asks for it"
            yield at, message, "call the variable something else"


def _problems_of_project(project: PythonProject) -> Iterator[tuple[str, str, str]]:
    dynamic = project.texts_of("dynamic")
    for key in dynamic:
        if key in (*_FORMS, "dependencies"):
            message = f"`{key}` is dynamic: what manifests say of it only a build knows"
            help_ = "write it in `[project]`; code can ask `importlib.metadata` for it"
            yield "dynamic", message, help_
    for key, (form, words) in _FORMS.items():
        if key not in dynamic and not re.fullmatch(form, project.text_of(key)):
            yield key, f"`[project]` has no `{key}` {words}", "write one"
    if not _author(project):
        message = "`[project]` names no author, and an `.mcpb` manifest has one"
        yield "authors", message, 'write `authors = [{name = "..."}]`'
    required = project.texts_of("dependencies")
    if "dependencies" not in dynamic and not any(map(_RUNTIME.match, required)):
        message = "`dependencies` lack `toolcast-runtime[mcp]`: no server would start"
        yield "dependencies", message, "add it"


def _package_name(toolset: Toolset) -> str:
    """What the package is called: the toolset's name in kebab case."""
    return "-".join(filter(None, toolset.name.split("_")))


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`package/`; nothing where a rule says why."""
    project = context.project
    if project is None or any(find_problems(toolset, project)):
        return {}
    module = f"{get_package_name(context, toolset)}.mcp_server"
    files = {}
    for name, value in _manifests(toolset, project, module).items():
        text = encode_json(value, ("user_config", "userConfig", "tools"))
        files[f"package/{name}"] = context.write(name, text, JsonShape(tuple(value)))
    return files


def _manifests(
    toolset: Toolset, project: PythonProject, module: str
) -> dict[str, dict[str, Any]]:
    """Each manifest by its name; its first member says what it was made from."""
    mark = {"generated": format_signature(f"{toolset.folder}/")}
    name, title = _package_name(toolset), toolset.heading
    version, python = project.text_of("version"), project.text_of("requires-python")
    mcp = toolset.targets.get("mcp", {})
    said = stated(
        version=version,
        description=project.text_of("description"),
        author={"name": _author(project)},
        license=project.text_of("license") or None,
    )
    variables = variables_of(toolset)
    env = {one: f"${{user_config.{one}}}" for one in variables} or None
    asked = {
        one: stated(
            type="string",
            title=one,
            description=asks["description"],
            required=asks.get("required") or None,
            # Where it has no value at all, clients pass on the reference to it.
            default=None if asks.get("required") else asks.get("default") or "",
            sensitive=asks.get("secret") or None,
        )
        for one, asks in variables.items()
    } or None
    listed = [
        stated(
            name=one,
            description=asks["description"],
            isRequired=asks.get("required") or None,
            isSecret=asks.get("secret") or None,
            default=asks.get("default"),
        )
        for one, asks in variables.items()
    ]
    unpacked = ["run", "--directory", "${__dirname}", "python", "-m", module]
    with_ = f"{project.text_of('name')}=={version}"
    # The folder that a client works in has no say: no module (-P), `uv.toml` or `.venv` of it.
    start = ["--python", python, "--from", with_, "python", "-P", "-m", module]
    uvx = {"command": "uvx", "args": start}
    package = stated(
        registryType="pypi",
        identifier=project.text_of("name"),
        version=version,
        runtimeHint="uvx",
        runtimeArguments=[{"type": "named", "name": "--python", "value": python}],
        transport={"type": "stdio"},
        environmentVariables=listed or None,
    )
    return {
        "server.json": {
            "_meta": {_PUBLISHER: mark},
            "$schema": f"{_REGISTRY}/server.schema.json",
            "name": f"{toolset.targets['package']['namespace']}/{name}",
            "title": title if len(title) <= _MOST else f"{title[: _MOST - 1]}…",
            "description": said["description"],
            "version": version,
            "packages": [package],
        },
        "manifest.json": {
            "_meta": {_OURS: mark},
            "manifest_version": "0.4",
            "name": name,
            "display_name": title,
            **said,
            "server": {
                "type": "uv",
                "entry_point": f"{module.replace('.', '/')}.py",
                "mcp_config": stated(command="uv", args=unpacked, env=env),
            },
            "compatibility": {"runtimes": {"python": python}},
            "tools": _tools(toolset, mcp.get("client", "")),
            **stated(
                tools_generated=mcp.get("external") or None,
                prompts_generated=bool(toolset.mcp_prompts) or None,
                user_config=asked,
            ),
        },
        "plugin.json": {
            "extensions": {_OURS: mark},
            "$schema": f"{_PLUGINS}/plugin.schema.json",
            "name": name,
            **said,
        },
        # Its form is closed: it cannot say what it was made from.
        "mcp.json": {
            "$schema": f"{_PLUGINS}/mcp.schema.json",
            "mcpServers": {name: {"type": "stdio", **uvx}},
        },
        ".claude-plugin/plugin.json": {
            "metadata": mark,
            "name": name,
            "displayName": title,
            **said,
            "mcpServers": {name: stated(**uvx, env=env)},
            **stated(userConfig=asked),
        },
    }


def _tools(toolset: Toolset, client_name: str) -> list[dict[str, str]]:
    """The tools that are listed over stdio, but for those left out of the package; by name."""
    client, excluded = toolset.client(client_name), toolset.excluded("package")
    return [
        {"name": tool.name, "description": tool.summary}
        for tool in sorted(toolset.tools_in("mcp"), key=attrgetter("name"))
        if tool.name not in excluded
        and (client is None or toolset.is_offered(tool, client))
    ]


def _author(project: PythonProject) -> str:
    """The first author who has a name; empty without one."""
    authors = (project.table or {}).get("authors")
    entries = authors if isinstance(authors, list) else []
    names = (one.get("name") for one in entries if isinstance(one, dict))
    return next((" ".join(n.split()) for n in names if isinstance(n, str) and n), "")


TARGET = Target(
    name="package",
    purpose="Manifests by which people find, install and start the server.",
    generate=generate,
    needs=("mcp",),
)
