"""Calls of tools: handlers, their execution, and telemetry."""
