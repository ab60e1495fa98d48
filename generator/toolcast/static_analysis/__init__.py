"""The one reader of Python: handlers, functions and classes by their text alone."""
