"""Rules: a module and a page a family."""
