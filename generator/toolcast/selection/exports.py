"""The cases of a toolset in the formats of other programs.

Both formats are JSON. Sources: https://promptfoo.dev/config-schema.json (promptfoo 0.123), and
https://agentskills.io/skill-creation/optimizing-descriptions (`eval_queries.json`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..model.model import Toolset, ToolSpec
from .cases import cases_of

__all__ = ["agent_skills", "promptfoo"]

# promptfoo renders texts as Nunjucks templates, which could read its environment or be wrong
# ones, and takes a text that begins so for the name of a file.
_TEMPLATE = re.compile(r"\{(?=[{%#])|#(?=\})")
_REFERENCE = re.compile(r"^(?=(?:file|package|https?|exec|python)://?)", re.IGNORECASE)
# As JSON, which no message can be taken for.
_PROMPT = '[{"role": "user", "content": {{message | dump}}}]'
# The F1 score of one tool among three that are called, and of one that is not called at all.
_AMONG_THREE = 0.5
_CALLED = 0.000001


def promptfoo(
    toolset: Toolset,
    tools: Sequence[ToolSpec],
    model: str,
    endpoint: str | None,
    key_variable: str | None,
) -> str:
    """A configuration of promptfoo: the tools as functions, a test for each message.

    Args:
        tools: the tools that are offered.
        model: the name of the model of an OpenAI-compatible provider.
        endpoint: its address; None for the provider's own.
        key_variable: the environment variable of its key; None for the provider's own.
    """
    config: dict[str, Any] = {"tools": [_function(tool) for tool in tools]}
    if endpoint is not None:
        config["apiBaseUrl"] = endpoint
    if key_variable is not None:
        config["apiKeyEnvar"] = key_variable
    names = [tool.name for tool in tools]
    value = {
        "description": f"Selection cases of {_plain(toolset.name)}, from its tool specs",
        "prompts": [_PROMPT],
        "providers": [{"id": f"openai:chat:{model}", "config": config}],
        "tests": list(_tests(toolset, names)),
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def agent_skills(toolset: Toolset) -> str:
    """Trigger evals of a skill that is the toolset: queries that should trigger it, or not.

    Every message that means one of its tools should; a message that means none should not.
    What a near miss means is not known.
    """
    means = {one.case.message: one.case.tool is not None for one in cases_of(toolset)}
    value = [{"query": text, "should_trigger": is_} for text, is_ in means.items()]
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _tests(toolset: Toolset, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for declared in cases_of(toolset):
        case = declared.case
        if case.tool is not None and case.tool not in names:
            continue
        called = [_called(case.tool)] if case.tool else [_not_called(*names)]
        never = [_not_called(name) for name in case.never if name in names]
        yield _test(case.message, [*called, *never])
        for message in case.near:
            if case.tool:
                yield _test(message, [_not_called(case.tool)])


def _test(message: str, asserted: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"vars": {"message": _plain(message)}, "assert": list(asserted)}


def _called(name: str) -> dict[str, Any]:
    return {"type": "tool-call-f1", "value": [name], "threshold": _AMONG_THREE}


def _not_called(*names: str) -> dict[str, Any]:
    return {"type": "not-tool-call-f1", "value": list(names), "threshold": _CALLED}


def _function(tool: ToolSpec) -> dict[str, Any]:
    """A tool in OpenAI's form."""
    function = {
        "name": tool.name,
        "description": tool.model_description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": _plain(function)}


def _plain(value: Any) -> Any:
    """A JSON value whose texts promptfoo takes as they are."""
    if isinstance(value, str):
        return _REFERENCE.sub(" ", _TEMPLATE.sub(r"\g<0> ", value))
    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
