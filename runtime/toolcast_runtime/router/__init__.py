"""Router: selects the tools that a model is offered for a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .lexical_ranking import Route, RoutedTool
    from .router import ChatModel, Router, RoutingError, RoutingModel

__all__ = [
    "ChatModel",
    "RoutingError",
    "Route",
    "RoutedTool",
    "Router",
    "RoutingModel",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "ChatModel": ".router",
        "RoutingError": ".router",
        "Route": ".lexical_ranking",
        "RoutedTool": ".lexical_ranking",
        "Router": ".router",
        "RoutingModel": ".router",
    },
)
