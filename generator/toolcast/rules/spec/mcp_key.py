"""`spec/mcp-key`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ...wording import did_you_mean, kind_of
from ..rule import Rule

__all__ = ["RULE"]

_ANNOTATIONS = {
    "title": str,
    "readOnlyHint": bool,
    "destructiveHint": bool,
    "idempotentHint": bool,
    "openWorldHint": bool,
}
_EXECUTION = {"taskSupport": str}
_ICON = {"src": str, "mimeType": str, "sizes": list, "theme": str}
_WORDS = {str: "text", bool: "true or false", list: "a list"}
_VALUES = {
    "taskSupport": ("forbidden", "optional", "required"),
    "theme": ("light", "dark"),
}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        yield from _object(tool, ("annotations",), tool.annotations, _ANNOTATIONS)
        yield from _object(tool, ("execution",), tool.execution, _EXECUTION)
        for index, icon in enumerate(tool.icons or ()):
            yield from _object(tool, ("icons", index), icon, _ICON)


def _object(
    tool: ToolSpec, path: Path, value: Any, known: Mapping[str, type]
) -> Iterator[Finding]:
    for key, inner in (value or {}).items():
        here = (*path, key)
        if key not in known:
            meant = did_you_mean(key, known)
            if meant:
                message = f"`{key}` is no key of MCP's `{path[0]}`, so nobody reads it"
                yield RULE.at(tool, here, message, meant, at_key=True)
        elif type(inner) is not known[key]:
            message = f"`{key}` is {_WORDS[known[key]]}, not {kind_of(inner)}"
            yield RULE.at(tool, here, message)
        elif isinstance(inner, str) and inner not in _VALUES.get(key, (inner,)):
            choices = ", ".join(f"`{choice}`" for choice in _VALUES[key])
            message = f"`{inner}` is no value of `{key}`"
            help_ = did_you_mean(inner, _VALUES[key]) or f"one of {choices}"
            yield RULE.at(tool, here, message, help_)


RULE = Rule(
    id="spec/mcp-key",
    severity=Severity.WARNING,
    purpose="Checks that MCP's keys are spelt as MCP has them, with values of their kind.",
    why=(
        "They are listed as they are, whatever they say. With `readonlyHint` a client takes"
        " the tool for one that changes things; on a wrong value strict clients drop the"
        " whole list. Sources: MCP 2025-11-25, ToolAnnotations, ToolExecution, Icon."
    ),
    bad="""\
annotations: {readonlyHint: true}
""",
    good="""\
annotations: {readOnlyHint: true}
""",
    check=check,
)
