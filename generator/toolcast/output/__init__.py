"""Files in memory to files on disk. Knows nothing of tools, but for the manifest's text."""
