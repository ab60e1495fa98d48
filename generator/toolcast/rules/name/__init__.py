"""Rules about the names of tools, parameters and sections."""
