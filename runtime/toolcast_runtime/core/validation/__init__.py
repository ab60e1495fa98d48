"""Validation of JSON values against JSON Schemas, in bounded time and memory.

It does not depend on tools.
"""
