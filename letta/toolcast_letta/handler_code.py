"""Which calls in handlers' code send a message into an agent's loop, seen in source text.

On a Letta server, by the resources of `letta-client` 0.1 to 1.12 and the server's routes of
0.16; or by calling a tool that does: by the registry of generated code, its LangChain wrappers,
or a client of an MCP server.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from toolcast.extension_api import (
    LocalScope,
    Observation,
    find_strings,
    get_last_name,
    list_arguments,
)

ANY_TOOL = "*"
"""In place of a tool's name: one that is known when it runs only."""

_CALLS = frozenset("call_tool call_tool_sync acall_tool call_tool_mcp".split())
# What gives a tool that somebody may call.
_GETS = frozenset(["get_langchain_tool"])
_LOOKS_UP = frozenset(["get_tool", "find_tool", *_GETS])
_RUNS = frozenset("call acall invoke ainvoke run arun _run _arun func handler".split())
# By which MCP calls tools.
_METHOD = "tools/call"

_OWNERS = frozenset(["agents", "conversations", "groups", "environments"])
_SENDING = frozenset("""
    create stream create_async create_stream create_batch send send_stream
    send_async
    """.split())
# Between the resource and the method; they change what comes back only.
_WRAPPERS = frozenset(["with_raw_response", "with_streaming_response"])
# Libraries whose clients have the same words for other things.
_OTHERS = frozenset(
    ["azure", "openai", "anthropic", "langchain", "slack_sdk", "telegram", "discord"]
)
_ALWAYS = frozenset(["send_chat_message"])
_WITH_LETTA = re.compile(r"(?:send_message|user_message|send_messages)\w*")

_ADDRESS = re.compile(
    r"\b(?:agents|conversations|groups|environments)/[^/\s]+/messages"
    r"(?:/(?:async|stream|batch))?/?(?![\w/-])"
)
_READS_BY = frozenset("""
    get head options delete patch startswith endswith match search fullmatch
    compile append debug info warning error exception print ToolError ValueError
    RuntimeError aget
    """.split())
_READING_VERBS = frozenset(["GET", "HEAD", "OPTIONS", "DELETE", "PATCH"])


class SendingPlaces:
    """The places of a function that send a message; a `Visitor` of the analysis.

    Calls of tools by their names are among them: whoever asks knows which tools send one.
    """

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        # Those among whose arguments the present place is, from without to within.
        self._calls: list[ast.Call] = []
        self._speaks_mcp = False

    def visit_name(self, node: ast.expr, local: LocalScope) -> None:
        """`client.agents.messages.create`, called or not."""
        if local.resolve_own(node) is None:  # The package's own functions are followed.
            self._chain(node, local)

    def _chain(self, node: ast.expr, local: LocalScope) -> None:
        chain = local.get_chain(node)
        if chain is None:
            return
        root = chain.root
        package = root.name if root is not None and root.kind == "external" else ""
        is_handed_on = _hands_on_messages(chain.names) and self._is_argument(node)
        if _sends_message(chain.names, package) or is_handed_on:
            self._add(node)

    def visit_call(self, node: ast.Call, local: LocalScope) -> None:
        """A call that sends by the name of what it gets, by an address, or by a tool."""
        self._calls.append(node)
        if local.is_attribute_getter(node):
            self._chain(node, local)
        given = list_arguments(node)
        texts = [text for place in given for text in local.find_strings(place)]
        if any("messages" in text for text in texts):
            if self._is_sent_below_base(node, texts, local):
                self._add(node)
            for place in given:
                if isinstance(place, (ast.Name, ast.Attribute)) and any(
                    _is_message_address(text) for text in local.find_strings(place)
                ):
                    self._look_at_address(place)
        if local.resolve_own(node.func) is None:
            tools = _called_tools(node, local)
            if tools:
                self._add(node, tools)

    def leave_call(self) -> None:
        """The innermost call has ended."""
        self._calls.pop()

    def visit_string(self, node: ast.expr, text: str) -> None:
        """A text that may be the address to which messages are posted, or MCP's method."""
        if text == _METHOD and not self._speaks_mcp:
            self._speaks_mcp = True
            self._add(node, (ANY_TOOL,))
        if self._calls and _is_message_address(text):
            self._look_at_address(node)

    def visit_return(self, node: ast.expr, local: LocalScope) -> None:
        """An address that a function gives to who knows whom."""
        if any(_is_message_address(text) for text in local.find_strings(node)):
            self._add(node)

    def _is_sent_below_base(
        self, node: ast.Call, paths: list[str], local: LocalScope
    ) -> bool:
        """`Client(base_url=".../agents/a").post("/messages")`."""
        function = node.func
        if not isinstance(function, ast.Attribute):
            return False
        if not _is_posting(function.attr, paths):
            return False
        for made, place in local.list_creating_calls(function.value):
            words = {keyword.arg: keyword.value for keyword in made.keywords}
            given = words.get("base_url") or (made.args[0] if made.args else None)
            bases = find_strings(given, place) if given is not None else ()
            for base in bases:
                if any(
                    _is_message_address(f"{base.rstrip('/')}/{path.lstrip('/')}")
                    for path in paths
                ):
                    return True
        return False

    def _look_at_address(self, node: ast.expr) -> None:
        for call in self._calls:
            given = list_arguments(call)
            texts = [
                place.value
                for place in given
                if isinstance(place, ast.Constant) and isinstance(place.value, str)
            ]
            if not _is_posting(get_last_name(call.func), texts):
                return
        inner = self._calls[-1]
        self._add(inner if inner.lineno == node.lineno else node)

    def _is_argument(self, node: ast.expr) -> bool:
        return any(
            node is place for call in self._calls[-1:] for place in list_arguments(call)
        )

    def _add(self, node: ast.expr, tools: tuple[str, ...] = ()) -> None:
        seen = Observation(node.lineno, " ".join(ast.unparse(node).split()), tools)
        if seen not in self.observations:
            self.observations.append(seen)


