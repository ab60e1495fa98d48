"""Handlers that call a circular tool by its name are reported as circular."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example

CALLING_TOOLS = {
    "the generated registry": """
        from generated.example.registry import call_tool_sync
        def work(): return call_tool_sync("tell", {"text": "x"})
        """,
    "its async function": """
        from generated.example import registry
        async def work(): return await registry.call_tool("tell", {}, client="x")
        """,
    "its object": """
        from generated.example.registry import REGISTRY
        async def work(): return await REGISTRY.call_tool(name="tell", arguments={})
        """,
    "a previous name": """
        from generated.example.registry import call_tool_sync as do
        from generated.example.registry import call_tool_sync
        def work(): return call_tool_sync("say", {})
        """,
    "a name in a constant": """
        from generated.example.registry import call_tool_sync
        TOOL = "tell"
        def work(): return call_tool_sync(TOOL, {})
        """,
    "a name that is not known": """
        from generated.example.registry import call_tool_sync
        def work(name="x"): return call_tool_sync(name, {})
        """,
    "a tool that is looked up": """
        from generated.example.registry import get_tool
        def work():
            tool = get_tool("tell")
            return tool.call({"text": "x"})
        """,
    "a LangChain wrapper": """
        from generated.example.langchain_tools import get_langchain_tool
        def work(): return get_langchain_tool("tell").invoke({"text": "x"})
        """,
    "a LangChain wrapper that is handed on": """
        from generated.example.langchain_tools import get_langchain_tool
        def work(): return agent.run(tools=[get_langchain_tool("tell")])
        """,
    "a client of MCP": """
        from mcp import ClientSession
        async def work():
            async with ClientSession(*streams) as session:
                return await session.call_tool("tell", {"text": "x"})
        """,
    "MCP by hand": """
        import httpx
        def work():
            return httpx.post(URL, json={"method": "tools/call", "params": {"name": "tell"}})
        """,
    "a helper": """
        from .calling import tell
        def work(): return tell()
        """,
    "another tool that calls it": """
        from generated.example.registry import call_tool_sync
        def work(): return call_tool_sync("relay", {})
        """,
}
NOT_CALLING_THEM = {
    "another tool": """
        from generated.example.registry import call_tool_sync
        def work(): return call_tool_sync("note", {})
        """,
    "its summary": """
        from generated.example.registry import get_tool
        def work(): return get_tool("tell").summary
        """,
    "its name": """
        def work(): return "use tell later"
        """,
}
AROUND = """\
letta: {attached: true}
handler: handlers.work:work
# tell.yaml
renamed_from: [say]
letta: {attached: false, calls_agent_loop: true}
handler: handlers.asking:ask
parameters: {type: object, properties: {text: {type: string}}, required: [text]}
# relay.yaml
letta: {attached: false, calls_agent_loop: true}
handler: handlers.calling:tell
# handlers/__init__.py
# handlers/asking.py
from letta_client import Letta
def ask(text): return Letta().agents.messages.create("agent-1", input=text)
# handlers/calling.py
from generated.example.registry import call_tool_sync
def tell(): return call_tool_sync("tell", {"text": "x"})
"""


def list_found_rules(tmp_path: Path, code: str) -> set[str]:
    """Return Letta's rules with findings in a tool attached next to two circular ones."""
    example = f"{AROUND}# handlers/work.py\n{textwrap.dedent(code)}"
    write_example(example, tmp_path, "letta")
    found = {finding.rule for finding in list_findings(tmp_path)}
    found.discard("handler/undeclared-parameter")
    return {rule for rule in found if "handler" in rule or "loop" in rule}


@pytest.mark.parametrize("code", CALLING_TOOLS.values(), ids=CALLING_TOOLS)
def test_toolcast_check_reports_a_handler_that_calls_a_tool_which_messages_the_agent(
    code: str, tmp_path: Path
) -> None:
    assert list_found_rules(tmp_path, code) == {"letta/circular-handler"}


@pytest.mark.parametrize("code", NOT_CALLING_THEM.values(), ids=NOT_CALLING_THEM)
def test_toolcast_check_accepts_a_handler_without_calls_to_agent_messaging_tools(
    code: str, tmp_path: Path
) -> None:
    assert list_found_rules(tmp_path, code) == set()
