"""The command that generates, once or at each change."""
