"""Analyze JSON Schemas: subschemas, references, dialects, and errors of values."""
