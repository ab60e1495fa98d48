"""A toolset's MCP endpoints over streamable HTTP, and paths for administrators."""

from .serve.http.admin import AdminAnswer, AdminRequest, AdminRoute
from .serve.http.settings import Endpoint, HttpSettings, SettingsError
from .serve.oauth.oauth_settings import OAuth, Scope

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
