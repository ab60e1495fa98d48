"""All contract scenarios by name."""

from __future__ import annotations

from collections.abc import Callable

from letta.tests.contract.exchange import Exchange
from letta.tests.contract.scenarios import attaching, calling, refreshing, registering

__all__ = ["SCENARIOS"]

SCENARIOS: dict[str, Callable[[Exchange], None]] = {
    f"{module.__name__.rpartition('.')[2]}-{scenario.__name__}": scenario
    for module in (registering, refreshing, attaching, calling)
    for scenario in module.SCENARIOS
}
