"""A Letta server for quick tests: HTTP on loopback, state in memory, every known trap.

It behaves as Letta 0.16.6 does, silent successes included; what it does not know it answers
with 501, never with a guess. `FakeLetta` starts it, `world` is its database, `PlantedServer`
is an MCP server without a network.
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
