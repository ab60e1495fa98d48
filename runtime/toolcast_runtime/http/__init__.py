"""A toolset's MCP endpoints over streamable HTTP, and paths for administrators."""

from .admin import AdminAnswer, AdminRequest, AdminRoute
from .settings import Endpoint, HttpSettings, SettingsError

__all__ = [
    "AdminAnswer",
    "AdminRequest",
    "AdminRoute",
    "Endpoint",
    "HttpSettings",
    "SettingsError",
]
