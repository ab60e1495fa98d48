"""Every model provider by its name."""

from __future__ import annotations

from importlib import import_module

from .model_provider import ModelProvider

_OPENAI = "openai_forms"
_WHERE = {
    "openai-chat": (_OPENAI, "CHAT"),
    "openai-responses": (_OPENAI, "RESPONSES"),
    "anthropic": ("anthropic_form", "ANTHROPIC"),
    "gemini": ("gemini_form", "GEMINI"),
    "bedrock": ("bedrock_form", "BEDROCK"),
    "ollama": ("ollama_form", "OLLAMA"),
}
"""The module of each, and its name there. One is imported when somebody asks for it."""

PROVIDERS = tuple(_WHERE)
"""The names, in the order in which they are shown."""


class UnknownProviderError(LookupError):
    """There is no provider of that name."""


def provider_named(name: str) -> ModelProvider:
    """A provider.

    Raises:
        UnknownProviderError: there is none of that name.
    """
    if name not in _WHERE:
        known = ", ".join(f"`{one}`" for one in PROVIDERS)
        raise UnknownProviderError(f"unknown provider `{name}`; there are {known}")
    module, constant = _WHERE[name]
    provider: ModelProvider = getattr(
        import_module(f".{module}", __package__), constant
    )
    return provider
