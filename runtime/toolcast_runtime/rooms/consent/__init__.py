"""A person is asked: what, by whom, and what the answer lets happen."""
