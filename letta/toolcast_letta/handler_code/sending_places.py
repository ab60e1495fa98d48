"""Finds the places of a function that send a message into an agent's loop."""

from __future__ import annotations

import ast

from toolcast.python_code.function_body import Seen
from toolcast.python_code.local_names import Locals
from toolcast.python_code.modules import arguments_of, last_name
from toolcast.python_code.string_values import texts_of

from .message_calls import (
    hands_on_messages,
    is_message_address,
    is_posting,
    sends_message,
)
from .tool_calls import ANY_TOOL, called_tools, names_the_method


class SendingPlaces:
    """The places of a function that send a message; a `Visitor` of the analysis.

    Calls of tools by their names are among them: whoever asks knows which tools send one.
    """

    def __init__(self) -> None:
        self.found: list[Seen] = []
        # Those among whose arguments the present place is, from without to within.
        self._calls: list[ast.Call] = []
        self._speaks_mcp = False

    def name(self, node: ast.expr, local: Locals) -> None:
        """`client.agents.messages.create`, called or not."""
        if local.followed(node) is None:  # The package's own functions are followed.
            self._chain(node, local)

    def _chain(self, node: ast.expr, local: Locals) -> None:
        chain = local.chain(node)
        if chain is None:
            return
        root = chain.root
        package = root.name if root is not None and root.kind == "external" else ""
        is_handed_on = hands_on_messages(chain.names) and self._is_argument(node)
        if sends_message(chain.names, package) or is_handed_on:
            self._add(node)

    def call(self, node: ast.Call, local: Locals) -> None:
        """A call that sends by the name of what it gets, by an address, or by a tool."""
        self._calls.append(node)
        if local.is_getter(node):
            self._chain(node, local)
        given = arguments_of(node)
        texts = [text for place in given for text in local.texts(place)]
        if any("messages" in text for text in texts):
            if self._is_sent_below_base(node, texts, local):
                self._add(node)
            for place in given:
                if isinstance(place, (ast.Name, ast.Attribute)) and any(
                    is_message_address(text) for text in local.texts(place)
                ):
                    self._look_at_address(place)
        if local.followed(node.func) is None:
            tools = called_tools(node, local)
            if tools:
                self._add(node, tools)

    def end_of_call(self) -> None:
        """The innermost call has ended."""
        self._calls.pop()

    def text(self, node: ast.expr, text: str) -> None:
        """A text that may be the address to which messages are posted, or MCP's method."""
        if names_the_method(text) and not self._speaks_mcp:
            self._speaks_mcp = True
            self._add(node, (ANY_TOOL,))
        if self._calls and is_message_address(text):
            self._look_at_address(node)

    def returned(self, node: ast.expr, local: Locals) -> None:
        """An address that a function gives to who knows whom."""
        if any(is_message_address(text) for text in local.texts(node)):
            self._add(node)

    def _is_sent_below_base(
        self, node: ast.Call, paths: list[str], local: Locals
    ) -> bool:
        """`Client(base_url=".../agents/a").post("/messages")`."""
        function = node.func
        if not isinstance(function, ast.Attribute):
            return False
        if not is_posting(function.attr, paths):
            return False
        for made, place in local.calls_behind(function.value):
            words = {keyword.arg: keyword.value for keyword in made.keywords}
            given = words.get("base_url") or (made.args[0] if made.args else None)
            bases = texts_of(given, place) if given is not None else ()
            for base in bases:
                if any(
                    is_message_address(f"{base.rstrip('/')}/{path.lstrip('/')}")
                    for path in paths
                ):
                    return True
        return False

    def _look_at_address(self, node: ast.expr) -> None:
        for call in self._calls:
            given = arguments_of(call)
            texts = [
                place.value
                for place in given
                if isinstance(place, ast.Constant) and isinstance(place.value, str)
            ]
            if not is_posting(last_name(call.func), texts):
                return
        inner = self._calls[-1]
        self._add(inner if inner.lineno == node.lineno else node)

    def _is_argument(self, node: ast.expr) -> bool:
        return any(
            node is place for call in self._calls[-1:] for place in arguments_of(call)
        )

    def _add(self, node: ast.expr, tools: tuple[str, ...] = ()) -> None:
        seen = Seen(node.lineno, " ".join(ast.unparse(node).split()), tools)
        if seen not in self.found:
            self.found.append(seen)
