"""The handlers of the mixed tools."""
