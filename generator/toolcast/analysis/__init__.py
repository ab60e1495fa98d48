"""Derived data that rules and targets share, such as MCP definitions and token costs."""
