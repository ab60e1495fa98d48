"""What earlier runs found out, kept in `.toolcast/cache/`; it may vanish at any time."""
