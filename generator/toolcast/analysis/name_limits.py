"""Limits of MCP, model providers and LangChain on the names of tools and parameters."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def is_tool_name(name: str) -> bool:
    """Whether a spec may have a tool's name."""
    return _NAME.fullmatch(name) is not None


LANGCHAIN_RESERVED_PARAMETERS = {
    "config": "LangChain's own tools drop it in silence",
    "run_manager": "LangChain's own tools drop it in silence",
    "runtime": "LangChain's MCP adapter drops it in silence",
    "self": "LangChain's own tools fail with it",
    "callbacks": "LangChain's older tools drop it in silence",
}
"""Names of parameters that LangChain takes for its own, and what becomes of them."""

_MAX_NAME_CHARACTERS = 64
"""Length of a tool name that OpenAI, Anthropic and Bedrock accept."""


def describe_name_problem(name: str) -> str:
    """Why not every provider takes a tool's name; empty when every one does."""
    if len(name) > _MAX_NAME_CHARACTERS:
        return f"has {len(name)} characters; OpenAI, Anthropic and Bedrock take {_MAX_NAME_CHARACTERS}"
    if "." in name:
        return "has a dot, which OpenAI, Anthropic and Bedrock refuse"
    if not (name[0].isalpha() or name[0] == "_"):
        return f"begins with `{name[0]}`, which Gemini refuses"
    return ""
