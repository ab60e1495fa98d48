"""Toolcast: one YAML spec per tool, cast into everything an agent platform shows or runs."""

__version__ = "0.2.0"
