"""How Letta stores the schemas of tools, and which it skips."""
