"""Find calls in handlers' source code that send a message to a Letta agent.

Recognized are the resources of `letta-client` 0.1 to 1.12, the routes of Letta's server
0.16, and calls of tools that send messages: through the registry of generated code, its
LangChain wrappers, or a client of an MCP server.
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
"""The name that stands for a called tool whose name is known only at run time."""

_CALLING_FUNCTIONS = frozenset(
    "call_tool call_tool_sync acall_tool call_tool_mcp".split()
)
# Functions that return a tool. Such a call counts as a call of the tool, because any
# code can call the returned tool later.
_TOOL_GETTERS = frozenset(["get_langchain_tool"])
_LOOKUP_FUNCTIONS = frozenset(["get_tool", "find_tool", *_TOOL_GETTERS])
_RUNNING_METHODS = frozenset(
    "call acall invoke ainvoke run arun _run _arun func handler".split()
)
# MCP's method for calling tools.
_MCP_CALL_METHOD = "tools/call"

_MESSAGE_RESOURCES = frozenset(["agents", "conversations", "groups", "environments"])
_SENDING_METHODS = frozenset("""
    create stream create_async create_stream create_batch send send_stream
    send_async
    """.split())
# Attributes between resource and method; they only change the type of the response.
_WRAPPERS = frozenset(["with_raw_response", "with_streaming_response"])
# Clients of these libraries also have methods with the names in _SENDING_METHODS, and
# do not send messages to Letta agents.
_UNRELATED_PACKAGES = frozenset(
    ["azure", "openai", "anthropic", "langchain", "slack_sdk", "telegram", "discord"]
)
_SENDING_FUNCTIONS = frozenset(["send_chat_message"])
_LETTA_SENDING_FUNCTION = re.compile(r"(?:send_message|user_message|send_messages)\w*")

_MESSAGE_ROUTE = re.compile(
    r"\b(?:agents|conversations|groups|environments)/[^/\s]+/messages"
    r"(?:/(?:async|stream|batch))?/?(?![\w/-])"
)
# Functions that do not send their string arguments as a message: requests of other
# kinds, string methods, logging and exceptions.
_READING_FUNCTIONS = frozenset("""
    get head options delete patch startswith endswith match search fullmatch
    compile append debug info warning error exception print ToolError ValueError
    RuntimeError aget
    """.split())
_READING_VERBS = frozenset(["GET", "HEAD", "OPTIONS", "DELETE", "PATCH"])


class MessageSendVisitor:
    """Visitor that records where a function sends a message to a Letta agent.

    The results are in `observations`, each once. Calls of tools are recorded with the
    tools' names; the caller decides which tools send messages.
    """

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        # The calls that surround the current expression, outermost first.
        self._calls: list[ast.Call] = []
        self._speaks_mcp = False

    def visit_name(self, node: ast.expr, local: LocalScope) -> None:
        """Record a chain of names that sends a message.

        An example is `client.agents.messages.create`. References to functions of the
        package are skipped, because these are visited themselves.
        """
        # A function of the analyzed package is visited itself, where its own calls are
        # recorded.
        if local.resolve_own(node) is None:
            self._record_chain(node, local)

    def _record_chain(self, node: ast.expr, local: LocalScope) -> None:
        chain = local.get_chain(node)
        if chain is None:
            return
        root = chain.root
        package = root.name if root is not None and root.kind == "external" else ""
        is_passed_on = _is_message_resource(chain.names) and self._is_argument(node)
        if _sends_message(chain.names, package) or is_passed_on:
            self._add(node)

    def visit_call(self, node: ast.Call, local: LocalScope) -> None:
        """Record a call that sends a message, and make it the innermost call.

        Recognized are a chain of names, a URL in an argument, and a call of a tool.
        """
        self._calls.append(node)
        if local.is_attribute_getter(node):
            self._record_chain(node, local)
        arguments = list_arguments(node)
        texts = [
            text for argument in arguments for text in local.find_strings(argument)
        ]
        if any("messages" in text for text in texts):
            if self._is_sent_by_base_url(node, texts, local):
                self._add(node)
            for argument in arguments:
                if isinstance(argument, (ast.Name, ast.Attribute)) and any(
                    _is_message_address(text) for text in local.find_strings(argument)
                ):
                    self._record_route(argument)
        if local.resolve_own(node.func) is None:
            tools = _find_called_tools(node, local)
            if tools:
                self._add(node, tools)

    def leave_call(self) -> None:
        """Leave the innermost call."""
        self._calls.pop()

    def visit_string(self, node: ast.expr, text: str) -> None:
        """Record a string that contains the route for messages, or `tools/call`.

        The route is recorded only inside a call; MCP's method `tools/call` only once.
        """
        if text == _MCP_CALL_METHOD and not self._speaks_mcp:
            self._speaks_mcp = True
            self._add(node, (ANY_TOOL,))
        if self._calls and _is_message_address(text):
            self._record_route(node)

    def visit_return(self, node: ast.expr, local: LocalScope) -> None:
        """Record a returned URL for messages, because the caller's use is unknown."""
        if any(_is_message_address(text) for text in local.find_strings(node)):
            self._add(node)

    def _is_sent_by_base_url(
        self, node: ast.Call, paths: list[str], local: LocalScope
    ) -> bool:
        """Return whether a client's base URL and a path form the route for messages.

        Example: `Client(base_url=".../agents/a").post("/messages")`.
        """
        function = node.func
        if not isinstance(function, ast.Attribute):
            return False
        if not _is_posting(function.attr, paths):
            return False
        for creation, scope in local.list_creating_calls(function.value):
            keywords = {keyword.arg: keyword.value for keyword in creation.keywords}
            base_url = keywords.get("base_url")
            if base_url is None and creation.args:
                base_url = creation.args[0]
            bases = find_strings(base_url, scope) if base_url is not None else ()
            for base in bases:
                if any(
                    _is_message_address(f"{base.rstrip('/')}/{path.lstrip('/')}")
                    for path in paths
                ):
                    return True
        return False

    def _record_route(self, node: ast.expr) -> None:
        """Record a message URL, unless the name or HTTP method of a call only reads.

        All surrounding calls are examined.
        """
        for call in self._calls:
            texts = [
                argument.value
                for argument in list_arguments(call)
                if isinstance(argument, ast.Constant)
                and isinstance(argument.value, str)
            ]
            if not _is_posting(get_last_name(call.func), texts):
                return
        # For the message, the whole call is clearer than the URL, but only if both are
        # on the line that is reported.
        innermost = self._calls[-1]
        self._add(innermost if innermost.lineno == node.lineno else node)

    def _is_argument(self, node: ast.expr) -> bool:
        return any(
            node is argument
            for call in self._calls[-1:]
            for argument in list_arguments(call)
        )

    def _add(self, node: ast.expr, tools: tuple[str, ...] = ()) -> None:
        code = " ".join(ast.unparse(node).split())
        observation = Observation(node.lineno, code, tools)
        if observation not in self.observations:
            self.observations.append(observation)


