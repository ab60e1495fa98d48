"""Functions of a project, read from their text as what a tool's spec says of them."""
