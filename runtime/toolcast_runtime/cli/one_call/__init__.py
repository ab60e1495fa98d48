"""One call of a tool by its name, from words of a shell: what `toolcast call` runs."""
