"""Which team answers for a tool: an extension of Toolcast."""
