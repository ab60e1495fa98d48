"""What handlers are given and give beyond JSON: Python's dates, bytes and classes of theirs."""
