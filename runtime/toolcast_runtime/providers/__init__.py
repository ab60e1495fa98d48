"""Tool lists in the formats of model providers, with a report of lost keywords and fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .dialect import Effect, Loss, Severity
    from .model_provider import (
        ArgumentsError,
        ListOptions,
        ModelProvider,
        ProviderTools,
        ToolCall,
        render_tools,
    )
    from .provider_lists import (
        PROVIDERS,
        ProviderLists,
        UnknownProviderError,
        provider_named,
    )

__all__ = [
    "PROVIDERS",
    "ArgumentsError",
    "Effect",
    "ListOptions",
    "Loss",
    "ModelProvider",
    "ProviderLists",
    "ProviderTools",
    "Severity",
    "ToolCall",
    "UnknownProviderError",
    "provider_named",
    "render_tools",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "PROVIDERS": ".provider_lists",
        "ArgumentsError": ".model_provider",
        "Effect": ".dialect",
        "ListOptions": ".model_provider",
        "Loss": ".dialect",
        "ModelProvider": ".model_provider",
        "ProviderLists": ".provider_lists",
        "ProviderTools": ".model_provider",
        "Severity": ".dialect",
        "ToolCall": ".model_provider",
        "UnknownProviderError": ".provider_lists",
        "provider_named": ".provider_lists",
        "render_tools": ".model_provider",
    },
)
