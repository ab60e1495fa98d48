"""JSON values against JSON Schemas, in bounded time and memory; knows nothing of tools."""

from .declared_names import DeclaredNames
from .json_bounds import Size, measure
from .schema_visits import most_visits, multiplies

__all__ = ["DeclaredNames", "Size", "measure", "most_visits", "multiplies"]
