"""What rules and targets both need to know about tools."""