def _sends_message(chain: Sequence[str], package: str) -> bool:
    """Return whether a chain of names is a call that sends a message to an agent.

    Args:
        chain: the names from left to right, such as `client`, `agents`, `messages`,
            `create`, with aliases resolved.
        package: the dotted name of the module that the first name is imported from;
            empty if unknown.
    """
    names = [name for name in chain if name not in _WRAPPERS]
    if not names:
        return False
    last = names[-1]
    if last in _SENDING_FUNCTIONS:
        return True
    if package.partition(".")[0] in _UNRELATED_PACKAGES:
        return False
    if len(names) >= 3 and last in _SENDING_METHODS and names[-2] == "messages":
        return names[-3] in _MESSAGE_RESOURCES
    has_letta = any("letta" in name.casefold() for name in (*names, package))
    # Other libraries have `batches.create`, too, so a name with `letta` is required.
    if last == "create" and names[-2:-1] == ["batches"]:
        return has_letta
    return has_letta and bool(_LETTA_SENDING_FUNCTION.fullmatch(last))


def _is_message_resource(chain: Sequence[str]) -> bool:
    """Return whether a chain ends at a message resource, such as `agents.messages`.

    The resource can be passed to another function, which then sends the message.
    """
    names = [name for name in chain if name not in _WRAPPERS]
    return (
        len(names) >= 2 and names[-1] == "messages" and names[-2] in _MESSAGE_RESOURCES
    )


def _is_message_address(text: str) -> bool:
    """Return whether a text contains the route for sending messages."""
    return bool(_MESSAGE_ROUTE.search(text))


def _is_posting(function: str, texts: Sequence[str]) -> bool:
    """Return whether a call can send a POST request.

    A constant HTTP method among the arguments decides; otherwise every function counts
    whose name is not known to only read.

    Args:
        function: the last name of the called function.
        texts: the constant string arguments.
    """
    if any(text.upper() == "POST" for text in texts):
        return True
    if any(text.upper() in _READING_VERBS for text in texts):
        return False
    return function not in _READING_FUNCTIONS


def _find_called_tools(node: ast.Call, local: LocalScope) -> tuple[str, ...]:
    """Return the names of the tools that a call can run; empty if it runs no tool.

    `ANY_TOOL` stands for a name that the code does not show.
    """
    name = get_last_name(node.func)
    if name in _CALLING_FUNCTIONS or name in _TOOL_GETTERS:
        return _find_tool_names(node, local)
    if name in _RUNNING_METHODS and isinstance(node.func, ast.Attribute):
        for lookup, _ in local.list_creating_calls(node.func.value):
            if get_last_name(lookup.func) in _LOOKUP_FUNCTIONS:
                return _find_tool_names(lookup, local)
    return ()


def _find_tool_names(node: ast.Call, local: LocalScope) -> tuple[str, ...]:
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    argument = node.args[0] if node.args else keywords.get("name")
    texts = local.find_strings(argument) if argument is not None else ()
    # A name with control characters is not a tool's name: the analysis found another
    # string.
    names = tuple(text for text in texts if text.isprintable())
    return names or (ANY_TOOL,)
