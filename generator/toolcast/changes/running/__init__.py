"""How a tool's calls run, and how a shell makes them."""
