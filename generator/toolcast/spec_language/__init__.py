"""The spec language: annotated JSON Schemas of spec files, and values derived from them."""
