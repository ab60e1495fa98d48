"""Limits of MCP, model providers and LangChain on the names of tools and parameters."""

from __future__ import annotations

import re

# The characters and the length that MCP recommends for tool names.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def is_tool_name(name: str) -> bool:
    """Return whether a spec accepts a tool name."""
    return _NAME.fullmatch(name) is not None


LANGCHAIN_RESERVED_PARAMETERS = {
    "config": "LangChain's own tools drop it silently",
    "run_manager": "LangChain's own tools drop it silently",
    "runtime": "LangChain's MCP adapter drops it silently",
    "self": "LangChain's own tools fail with it",
    "callbacks": "LangChain's older tools drop it silently",
}
"""Parameter names that LangChain reserves, with the effect on a call."""

_MAX_NAME_CHARACTERS = 64
"""Length of a tool name that OpenAI, Anthropic and Bedrock accept."""


def describe_name_problem(name: str) -> str:
    """Return why some provider rejects a tool name; "" if all providers accept it.

    The text is a predicate such as `has 70 characters; ...`. Checked in this order:
    length, dots, the first character.
    """
    if len(name) > _MAX_NAME_CHARACTERS:
        return (
            f"has {len(name)} characters; OpenAI, Anthropic and Bedrock accept at most"
            f" {_MAX_NAME_CHARACTERS}"
        )
    if "." in name:
        return "has a dot, which OpenAI, Anthropic and Bedrock reject"
    if not (name[0].isalpha() or name[0] == "_"):
        return f"begins with `{name[0]}`, which Gemini rejects"
    return ""
