"""Classes that a generated server needs; importing them loads no Letta library."""

from ..settings import LettaAgent, LettaServer
from .toolset import LettaToolset

__all__ = ["LettaAgent", "LettaServer", "LettaToolset"]
