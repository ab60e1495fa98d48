"""A fake Letta server: HTTP on loopback, state in memory, the traps of the real server.

It behaves as Letta 0.16.6, including requests that have no effect and return 200.
Unknown requests return 501. `FakeLetta` starts it, `world` is its database,
`PlantedServer` is an MCP server without a network.
"""

from __future__ import annotations

from .built_ins import BUILT_INS
from .faults import Fault, FaultPlan
from .mcp_side import HttpServer, PlantedServer, UnreachableError
from .serving import FakeLetta
from .world import World

__all__ = [
    "BUILT_INS",
    "FakeLetta",
    "Fault",
    "FaultPlan",
    "HttpServer",
    "PlantedServer",
    "UnreachableError",
    "World",
]
