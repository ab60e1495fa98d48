"""How many tokens a tool costs a model, estimated: in a list of tools, and in prompt docs."""

from __future__ import annotations

import json

from ..model.model import ToolSpec
from .prompt_docs import tool_line, usage_lines
from .token_count import estimated_tokens

__all__ = ["list_text", "list_tokens", "prompt_text", "prompt_tokens"]


def list_text(tool: ToolSpec) -> str:
    """What a model is given of a tool that it may call: name, description and parameters."""
    shown = {
        "name": tool.name,
        "description": tool.model_description,
        "parameters": tool.parameters,
    }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)


def prompt_text(tool: ToolSpec) -> str:
    """A tool's part of the prompt docs: its bullet, and when and how to use it."""
    return "\n".join([tool_line(tool), *usage_lines(tool)])


def list_tokens(tool: ToolSpec) -> int:
    """About as many tokens as `list_text` has."""
    return estimated_tokens(list_text(tool))


def prompt_tokens(tool: ToolSpec) -> int:
    """About as many tokens as `prompt_text` has."""
    return estimated_tokens(prompt_text(tool))
