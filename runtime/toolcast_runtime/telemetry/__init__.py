"""What whoever runs a server sees of it: log lines, spans and metrics."""
