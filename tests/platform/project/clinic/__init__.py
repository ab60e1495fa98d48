"""The clinic's code: its database and the handlers of its tools."""
