"""Rules about selection cases."""
