"""The commands `toolcast letta ...`."""
