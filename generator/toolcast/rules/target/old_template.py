"""`target/old-template`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Place, Severity
from ...model.model import Toolset, Workspace
from ...targets.own_templates import originals, own_templates
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if workspace.templates is None or toolset is not workspace.toolsets[0]:
        return
    for own in own_templates(workspace, originals(workspace)):
        if own.is_old:
            yield Finding(
                RULE.id,
                RULE.severity,
                Place(f"{workspace.templates}/{own.name}", 1, 1, 2),
                "the template that this is a copy of has changed since",
                f"take over what `toolcast templates {own.name}` prints, and its first"
                " line",
            )


RULE = Rule(
    id="target/old-template",
    severity=Severity.WARNING,
    purpose="Checks that templates which the project has copied are those of this version.",
    why=(
        "A copy stays as it was when Toolcast is upgraded: what the new version draws is"
        " missing in the project's outputs. The first line of a copy tells what it was"
        " made from; a template without such a line is not compared."
    ),
    bad="""\
# toolcast.yaml
templates: templates
# templates/mcp/mcp_server.py.jinja
{# A copy of mcp/mcp_server.py.jinja (sha256 0123456789abcdef). #}
from our_server import server
""",
    good="""\
# toolcast.yaml
templates: templates
# templates/mcp/mcp_server.py.jinja
{# Our own server. #}
from our_server import server
""",
    check=check,
)
