"""Letta's server with a tool registry, 0.13 to 0.16, by its V1 API."""
