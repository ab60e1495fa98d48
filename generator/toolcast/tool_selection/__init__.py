"""Selection cases: user messages with the expected tool, run against a ranking or a model."""
