"""Dependencies of a toolset's tools: started before the first call, ended after the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from ..core.toolset_settings import Lifespan, LifespanError

__all__ = ["Lifespan", "LifespanError"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "Lifespan": "..core.toolset_settings",
        "LifespanError": "..core.toolset_settings",
    },
)
