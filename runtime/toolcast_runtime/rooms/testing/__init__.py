"""The tests of generated packages."""
