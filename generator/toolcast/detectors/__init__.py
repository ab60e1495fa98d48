"""Finds texts that may attack the model that reads them."""
