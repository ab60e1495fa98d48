"""How a server process reads, writes and ends."""
