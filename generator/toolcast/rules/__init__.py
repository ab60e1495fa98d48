"""Rules of `check`: a module and a documentation page for each family."""
