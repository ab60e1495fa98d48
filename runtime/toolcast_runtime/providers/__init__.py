"""Tools in the forms that model providers take, with an account of what each cannot say."""

from .loss import Effect, Loss, Severity
from .model_provider import ArgumentsError, ModelProvider, ProviderTools, ToolCall
from .provider_table import PROVIDERS, UnknownProviderError, provider_named

__all__ = [
    "PROVIDERS",
    "ArgumentsError",
    "Effect",
    "Loss",
    "ModelProvider",
    "ProviderTools",
    "Severity",
    "ToolCall",
    "UnknownProviderError",
    "provider_named",
]
