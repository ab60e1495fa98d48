"""The docs of a toolset's tools for system prompts."""
