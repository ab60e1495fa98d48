"""Which tools are shown to the model for a message."""

from .rooms.router.lexical_ranking import Route, RoutedTool
from .rooms.router.router import ChatModel, NoChoice, Router, RoutingModel

__all__ = ["ChatModel", "NoChoice", "Route", "RoutedTool", "Router", "RoutingModel"]
