"""`handler/unused-resource`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    specs = (*toolset.tools, *toolset.mcp_specs)
    used = {name for spec in specs for name in spec.uses}
    for name in toolset.resources:
        if name not in used:
            unknown = sorted(used - toolset.resources.keys())
            yield RULE.at(
                toolset,
                ("resources", name),
                f"nothing uses the resource `{name}`",
                did_you_mean(name, unknown)
                or f"say `uses: [{name}]` in a spec, or remove it here and in the"
                " lifespan",
                at_key=True,
            )


RULE = Rule(
    id="handler/unused-resource",
    severity=Severity.WARNING,
    purpose="Checks that every resource is used by a tool, an MCP resource or an MCP prompt.",
    why=(
        "A pool of connections was opened by every worker for a tool that had long gone, and"
        " the database refused the others."
    ),
    bad="""\
# toolset.yaml
handlers: handlers
lifespan: handlers.app:lifespan
resources: {db: handlers.app:Database}
targets: {registry: {}}
# handlers/app.py
from contextlib import contextmanager

class Database: ...
@contextmanager
def lifespan():
    yield {"db": Database()}
""",
    good="""\
# note.yaml
handler: handlers.app:note
uses: [db]
# toolset.yaml
handlers: handlers
lifespan: handlers.app:lifespan
resources: {db: handlers.app:Database}
targets: {registry: {}}
# handlers/app.py
from contextlib import contextmanager

class Database: ...
@contextmanager
def lifespan():
    yield {"db": Database()}
def note(*, db): ...
""",
    check=check,
)
