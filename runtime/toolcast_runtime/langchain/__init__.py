"""A toolset's registry as LangChain tools."""

from .wrappers import LangChainTools, SpecTool

__all__ = ["LangChainTools", "SpecTool"]
