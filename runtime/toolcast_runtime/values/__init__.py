"""Conversion of handlers' arguments and results: dates, bytes, classes and Python types."""
