"""The handlers of the notes."""
