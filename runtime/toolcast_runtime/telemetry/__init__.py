"""Logs, spans and metrics of a server."""
