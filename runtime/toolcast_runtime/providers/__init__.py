"""Tools in the forms that model providers take, with an account of what each cannot say."""

from .loss import Effect, Loss, Severity
from .model_provider import (
    ArgumentsError,
    ListOptions,
    ModelProvider,
    ProviderTools,
    ToolCall,
    render_tools,
)
from .provider_lists import ProviderLists
from .provider_table import PROVIDERS, UnknownProviderError, provider_named

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
