"""What a toolset reaches beyond its own process."""
