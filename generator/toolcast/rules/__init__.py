"""Rules: a page a family, and a module for each that this room finds itself."""
