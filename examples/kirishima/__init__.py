"""Handlers of the kirishima toolset.

One module a tool holds the function that the tool's spec names. It gets exactly the
arguments that the caller sent, checked against the spec, and answers with a JSON value
or raises a ToolError whose words are meant for the model.
"""
