"""Calls of tools: the stages of a call, handlers, worker threads and telemetry."""
