"""Who has which tool, and where."""
