"""`expose/shared-name`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.endpoints import toolsets_of
from ...model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]

Owner = ToolSpec | ResourceSpec | PromptSpec


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for endpoint in workspace.endpoints:
        shared = toolsets_of(workspace, endpoint)
        if toolset not in shared:
            continue
        first: dict[tuple[str, str], str] = {}
        for one in shared[: shared.index(toolset)]:
            for _, _, what, name in _names(one):
                first.setdefault((what, name), one.name)
        for owner, path, what, name in _names(toolset):
            other = first.get((what, name))
            if other is not None:
                yield RULE.at(
                    owner,
                    path,
                    f"`{other}` has a {what} `{name}`, too, and both are served at the"
                    f" endpoint `{endpoint.name}`",
                    "rename one of the two, or serve them apart",
                )


def _names(toolset: Toolset) -> Iterator[tuple[Owner, Path, str, str]]:
    """What callers name, each with its place; former names are called, too."""
    for tool in toolset.tools:
        yield tool, ("name",), "tool", tool.name
        for index, name in enumerate(tool.renamed_from):
            yield tool, ("renamed_from", index), "tool", name
    for spec in toolset.mcp_resources:
        key = "uri" if "uri" in spec.mcp else "uriTemplate"
        yield spec, ("uri",), "resource", str(spec.mcp.get(key))
    for prompt in toolset.mcp_prompts:
        yield prompt, ("name",), "prompt", prompt.name


RULE = Rule(
    id="expose/shared-name",
    severity=Severity.ERROR,
    purpose="Checks that no two toolsets of an endpoint have a tool of one name.",
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
