"""From what a toolset wants and what is there to a plan, the same for every kind of Letta."""
