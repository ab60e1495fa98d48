"""What tools cost a model, in tokens."""
