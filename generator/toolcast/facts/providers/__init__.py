"""What providers and strict clients are given of a tool."""
