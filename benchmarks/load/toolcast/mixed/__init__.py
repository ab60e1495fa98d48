"""Handlers of the mixed tools."""
