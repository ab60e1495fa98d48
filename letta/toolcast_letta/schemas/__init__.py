"""How Letta stores the schemas of tools, and which schemas it rejects."""
