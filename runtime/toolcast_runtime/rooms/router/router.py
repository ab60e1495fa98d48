"""Which tools are shown to the model for a message.

The rule is: when in doubt, show it. Whatever goes wrong in choosing, every routed tool is
shown, and a line in the log says why.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from .route import Route, RoutedTool

_logger = logging.getLogger("toolcast")


class RoutingModel(Protocol):
    """A model that chooses."""

    def is_configured(self) -> bool:
        """Whether it is there to be asked; if not, tools are chosen by their words."""

    async def choose(
        self, message: str, tools: Sequence[RoutedTool], history: Sequence[str]
    ) -> Sequence[str]:
        """The names of the tools that fit; any exception means that there is no choice."""


class Router:
    """Chooses tools by a model, or by their words.

    Args:
        model: the model; None to choose by words, which needs nothing from outside.
    """

    def __init__(self, model: RoutingModel | None = None) -> None:
        self._model = model

    async def route(
        self,
        message: str,
        tools: Sequence[RoutedTool],
        history: Sequence[str] = (),
    ) -> Route:
        """Chooses tools for a message. Never raises.

        Args:
            message: what the user said last.
            tools: the tools to choose from.
            history: the messages before, oldest first.
        """
        everything = tuple(tool.name for tool in tools)
        if not everything:
            return Route(())
        try:
            if self._model is None or not self._model.is_configured():
                from .lexical_ranking import ranking

                return ranking(tools).route(message, history)
            chosen = frozenset(await self._model.choose(message, tools, history))
        except Exception as error:
            # The text may quote what the model said, or an address with a secret.
            reason = str(error) if isinstance(error, NoChoice) else type(error).__name__
            _logger.warning(
                "router: %s; all %d routed tools are shown", reason, len(everything)
            )
            return Route(everything, doubt=reason)
        return Route(tuple(name for name in everything if name in chosen))


class NoChoice(Exception):
    """A model chose nothing that can be used. The text says why, in our own words."""
