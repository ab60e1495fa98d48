"""The command that chooses tools for a message, and its measured cases."""