def _sends_message(chain: Sequence[str], package: str) -> bool:
    """Whether a chain of names (`client.agents.messages.create`) sends a message.

    Args:
        chain: the names from left to right, those that stand for others written out.
        package: the dotted name of what the first one comes from; empty when unknown.
    """
    names = [name for name in chain if name not in _WRAPPERS]
    if not names:
        return False
    last = names[-1]
    if last in _ALWAYS:
        return True
    if package.partition(".")[0] in _OTHERS:
        return False
    if len(names) >= 3 and last in _SENDING and names[-2] == "messages":
        return names[-3] in _OWNERS
    has_letta = any("letta" in name.casefold() for name in (*names, package))
    if last == "create" and names[-2:-1] == ["batches"]:
        return has_letta
    return has_letta and bool(_WITH_LETTA.fullmatch(last))


def _hands_on_messages(chain: Sequence[str]) -> bool:
    """Whether a chain is the resource itself, on its way to somebody who may send."""
    names = [name for name in chain if name not in _WRAPPERS]
    return len(names) >= 2 and names[-1] == "messages" and names[-2] in _OWNERS


def _is_message_address(text: str) -> bool:
    """Whether a text has the route to which messages are posted."""
    return bool(_ADDRESS.search(text))


def _is_posting(function: str, texts: Sequence[str]) -> bool:
    """Whether a call with such an address may send: all but those that surely read.

    Args:
        function: the last name of what is called.
        texts: the constant arguments.
    """
    if any(text.upper() == "POST" for text in texts):
        return True
    if any(text.upper() in _READING_VERBS for text in texts):
        return False
    return function not in _READS_BY


def _called_tools(node: ast.Call, local: LocalScope) -> tuple[str, ...]:
    """The names of the tools that a call may call; `ANY_TOOL` for those that it does not say."""
    name = get_last_name(node.func)
    if name in _CALLS or name in _GETS:
        return _tool_names(node, local)
    if name in _RUNS and isinstance(node.func, ast.Attribute):
        for made, _ in local.list_creating_calls(node.func.value):
            if get_last_name(made.func) in _LOOKS_UP:
                return _tool_names(made, local)
    return ()


def _tool_names(node: ast.Call, local: LocalScope) -> tuple[str, ...]:
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    given = node.args[0] if node.args else named.get("name")
    texts = local.find_strings(given) if given is not None else ()
    known = tuple(text for text in texts if text.isprintable())
    return known or (ANY_TOOL,)
