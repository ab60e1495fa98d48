"""Read-only access to git. Programs that the repository configures are never run."""
