"""JSON values against JSON Schemas, in bounded time and memory; knows nothing of tools."""

from .json_bounds import Size, measure
from .schema_visits import most_visits, multiplies

__all__ = ["Size", "measure", "most_visits", "multiplies"]
