"""Comparison of the schemas in `parameters` and `returns`, keyword by keyword, with grades."""
