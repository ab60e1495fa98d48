"""Who may have which tool: the toolset's clients, and an administrator's changes."""
