"""Program that lists and calls the tools of a generated package `generated.public`.

    python -P call_targets.py CALLS

It prints one JSON object: the tools' names in each target, the results of the calls over
LangChain, and the calls as OpenAI's list converts them. It runs in a server's environment.
"""

import json
import sys
from pathlib import Path
from typing import Any

from generated.public.cli import KEYWORDS
from generated.public.langchain_tools import get_langchain_tools
from generated.public.provider_lists import get_provider_tools_sync


def read_value(result: Any) -> Any:
    """Return the JSON value of a result; some servers return it as a content block."""
    [text] = [result] if isinstance(result, str) else [b["text"] for b in result]
    return json.loads(text)


lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
calls = [(call["tool"], call["arguments"]) for call in map(json.loads, lines)]
tools = {tool.name: tool for tool in get_langchain_tools()}
chat = get_provider_tools_sync("openai-chat")
responses = get_provider_tools_sync("openai-responses")
answer = {
    "names": {
        "langchain": list(tools),
        "cli": list(KEYWORDS),
        "openai-chat": [tool["function"]["name"] for tool in chat.tools],
        "openai-responses": [tool["name"] for tool in responses.tools],
    },
    "langchain": [read_value(tools[name].invoke(value)) for name, value in calls],
    "openai": [chat.call(name, json.dumps(value)) for name, value in calls],
    "commands": [KEYWORDS[name] for name, _ in calls],
}
print(json.dumps(answer))
