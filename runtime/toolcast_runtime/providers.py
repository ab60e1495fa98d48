"""Tools in the forms that model providers take, with an account of what each cannot say."""

from .rooms.providers.dialect import Effect, Loss, Severity
from .rooms.providers.model_provider import (
    ArgumentsError,
    ListOptions,
    ModelProvider,
    ProviderTools,
    ToolCall,
    render_tools,
)
from .rooms.providers.provider_lists import (
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
