"""The commands that compare two states of the specs."""
