"""The targets, each in a module of its own; the module `table` lists all targets."""
