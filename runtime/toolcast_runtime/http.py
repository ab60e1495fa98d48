"""A toolset's MCP endpoints over streamable HTTP, and paths for administrators."""

from typing import TYPE_CHECKING, Any

from .serve.http.settings import (
    AdminAnswer,
    AdminRequest,
    AdminRoute,
    Endpoint,
    HttpSettings,
    SettingsError,
)

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    # What says whose tokens are taken is imported by toolsets that take some.
    if name in ("OAuth", "Scope"):
        from .serve.oauth import oauth_settings

        return getattr(oauth_settings, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
