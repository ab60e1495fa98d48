"""Static analysis of handlers and functions: their source code is read, but never imported."""
