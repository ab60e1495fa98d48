"""What in a text may be an attack on the model that reads it."""
