"""The rules, one module each; `table.py` is the whole list."""
