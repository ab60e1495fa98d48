"""A toolset's registry as LangChain tools."""
