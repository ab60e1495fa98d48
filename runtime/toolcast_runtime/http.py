"""A toolset's MCP endpoints over streamable HTTP, and paths for administrators."""

from .serve.http.settings import (
    AdminAnswer,
    AdminRequest,
    AdminRoute,
    Endpoint,
    HttpSettings,
    OAuth,
    Scope,
    SettingsError,
)

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
