"""A toolset's registry as LangChain tools."""

try:
    import langchain_core.tools  # noqa: F401 - asked for first, to say how to install it
except ImportError as error:
    raise ImportError(
        f"{__name__} needs langchain-core: pip install 'toolcast-runtime[langchain]'"
    ) from error

from .rooms.langchain import LangChainTools, SpecTool

__all__ = ["LangChainTools", "SpecTool"]
