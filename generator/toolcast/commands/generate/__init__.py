"""Commands that generate the outputs, once or after each change."""
