"""The ways to a file: regular ones are read within bounds, private ones and folders' are made."""
