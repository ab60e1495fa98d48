"""Changes of specs as `toolcast diff` prints them, a module a format."""
