"""Toolcast: one YAML spec per tool, generated into everything an agent platform shows or runs."""

__version__ = "0.2.0"
