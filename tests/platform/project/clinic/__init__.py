"""The clinic's own code: what opens its database, and what the tools do."""
