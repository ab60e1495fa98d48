"""Logs, OpenTelemetry spans and metrics of a server."""
