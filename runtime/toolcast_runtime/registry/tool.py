"""One tool as its spec says it, ready to be listed and called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Action", "Tool"]


@dataclass(frozen=True, slots=True)
class Action:
    """What a call must carry when its action parameter has this value.

    Attributes:
        summary: one line: what the action does.
        requires: parameters that must be present.
        requires_any: parameters of which at least one must be present.
        accepts: every other parameter that may be present; None when any may.
    """

    summary: str = ""
    requires: tuple[str, ...] = ()
    requires_any: tuple[str, ...] = ()
    accepts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: the name that models and callers use.
        summary: one line.
        description: what models read.
        definition: the tool exactly as MCP's `tools/list` shows it.
        handler: `module:function` of the code that does the work; None when the spec
            names none yet.
        timeout: seconds until a call is given up.
        action_parameter: the parameter that selects an action; None without actions.
        actions: what each action requires.
        always: offered to the model in every turn, not through the router.
        persistent: calls are written to the ledger.
        service: the service that the tool depends on.
        permission: the permission that a caller needs.
        when_to_use: when to choose it, where the tool itself says so.
        deprecated: since when, until when, why, and what to use instead.
        examples: calls with their `arguments` and, where known, `result` or `error`.
    """

    name: str
    summary: str
    description: str
    definition: Mapping[str, Any]
    handler: str | None = None
    timeout: float = 60.0
    action_parameter: str | None = None
    actions: Mapping[str, Action] = field(default_factory=dict)
    always: bool = False
    persistent: bool = False
    service: str | None = None
    permission: str | None = None
    when_to_use: str = ""
    deprecated: Mapping[str, str] | None = None
    examples: Sequence[Mapping[str, Any]] = ()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of the arguments."""
        schema: Mapping[str, Any] = self.definition["inputSchema"]
        return schema

    @property
    def returns(self) -> Any:
        """The JSON Schema of the structured result; None when there is none."""
        return self.definition.get("outputSchema")

    def openai(self) -> dict[str, Any]:
        """The tool in OpenAI's Chat Completions format."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }
