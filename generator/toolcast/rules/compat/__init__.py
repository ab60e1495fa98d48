"""What other people's programs take and refuse."""
