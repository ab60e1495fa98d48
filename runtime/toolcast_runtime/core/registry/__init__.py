"""Look-up, lists and calls of a toolset's tools: the class `Registry`."""
