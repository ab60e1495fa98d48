"""Finds the places of a function that send a message into an agent's loop."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .letta_messages import (
    hands_on_messages,
    is_message_address,
    is_posting,
    sends_message,
)
from .local_names import Locals, last_name

__all__ = ["Sending", "Sendings", "arguments_of"]


class Sending(NamedTuple):
    """A place that sends a message."""

    line: int
    text: str


class Sendings:
    """What was found up to the place up to which a function was read.

    Attributes:
        found: in the order in which it was found.
        calls: the calls among whose arguments the present place is, from without to within.
    """

    def __init__(self) -> None:
        self.found: list[Sending] = []
        self.calls: list[ast.Call] = []
        self._addresses: set[str] = set()

    def look_at_chain(self, node: ast.expr, local: Locals) -> None:
        """`client.agents.messages.create`, called or not."""
        chain = local.chain(node)
        if chain is None or local.followed(node) is not None:
            return  # The package's own functions are followed.
        root = chain.root
        package = root.name if root is not None and root.kind == "external" else ""
        is_handed_on = hands_on_messages(chain.names) and self._is_argument(node)
        if sends_message(chain.names, package) or is_handed_on:
            self._add(node)

    def look_at_call(self, node: ast.Call, local: Locals) -> None:
        """`getattr(messages, "create")`, and calls that are given an address by its name."""
        if last_name(node.func) == "getattr" and len(node.args) >= 2:
            name = local.text(node.args[1])
            if name is not None:
                made = ast.Attribute(node.args[0], name, ast.Load())
                self.look_at_chain(ast.copy_location(made, node), local)
        for place in arguments_of(node):
            if isinstance(place, ast.Name):
                text = None if place.id in local.aliases else local.text(place)
                is_one = text is not None and is_message_address(text)
                if is_one or place.id in self._addresses:
                    self._look_at_address(place)

    def look_at_text(self, node: ast.expr, text: str) -> None:
        """A text that may be the address to which messages are posted."""
        if self.calls and is_message_address(text):
            self._look_at_address(node)

    def look_at_return(self, node: ast.expr, local: Locals) -> None:
        """An address that a function gives to who knows whom."""
        if is_message_address(local.text(node) or ""):
            self._add(node)

    def take_assignment(self, name: str, node: ast.expr, local: Locals) -> None:
        """A name may be that of an address from here on."""
        if is_message_address(local.text(node) or ""):
            self._addresses.add(name)
        else:
            self._addresses.discard(name)

    def _look_at_address(self, node: ast.expr) -> None:
        for call in self.calls:
            given = arguments_of(call)
            texts = [
                place.value
                for place in given
                if isinstance(place, ast.Constant) and isinstance(place.value, str)
            ]
            if not is_posting(last_name(call.func), texts):
                return
        inner = self.calls[-1]
        self._add(inner if inner.lineno == node.lineno else node)

    def _is_argument(self, node: ast.expr) -> bool:
        return any(
            node is place for call in self.calls[-1:] for place in arguments_of(call)
        )

    def _add(self, node: ast.expr) -> None:
        self.found.append(Sending(node.lineno, " ".join(ast.unparse(node).split())))


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """The expressions that a call is given, in their order."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]
