"""The Python types of what a schema lets through."""
