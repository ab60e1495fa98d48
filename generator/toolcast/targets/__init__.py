"""The targets, a module each; `table` is the list of them."""
