"""How the types of a tool are printed: of its schemas, and of what its handler is given."""
