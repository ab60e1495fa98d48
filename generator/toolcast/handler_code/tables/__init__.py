"""Which pools and tables handlers use."""
