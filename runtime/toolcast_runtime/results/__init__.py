"""What is sent of results: the properties that a caller picks, and no more than a budget."""
