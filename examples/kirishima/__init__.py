"""Handlers of the kirishima toolset.

Each tool has a module with its handler. A handler receives the validated arguments of a
call and returns a JSON value, or raises a ToolError with a message for the model.
"""
