"""Server process over stdio: its message streams, start and shutdown."""
