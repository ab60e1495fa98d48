"""Bytes to a tree with positions."""
