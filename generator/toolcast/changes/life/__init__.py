"""A tool's life: names, deprecation, removal, stability."""
