"""The file of a new resource or MCP prompt, as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcast_runtime.tools.module_names import WINDOWS_DEVICES

from ...edits.project_edit import Refusal
from ...encoders.code import Code
from ...encoders.plain_text import line
from ...encoders.yaml_block import scalar
from ...model.mcp.mcp_spec_files import FOLDERS
from ...model.model import Workspace
from ...rendering.renderer import render
from ...suggestions import quoted_list
from ...targets.table import enabled
from .tool_draft import Draft, schema_folder, toolset_of

__all__ = ["KINDS", "draft_mcp_spec"]

KINDS = {"resource": "mcp_resources", "prompt": "mcp_prompts"}
"""The folder of each kind of spec that MCP clients see beside tools."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(frozen=True)
class McpSpecView:
    """What the spec's template places."""

    has_schema: bool
    schema: Code
    name: Code
    uri: Code
    has_clients: bool
    clients: Code


def draft_mcp_spec(
    workspace: Workspace, kind: str, name: str, toolset_name: str | None
) -> Draft:
    """The file of a new resource or MCP prompt.

    Args:
        kind: one of `KINDS`.

    Raises:
        Refusal: the name is not valid, the toolset is not known, or has no MCP server.
    """
    toolset = toolset_of(workspace, toolset_name)
    if not _NAME.fullmatch(name) or name.startswith("."):
        rule = "1 to 128 of A-Z a-z 0-9 _ . -, no dot first"
        raise Refusal(f"`{name}` is not a {kind}'s name: {rule}")
    if name.split(".")[0].lower() in WINDOWS_DEVICES:
        raise Refusal(f"Windows has no file `{name}.yaml`", "choose another name")
    targets = enabled(tuple(toolset.targets), workspace.extensions)
    if "mcp" not in {target.name for target in targets}:
        raise Refusal(
            f"the toolset {toolset.name} has no MCP server, which would offer the {kind}",
            f"add `mcp: {{}}` to `targets` of {toolset.folder}/toolset.yaml",
        )
    folder = KINDS[kind]
    schema = schema_folder(toolset)
    # One folder further down, unless it is an address.
    above = "" if schema is None or ":" in schema else "../"
    clients = quoted_list([client.name for client in toolset.clients])
    view = McpSpecView(
        has_schema=schema is not None,
        schema=line(f"{above}{schema}{FOLDERS[folder]}.schema.json"),
        name=scalar(name),
        uri=scalar(f"{_scheme(toolset.name)}://{name}"),
        has_clients=bool(toolset.clients),
        clients=line(clients),
    )
    path = f"{toolset.folder}/{folder}/{name}.yaml"
    files = {path: render(f"new/{kind}.yaml.jinja", view)}
    steps = [f"replace every TODO in {path}"]
    if toolset.clients:
        steps.append(f"name who may have it in its `clients`, of {clients}")
    return Draft(files, (*steps, "toolcast generate"))


def _scheme(name: str) -> str:
    """What the URIs of a toolset's resources begin with."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return plain if plain[:1].isalpha() else f"toolset-{plain}".rstrip("-")
