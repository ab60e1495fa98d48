"""`expose/shared-name`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...facts.skill_texts import front_matter_of, name_path, skill_owners
from ...findings import Finding, Severity
from ...model.endpoints import said_of_server, toolsets_of
from ...model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]

Owner = Toolset | ToolSpec | ResourceSpec | PromptSpec


class _Name(NamedTuple):
    """What callers name, with its place; `server` is whose tool it is where that is not ours."""

    owner: Owner
    path: Path
    what: str
    name: str
    server: str = ""


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for endpoint in workspace.endpoints:
        shared = toolsets_of(workspace, endpoint)
        if toolset not in shared:
            continue
        first: dict[tuple[str, str], tuple[Toolset, str]] = {}
        for one in shared[: shared.index(toolset)]:
            for said in _names(one):
                first.setdefault((said.what, said.name), (one, said.server))
        for owner, path, what, name, server in _names(toolset):
            other, others_server = first.get((what, name), (None, ""))
            # Toolsets may use one server: its tools are then the first one's.
            if other is not None and not (server and server == others_server):
                whose = f" of `{others_server}`" if others_server else ""
                yield RULE.at(
                    owner,
                    path,
                    f"`{other.name}` has a {what} `{name}`{whose}, too, and both are"
                    f" served at the endpoint `{endpoint.name}`",
                    "rename one of the two, or serve them apart",
                    at_key=bool(server),
                )


def _names(toolset: Toolset) -> Iterator[_Name]:
    """What callers name; former names are called, too."""
    for tool in toolset.tools:
        yield _Name(tool, ("name",), "tool", tool.name)
        for index, name in enumerate(tool.renamed_from):
            yield _Name(tool, ("renamed_from", index), "tool", name)
    if said_of_server(toolset, "external"):
        for server in toolset.listed_servers:
            for name in server.declared_names:
                path = ("mcp_servers", server.name)
                yield _Name(toolset, path, "tool", name, server.name)
    for spec in toolset.mcp_resources:
        key = "uri" if "uri" in spec.mcp else "uriTemplate"
        yield _Name(spec, ("uri",), "resource", str(spec.mcp.get(key)))
    for prompt in toolset.mcp_prompts:
        yield _Name(prompt, ("name",), "prompt", prompt.name)
    if "skills" in toolset.targets:
        for one in skill_owners(toolset):
            yield _Name(one, name_path(one), "skill", front_matter_of(one)["name"])


RULE = Rule(
    id="expose/shared-name",
    severity=Severity.ERROR,
    purpose="Checks that no two toolsets of an endpoint have a tool or skill of one name.",
    why=(
        "A call names a tool and no toolset. With two of one name it would be chance which"
        " one a client calls, and whose permissions are asked."
    ),
    bad="""\
# toolcast.yaml
toolsets: [specs/example, specs/other]
endpoints: {desk: {toolsets: [example, other]}}
# toolset.yaml
name: example
# note.yaml
name: note
# specs/other/toolset.yaml
name: other
# specs/other/note.yaml
""",
    good="""\
# toolcast.yaml
toolsets: [specs/example, specs/other]
endpoints: {desk: {toolsets: [example, other]}}
# toolset.yaml
name: example
# note.yaml
name: note
# specs/other/toolset.yaml
name: other
# specs/other/find.yaml
""",
    check=check,
    can_be_suppressed=False,
)
