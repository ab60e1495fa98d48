"""Rules of the family `compat`: definitions that strict MCP clients reject.

`compat.md` explains each rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolcast_runtime.core.validation.protocol import (
    REVISIONS,
    Refusal,
    check_shared_members,
)

from ..analysis.mcp_definitions import build_mcp_definition, list_refusals
from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import PromptSpec, ResourceSpec
from .rule import Problem, problem_at, rule
from .subjects import Scope

_FIELDS = {"inputSchema": "parameters", "outputSchema": "returns", "_meta": "meta"}
"""The spec field of each member of an MCP tool whose name differs from the spec's."""


@rule("compat/strict-client", on="tool", severity=Severity.ERROR, target="mcp")
def check_protocol(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report values for which strict clients reject the server's whole list of tools."""
    yield from _check_tool(tool, is_tolerated=False)


@rule("compat/strict-client", on="tool", severity=Severity.WARNING, target="mcp")
def check_tolerated_values(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report values that MCP does not allow, although the official Python SDK does."""
    yield from _check_tool(tool, is_tolerated=True)


@rule("compat/strict-client", on="toolset", severity=Severity.ERROR, target="mcp")
def check_shared_values(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report values for which clients reject the whole list of resources or prompts."""
    yield from _check_resources_and_prompts(toolset, is_tolerated=False)


@rule("compat/strict-client", on="toolset", severity=Severity.WARNING, target="mcp")
def check_tolerated_shared_values(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report such values that the official Python SDK allows."""
    yield from _check_resources_and_prompts(toolset, is_tolerated=True)


def _check_tool(tool: ToolSpec, *, is_tolerated: bool) -> Iterator[Problem]:
    """Report the values of a tool's definition that a version of MCP does not allow.

    Args:
        tool: the tool.
        is_tolerated: report only the values that the Python SDK accepts, or only the others.
    """
    definition = build_mcp_definition(tool)
    refusals = {
        revision: [r for r in found if not _is_reported_elsewhere(tool, r)]
        for revision, found in list_refusals(definition).items()
    }
    yield from _list_problems(tool, definition, refusals, is_tolerated)


def _check_resources_and_prompts(
    toolset: Toolset, *, is_tolerated: bool
) -> Iterator[Problem]:
    for spec in toolset.mcp_specs:
        refusals = {
            revision: check_shared_members(spec.mcp, revision) for revision in REVISIONS
        }
        yield from _list_problems(spec, spec.mcp, refusals, is_tolerated)


def _list_problems(
    owner: ToolSpec | ResourceSpec | PromptSpec,
    definition: Any,
    refusals: Mapping[str, Iterable[Refusal]],
    is_tolerated: bool,
) -> Iterator[Problem]:
    """Yield a problem for each refused value, with the versions that refuse it."""
    revisions_by_refusal: dict[Refusal, list[str]] = {}
    for revision, found in refusals.items():
        for refusal in found:
            revisions_by_refusal.setdefault(refusal, []).append(revision)
    for refusal, revisions in revisions_by_refusal.items():
        if _is_tolerated(definition, refusal) == is_tolerated:
            message = (
                f"`{refusal.path_text}` {refusal.problem}: clients that validate by MCP"
                f" {' and '.join(revisions)} reject the whole list"
            )
            help_ = "correct the value as MCP requires, or remove the key"
            key, *rest = refusal.path
            path = (_FIELDS.get(str(key), key), *rest)
            yield problem_at(owner, path, message, help_)


def _is_tolerated(definition: Any, refusal: Refusal) -> bool:
    """Return whether the official Python SDK accepts a value that MCP forbids.

    It accepts null, and boolean schemas of properties.
    """
    if refusal.problem == "is missing":
        return False
    value = definition
    for step in refusal.path:
        value = value[step]
    return value is None or refusal.path[1:2] == ("properties",)


def _is_reported_elsewhere(tool: ToolSpec, refusal: Refusal) -> bool:
    """Return whether another rule reports the problem with a more specific message."""
    first, *rest = refusal.path
    if first in ("inputSchema", "outputSchema"):
        schema = tool.parameters if first == "inputSchema" else tool.returns
        if rest == ["type"]:
            # `schema/root-not-object` reports a missing or wrong type, but not an array of types.
            return not isinstance(schema.get("type"), list)
        # JSON Schema allows boolean schemas as properties, but MCP does not. `schema/invalid`
        # reports other values.
        is_property = len(rest) == 2 and rest[0] == "properties"
        return not (is_property and isinstance(schema["properties"][rest[1]], bool))
    if first == "description":
        # The rule `prompt/description-missing` reports a null or missing description.
        return True
    # `spec/mcp-key` reports wrong values at these depths.
    depth = {"annotations": 1, "execution": 1, "icons": 2}.get(str(first))
    return len(rest) == depth and refusal.problem != "is missing"
