"""`target/unused-template`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...findings import Finding, Place, Severity
from ...model.model import Toolset, Workspace
from ...targets.own_templates import originals, own_templates
from ...wording import did_you_mean, quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    folder = workspace.templates
    if folder is None or toolset is not workspace.toolsets[0]:
        return
    if not os.path.isdir(os.path.join(workspace.root, folder)):
        yield workspace.source.finding(
            RULE.id,
            RULE.severity,
            ("templates",),
            f"there is no folder `{folder}`",
            "name the folder, or take `templates` away",
        )
        return
    known = originals(workspace)
    for own in own_templates(workspace, known):
        if own.is_used:
            continue
        if own.original is not None:
            message = (
                f"no toolset has the target {quoted_list(own.original.targets)},"
                " which draws this template"
            )
            help_ = "enable the target, or remove the file"
        else:
            message = f"no target has a template `{own.name}`"
            help_ = (
                did_you_mean(own.name, known)
                or "`toolcast templates` lists their names"
            )
        place = Place(f"{folder}/{own.name}")
        yield Finding(RULE.id, RULE.severity, place, message, help_)


RULE = Rule(
    id="target/unused-template",
    severity=Severity.WARNING,
    purpose="Checks that each of the project's templates is drawn, or included by one.",
    why=(
        "A file of another name replaces nothing: the output stays as it was, and nobody"
        " is told."
    ),
    bad="""\
# toolcast.yaml
templates: templates
# templates/mcp/mcp-server.py.jinja
from our_server import server
""",
    good="""\
# toolcast.yaml
templates: templates
# templates/mcp/mcp_server.py.jinja
from our_server import server
""",
    check=check,
)
