"""Which tools are shown to the model for a message."""

from .chat_model import ChatModel
from .route import Route, RoutedTool
from .router import NoChoice, Router, RoutingModel

__all__ = ["ChatModel", "NoChoice", "Route", "RoutedTool", "Router", "RoutingModel"]
