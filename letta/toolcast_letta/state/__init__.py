"""What is kept in files between runs, sealed with a key of its user."""
