"""What external servers cost the toolset's own tools; part of `make bench`.

Calls of an own tool, in turn with and without external servers that all misbehave at once:
one floods stderr, one sends notifications without end, one writes garbage, one never answers,
one lists 1,000 tools. The ratio of the median times is printed; 1 is no added delay.
"""

from __future__ import annotations

import asyncio
import logging
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from generated.kirishima import registry as kirishima
from toolcast_runtime.external.external_tools import ExternalTools
from toolcast_runtime.external.server_settings import ExternalServer
from toolcast_runtime.registry.registry import Registry

MODES = tuple(sys.argv[1:]) or ("stderr", "chatty", "garbage", "silent", "thousand")
CALLS = 300
ROUNDS = 7


def with_sources(*sources: ExternalTools) -> Registry:
    """Kirishima's own tools, beside these."""
    return Registry(
        package="generated.kirishima",
        modules=kirishima.MODULES,
        clients=kirishima.CLIENTS,
        sources=sources,
        checksum=kirishima.REGISTRY.prepared.checksum,
    )


async def median(registry: Registry) -> float:
    """The median seconds of a call of an own tool."""
    times = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        answer = await registry.call_tool("get_personality", {}, "internal")
        times.append(time.perf_counter() - begin)
        if not answer.success:
            raise SystemExit(f"the call failed: {answer.error}")
        # As far apart as calls are, so that the loop turns for the others, too.
        await asyncio.sleep(0.001)
    return statistics.median(times)


async def compare() -> tuple[float, float, int]:
    """The ratio with over without, the seconds with, and the tools that were offered."""
    script = str(ROOT / "tests" / "external" / "servers" / "odd.py")
    servers = [
        ExternalServer(
            *(mode, sys.executable, (script, mode)),
            prefix=f"{mode}_",
            connect_timeout=2,
        )
        for mode in MODES
    ]
    odd = ExternalTools(servers)
    noisy, quiet = with_sources(odd), with_sources()
    pairs, offered = [], 0
    await median(quiet)
    for _ in range(ROUNDS):
        try:
            offered = len(await noisy.source_tools("internal"))
            one = await median(noisy)
        finally:
            await odd.close()
        pairs.append((one, await median(quiet)))
    ratio = statistics.median(one / other for one, other in pairs)
    return ratio, statistics.median(one for one, _ in pairs), offered


def main() -> None:
    """Prints one line."""
    logging.disable(logging.CRITICAL)
    ratio, seconds, offered = asyncio.run(compare())
    print(
        f"an own tool's call beside {len(MODES)} odd servers ({offered} tools) / alone:"
        f" {ratio:.2f} ({seconds * 1e3:.2f} ms)"
    )


if __name__ == "__main__":
    main()
