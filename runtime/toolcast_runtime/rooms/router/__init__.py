"""Which tools are shown to the model for a message."""
