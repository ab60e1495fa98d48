"""Selection cases: what users say, which tool is meant, and whether the words lead to it."""
