"""Files in memory to files on disk. Knows paths and bytes, and nothing of tools."""
