"""Toolcast extension for the teams that own tools."""
