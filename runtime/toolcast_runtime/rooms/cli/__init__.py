"""A toolset's registry as commands of a shell."""
