"""Arguments and results against JSON Schemas, in bounded time and memory."""

from .declared_names import DeclaredNames
from .json_bounds import Size, measure
from .schema_visits import most_visits, multiplies
from .validators import Validators, problems_with_actions

__all__ = [
    "DeclaredNames",
    "Size",
    "Validators",
    "measure",
    "most_visits",
    "multiplies",
    "problems_with_actions",
]
