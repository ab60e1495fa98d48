"""One call: its context, its handler, its answer."""
