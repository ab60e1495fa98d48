"""What a generated server needs of the extension; importing it imports no Letta library."""

from ..settings import LettaAgent, LettaServer
from .toolset import LettaToolset

__all__ = ["LettaAgent", "LettaServer", "LettaToolset"]
