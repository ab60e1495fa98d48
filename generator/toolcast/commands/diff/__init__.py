"""Commands that compare versions of specs, and servers with their definitions."""
