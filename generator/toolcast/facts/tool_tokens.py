"""How many tokens a tool costs a model, estimated: in a list of tools, and in prompt docs."""

from __future__ import annotations

import json

from ..model.model import ToolSpec
from .prompt_docs import tool_line, usage_lines
from .token_count import estimated_tokens

__all__ = ["list_tokens", "prompt_tokens"]


def list_tokens(tool: ToolSpec) -> int:
    """What a model is given of a tool that it may call: name, description and parameters."""
    shown = {
        "name": tool.name,
        "description": tool.model_description,
        "parameters": tool.parameters,
    }
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)
    return estimated_tokens(text)


def prompt_tokens(tool: ToolSpec) -> int:
    """A tool's part of the prompt docs."""
    return estimated_tokens("\n".join([tool_line(tool), *usage_lines(tool)]))
