"""Finds the places of a function that send a message into an agent's loop."""

from __future__ import annotations

import ast

from toolcast.handler_code.functions import Seen
from toolcast.handler_code.local_names import Locals, arguments_of, last_name

from .message_calls import (
    hands_on_messages,
    is_message_address,
    is_posting,
    sends_message,
)

__all__ = ["SendingPlaces"]


class SendingPlaces:
    """The places of a function that send a message; a `Visitor` of the analysis."""

    def __init__(self) -> None:
        self.found: list[Seen] = []
        # Those among whose arguments the present place is, from without to within.
        self._calls: list[ast.Call] = []
        self._addresses: set[str] = set()

    def name(self, node: ast.expr, local: Locals) -> None:
        """`client.agents.messages.create`, called or not."""
        chain = local.chain(node)
        if chain is None or local.followed(node) is not None:
            return  # The package's own functions are followed.
        root = chain.root
        package = root.name if root is not None and root.kind == "external" else ""
        is_handed_on = hands_on_messages(chain.names) and self._is_argument(node)
        if sends_message(chain.names, package) or is_handed_on:
            self._add(node)

    def call(self, node: ast.Call, local: Locals) -> None:
        """`getattr(messages, "create")`, and calls that are given an address by its name."""
        self._calls.append(node)
        if last_name(node.func) == "getattr" and len(node.args) >= 2:
            name = local.text(node.args[1])
            if name is not None:
                made = ast.Attribute(node.args[0], name, ast.Load())
                self.name(ast.copy_location(made, node), local)
        for place in arguments_of(node):
            if isinstance(place, ast.Name):
                text = None if place.id in local.aliases else local.text(place)
                is_one = text is not None and is_message_address(text)
                if is_one or place.id in self._addresses:
                    self._look_at_address(place)

    def end_of_call(self) -> None:
        """The innermost call has ended."""
        self._calls.pop()

    def text(self, node: ast.expr, text: str) -> None:
        """A text that may be the address to which messages are posted."""
        if self._calls and is_message_address(text):
            self._look_at_address(node)

    def returned(self, node: ast.expr, local: Locals) -> None:
        """An address that a function gives to who knows whom."""
        if is_message_address(local.text(node) or ""):
            self._add(node)

    def assigned(self, name: str, node: ast.expr, local: Locals) -> None:
        """A name may be that of an address from here on."""
        if is_message_address(local.text(node) or ""):
            self._addresses.add(name)
        else:
            self._addresses.discard(name)

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

    def _add(self, node: ast.expr) -> None:
        self.found.append(Seen(node.lineno, " ".join(ast.unparse(node).split())))
