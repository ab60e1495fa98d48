"""MCP endpoints of a toolset over streamable HTTP, and administration routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .settings import (
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

__getattr__ = lazy_getattr(
    __name__,
    {
        "AdminAnswer": ".settings",
        "AdminRequest": ".settings",
        "AdminRoute": ".settings",
        "Endpoint": ".settings",
        "HttpSettings": ".settings",
        "OAuth": ".settings",
        "Scope": ".settings",
        "SettingsError": ".settings",
    },
)
