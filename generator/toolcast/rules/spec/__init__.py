"""Rules about what specs say, field by field."""
