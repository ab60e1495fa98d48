"""`name/hidden-module`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["NEEDED", "RULE"]

NEEDED = frozenset("""
    toolcast toolcast_runtime anyio click httpx httpx2 jsonschema_rs jwt langchain_core langgraph mcp
    mcp_types opentelemetry psycopg pydantic pydantic_core pytest pythonjsonlogger starlette
    typing_extensions uvicorn yaml
    """.split())
"""The modules besides those of Python that generated code and the runtime import."""


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    output = workspace.package.partition(".")[0]
    if _is_needed(output):
        yield workspace.source.finding(
            RULE.id,
            RULE.severity,
            ("output",),
            _message(output),
            "choose another folder, such as `generated`",
        )
    # Where the output folder itself is on the path, each toolset is a package there.
    if not output and _is_needed(toolset.name):
        yield RULE.at(toolset, ("name",), _message(toolset.name), "choose another name")
    handlers = (toolset.handlers or "").partition(".")[0]
    if _is_needed(handlers):
        yield RULE.at(toolset, ("handlers",), _message(handlers), "rename the package")


def _is_needed(name: str) -> bool:
    return name in NEEDED or name in sys.stdlib_module_names


def _message(name: str) -> str:
    owner = "Python's own" if name in sys.stdlib_module_names else "an installed"
    return f"the package `{name}` would hide {owner} module `{name}`"


RULE = Rule(
    id="name/hidden-module",
    severity=Severity.ERROR,
    purpose="Checks that no package of the project hides a module that its code needs.",
    why=(
        "Python looks into the project's root first: with a package `json` there, every"
        " `import json` of what runs from the root finds that, the runtime's among them."
    ),
    bad="""\
# toolcast.yaml
output: json
""",
    good="""\
# toolcast.yaml
output: made/json
""",
    check=check,
)
