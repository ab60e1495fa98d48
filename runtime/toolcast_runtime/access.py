"""Who may have which tool: the toolset's clients, and an administrator's changes."""

from .core.access.clients import (
    Access,
    AccessError,
    Client,
    Override,
    UnknownClientError,
)
from .core.access.override_file import OverrideFile

__all__ = [
    "Access",
    "AccessError",
    "Client",
    "Override",
    "OverrideFile",
    "UnknownClientError",
]
