"""Who may have which tool: the toolset's clients, and an administrator's changes."""

from .core.access import (
    Access,
    AccessError,
    Client,
    Override,
    UnknownClientError,
)
from .core.override_file import OverrideFile

__all__ = [
    "Access",
    "AccessError",
    "Client",
    "Override",
    "OverrideFile",
    "UnknownClientError",
]
