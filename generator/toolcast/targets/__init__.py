"""The targets, one module each; this table is the whole list."""
