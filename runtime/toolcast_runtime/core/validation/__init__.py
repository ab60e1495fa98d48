"""Validation of JSON values against JSON Schemas, in bounded time and memory.

This package does not depend on tools.
"""
