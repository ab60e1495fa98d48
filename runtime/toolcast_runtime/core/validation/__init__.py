"""JSON values against JSON Schemas, in bounded time and memory; knows nothing of tools."""
