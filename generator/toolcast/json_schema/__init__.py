"""A JSON Schema of a tool: its parts, its dialect, its patterns, and values against it."""
