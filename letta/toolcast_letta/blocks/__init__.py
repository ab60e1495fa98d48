"""Memory blocks of agents that say which tools there are and where data lies."""
