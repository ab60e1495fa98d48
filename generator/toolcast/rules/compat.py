"""The rules `compat/...`; `compat.md` says what each is for."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.core.validation.protocol import Refusal

from ..analysis.mcp_definitions import build_mcp_definition, list_refusals
from ..findings import Severity
from ..model.model import ToolSpec
from .rule import Problem, problem_at, rule
from .subjects import Scope

_FIELDS = {"inputSchema": "parameters", "outputSchema": "returns", "_meta": "meta"}


@rule("compat/strict-client", on="tool", severity=Severity.WARNING, target="mcp")
def strict_list(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    refused: dict[Refusal, list[str]] = {}
    for revision, refusals in list_refusals(build_mcp_definition(tool)).items():
        for refusal in refusals:
            refused.setdefault(refusal, []).append(revision)
    for refusal, revisions in refused.items():
        if not _is_told_elsewhere(tool, refusal):
            message = (
                f"clients that check lists by MCP {' and '.join(revisions)} refuse this"
                f" server's: `{refusal.path_text}` {refusal.problem}"
            )
            help_ = "write what the protocol asks for, or leave the key out"
            first, *rest = refusal.path
            path = (_FIELDS.get(str(first), first), *rest)
            yield problem_at(tool, path, message, help_)


def _is_told_elsewhere(tool: ToolSpec, refusal: Refusal) -> bool:
    """Whether another rule finds the same, and has better words for it."""
    first, *rest = refusal.path
    if first in ("inputSchema", "outputSchema"):
        schema = tool.parameters if first == "inputSchema" else tool.returns
        if rest == ["type"]:
            # `schema/root-not-object` tells it.
            return not isinstance(schema.get("type"), list)
        # What is no JSON Schema at all is for `schema/invalid`.
        is_property = len(rest) == 2 and rest[0] == "properties"
        return not (is_property and isinstance(schema["properties"][rest[1]], bool))
    if first == "description":
        return True  # `prompt/description-missing`
    # `spec/mcp-key` looks at the values of these objects.
    own = {"annotations": 1, "execution": 1, "icons": 2}.get(str(first))
    return len(rest) == own and refusal.problem != "is missing"
