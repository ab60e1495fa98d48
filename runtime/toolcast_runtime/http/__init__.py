"""A toolset's MCP endpoints over streamable HTTP, and paths for administrators."""

from .admin import AdminAnswer, AdminRequest, AdminRoute
from .oauth import OAuth, Scope
from .settings import Endpoint, HttpSettings, SettingsError

__all__ = [
    "AdminAnswer",
    "AdminRequest",
    "AdminRoute",
    "Endpoint",
    "HttpSettings",
    "OAuth",
    "Scope",
    "SettingsError",
]
