"""`spec/mcp-content`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for resource in toolset.mcp_resources:
        given = [
            k for k in ("text", "file", "handler") if getattr(resource, k) is not None
        ]
        if len(given) != 1:
            yield RULE.at(
                resource,
                (given[-1],) if given else ("name",),
                f"`{resource.name}` has {_and(given)} for what it holds",
                "write one of `text`, `file` and `handler`",
            )
        elif resource.uri_template is not None and resource.handler is None:
            message = "each URI of a template would hold the same"
            yield RULE.at(
                resource, (given[0],), message, "write a `handler`, or a `uri`"
            )
    for prompt in toolset.mcp_prompts:
        if bool(prompt.messages) == (prompt.handler is not None):
            given = ["messages", "handler"] if prompt.messages else []
            yield RULE.at(
                prompt,
                (given[-1],) if given else ("name",),
                f"`{prompt.name}` has {_and(given)} for what it says",
                "write one of `messages` and `handler`",
            )


def _and(given: list[str]) -> str:
    return " and ".join(f"`{key}`" for key in given) or "nothing"


RULE = Rule(
    id="spec/mcp-content",
    severity=Severity.ERROR,
    purpose="Checks that each resource and MCP prompt says in one way what it gives.",
    why="One that has nothing to give is listed and cannot be read; of two, one is never seen.",
    bad="""\
# mcp_resources/guide.yaml
uri: guide://notes
""",
    good="""\
# mcp_resources/guide.yaml
uri: guide://notes
text: Notes are kept for a year.
""",
    check=check,
)
