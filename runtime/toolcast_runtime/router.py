"""Which tools are shown to the model for a message."""

from .rooms.router.chat_model import ChatModel
from .rooms.router.route import Route, RoutedTool
from .rooms.router.router import NoChoice, Router, RoutingModel

__all__ = ["ChatModel", "NoChoice", "Route", "RoutedTool", "Router", "RoutingModel"]
