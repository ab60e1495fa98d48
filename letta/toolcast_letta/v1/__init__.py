"""Letta servers with a tool registry (0.13 to 0.16), accessed by their V1 API."""
