"""Handlers of the example toolsets; they run without external services."""
