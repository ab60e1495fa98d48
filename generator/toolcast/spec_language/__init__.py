"""The spec language, said once: annotated JSON Schemas, and what is made of them."""
