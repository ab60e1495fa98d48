"""Which calls in handlers' code call a tool by its name.

By the registry of generated code, by its LangChain wrappers, or by a client of an MCP server.
"""

from __future__ import annotations

import ast

from toolcast.python_code.local_names import Locals
from toolcast.python_code.modules import last_name

ANY_TOOL = "*"
"""In place of a tool's name: one that is known when it runs only."""

_CALLS = frozenset("call_tool call_tool_sync acall_tool call_tool_mcp".split())
# What gives a tool that somebody may call.
_GETS = frozenset(["get_langchain_tool"])
_LOOKS_UP = frozenset(["get_tool", "find_tool", *_GETS])
_RUNS = frozenset("call acall invoke ainvoke run arun _run _arun func handler".split())


def called_tools(node: ast.Call, local: Locals) -> tuple[str, ...]:
    """The names of the tools that a call may call; `ANY_TOOL` for those that it does not say."""
    name = last_name(node.func)
    if name in _CALLS or name in _GETS:
        return _names(node, local)
    if name in _RUNS and isinstance(node.func, ast.Attribute):
        for made, _ in local.calls_behind(node.func.value):
            if last_name(made.func) in _LOOKS_UP:
                return _names(made, local)
    return ()


def names_the_method(text: str) -> bool:
    """Whether a text is the method by which MCP calls tools."""
    return text == "tools/call"


def _names(node: ast.Call, local: Locals) -> tuple[str, ...]:
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    given = node.args[0] if node.args else named.get("name")
    texts = local.texts(given) if given is not None else ()
    known = tuple(text for text in texts if text.isprintable())
    return known or (ANY_TOOL,)
